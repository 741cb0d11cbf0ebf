"""How a missing sign-in is known, and what of it nobody is told as text (C§9)."""

from typing import Any

import pytest

from bridge.messages.frames import FrameReader
from bridge.messages.items import Content
from bridge.messages.stream import MessageStream
from machines.events import Result

LOGIN = "Not logged in · Please run /login"


def read(*frames: dict[str, Any]) -> list[Any]:
    reader = FrameReader(MessageStream(), lambda _: False)
    return [item for frame in frames for item in reader.read(frame)]


def assistant(text: str, model: str = "<synthetic>", **more: Any) -> dict[str, Any]:
    message = {"id": "m1", "model": model, "role": "assistant", "content": [{"type": "text", "text": text}]}
    return {"type": "assistant", "uuid": "u1", "message": message, **more}


def result(text: str = "", *, is_error: bool = True) -> dict[str, Any]:
    return {"type": "result", "subtype": "success", "is_error": is_error, "result": text, "uuid": "r1"}


def outcome(items: list[Any]) -> Result:
    (found,) = [item for item in items if isinstance(item, Result)]
    return found


@pytest.mark.contract("AU-008")
@pytest.mark.parametrize(
    "frames",
    [
        (assistant("Invalid key", error="authentication_failed"), result("Invalid key")),
        (assistant("Not allowed", error="oauth_org_not_allowed"), result("Not allowed")),
        (assistant(LOGIN), result(LOGIN)),
        (result(LOGIN),),
    ],
)
def test_what_asks_for_a_sign_in(frames: tuple[dict[str, Any], ...]) -> None:
    items = read(*frames)
    assert outcome(items).auth_required
    assert not [item for item in items if isinstance(item, Content)], "the request's error says it"


@pytest.mark.contract("AU-009")
@pytest.mark.parametrize(
    "frames",
    [
        (result(f"To sign in, {LOGIN}", is_error=False),),
        (assistant(LOGIN, model="claude-opus-5"), result(LOGIN, is_error=False)),
        (assistant("Overloaded", error="overloaded"), result("Overloaded")),
    ],
)
def test_what_does_not(frames: tuple[dict[str, Any], ...]) -> None:
    assert not outcome(read(*frames)).auth_required


def test_a_model_that_writes_of_the_login_is_heard() -> None:
    (content,) = [item for item in read(assistant(LOGIN, model="claude-opus-5")) if isinstance(item, Content)]
    assert content.update["content"] == {"type": "text", "text": LOGIN}


def test_the_failure_of_one_turn_is_not_that_of_the_next() -> None:
    items = read(
        assistant(LOGIN),
        result(LOGIN),
        assistant("Hello.", model="claude-opus-5"),
        result("Hello.", is_error=False),
    )
    first, second = [item for item in items if isinstance(item, Result)]
    assert (first.auth_required, second.auth_required) == (True, False)
    assert len([item for item in items if isinstance(item, Content)]) == 1
