"""What a client is told when Claude Code does not come up, by the reason that Claude Code gives.

Use `startup_error` when the start of a process ends with `startup_failure_reason` or with nothing but a
text; the sentence says what to do wherever Claude Code does. Rules: config-and-auth §11.
"""

from wire.rpc import AUTH_REQUIRED, INTERNAL_ERROR, INVALID_PARAMS, MESSAGES, WireError

SUBSCRIPTION = "claude_subscription_not_supported"
NO_CREDENTIAL = "no_credential"
GUARD_REASONS = frozenset({SUBSCRIPTION, NO_CREDENTIAL})
"""Why `--hide-claude-auth` refuses an account."""

_PREFIX = "Claude Code returned an error result: "
_CODES = {
    "gateway_signin_required": AUTH_REQUIRED,
    "org_pin_mismatch": AUTH_REQUIRED,
    "org_config_refused": AUTH_REQUIRED,
    "cwd_unavailable": INVALID_PARAMS,
}


def startup_error(text: str, reason: str | None = None) -> WireError:
    """The error of the request that needed the process.

    `text` is Claude Code's own sentence, `reason` its `startup_failure_reason`.
    """
    said = text.removeprefix(_PREFIX).strip()
    code = _CODES.get(reason or "", INTERNAL_ERROR)
    message = f"{MESSAGES[code]}: {said}" if said else MESSAGES[code]
    if reason is not None:
        return WireError(code, message, {"startupFailureReason": reason})
    return WireError(code, message, {"details": said} if said else None)


def sign_in_error(text: str, reason: str | None = None) -> WireError:
    """The error of a request that needs a sign-in; a reason by name makes its text part of it (C§9, C§12)."""
    if reason in GUARD_REASONS:
        data = {"reason": reason} if reason == SUBSCRIPTION else None
        return WireError(AUTH_REQUIRED, f"{MESSAGES[AUTH_REQUIRED]}: {text}", data)
    return startup_error(text, reason) if reason in _CODES else WireError(AUTH_REQUIRED)
