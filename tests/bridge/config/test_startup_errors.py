"""What a client is told when Claude Code does not come up."""

import pytest

from bridge.config.startup_errors import startup_error
from wire.rpc import AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS


@pytest.mark.parametrize(
    ("reason", "code", "head"),
    [
        ("gateway_signin_required", AUTH_REQUIRED, "Authentication required"),
        ("org_pin_mismatch", AUTH_REQUIRED, "Authentication required"),
        ("org_config_refused", AUTH_REQUIRED, "Authentication required"),
        ("cwd_unavailable", INVALID_PARAMS, "Invalid params"),
        ("proxy_invalid", INTERNAL_ERROR, "Internal error"),
        ("bypass_root", INTERNAL_ERROR, "Internal error"),
        ("reason_of_tomorrow", INTERNAL_ERROR, "Internal error"),
    ],
)
def test_each_reason_has_its_error(reason: str, code: int, head: str) -> None:
    error = startup_error("Claude Code returned an error result: Fix your proxy. ", reason)

    assert (error.code, error.message) == (code, f"{head}: Fix your proxy.")
    assert error.data == {"startupFailureReason": reason}
    assert startup_error("", reason).message == head


def test_without_a_reason_the_sentence_is_told() -> None:
    error = startup_error("Claude Code exited with code 1.")

    assert (error.code, error.message) == (INTERNAL_ERROR, "Internal error: Claude Code exited with code 1.")
    assert error.data == {"details": "Claude Code exited with code 1."}
    assert startup_error("").data is None
