"""What a user says in a session: prompts, steering, goals, what to stop, and the end of it."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from bridge.accounts.accounts import Context
from bridge.messages.prompts import unsupported_block
from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from wire import rpc
from wire.acp.session import CloseSessionRequest, PromptRequest
from wire.params import read

if TYPE_CHECKING:
    from bridge.live.session import Blocks, LiveSession


def prompt(sessions: Sessions, inbound: Inbound) -> None:
    """`session/prompt`: queued behind what runs, answered when its turn ends."""
    session, blocks = _addressed(sessions, inbound.params)
    sessions.host.accounts.probe(Context(session.setup.cwd, session.setup.settings.programmatic))
    session.prompt(inbound, blocks, sessions.host.new_id(), inbound.params.get("_meta"))


def steer(sessions: Sessions, inbound: Inbound) -> None:
    """`_session/steering`: added to the turn that runs (M4.5)."""
    session, blocks = _addressed(sessions, inbound.params)
    steering = _object(_object(inbound.params.get("_meta")).get("steering"))
    idle = steering.get("idleBehavior")
    if not blocks:
        raise _not_valid("prompt")
    if idle not in {None, "promptRequired"}:
        raise _not_valid("_meta.steering.idleBehavior")
    session.steer(inbound, blocks, sessions.host.new_id(), prompt_when_idle=idle != "promptRequired")


def goal(sessions: Sessions, inbound: Inbound) -> None:
    """`_session/goal`: set or clear the goal; only AIR knows goals (decision 38)."""
    if not sessions.client.air:
        raise rpc.method_not_found(inbound.method)
    from bridge.live.goals import goal_text  # with the rest of a session's code

    params = inbound.params
    command, id = goal_text(params.get("action"), params.get("objective")), params.get("sessionId")
    if not isinstance(id, str):
        raise _not_valid("sessionId")
    if command is None:
        raise _not_valid("objective" if params.get("action") == "set" else "action")
    sessions.require(id).set_goal(inbound, command, sessions.host.new_id())


def stop_task(sessions: Sessions, inbound: Inbound) -> None:
    """`_session/async_task/stop`: of a task that does not run there is nothing to stop (A1)."""
    ids = {key: inbound.params.get(key) for key in ("sessionId", "asyncTaskId")}
    for key, id in ids.items():
        if not isinstance(id, str) or not id:
            raise _not_valid(key)
    session = sessions.get(str(ids["sessionId"]))
    if session is None or session.is_closing:
        inbound.respond({"stopped": False})
    else:
        session.stop_task(inbound, str(ids["asyncTaskId"]), sessions.host.new_id())


def close(sessions: Sessions, inbound: Inbound) -> None:
    """`session/close`: end everything of the session; closing twice is no error."""
    id = read(CloseSessionRequest, inbound.params).session_id
    sessions.withdraw(id)
    session = sessions.get(id)
    if session is not None and not session.is_closing:
        session.close(inbound)
    else:
        sessions.later(_close, inbound, id)


async def _close(sessions: Sessions, inbound: Inbound, id: str) -> None:
    """A request that came before may be too far to be withdrawn."""
    async with sessions.claim(id):
        session = sessions.get(id)
        if session is not None and session.is_closing:
            await session.ended.wait()
            session = None
    if session is None:
        inbound.respond({})
    else:
        session.close(inbound)


def _addressed(sessions: Sessions, params: Mapping[str, object]) -> "tuple[LiveSession, Blocks]":
    """The session and the content of a message."""
    check_kinds(params.get("prompt"))
    request = read(PromptRequest, params)
    return sessions.require(request.session_id), [block.dump() for block in request.prompt]


def check_kinds(prompt: object) -> None:
    """Refuse the kinds of content that can't be handed on, also those that ACP has not (SE-096)."""
    blocks = prompt if isinstance(prompt, list) else []
    unsupported = unsupported_block(
        [block for block in blocks if isinstance(_object(block).get("type"), str)]
    )
    if unsupported is not None:
        text = f"Invalid params: Content blocks of type {unsupported} are not supported"
        raise rpc.WireError(rpc.INVALID_PARAMS, text, {"type": unsupported})


def _not_valid(path: str) -> rpc.WireError:
    return rpc.WireError(rpc.INVALID_PARAMS, data={"errors": [{"path": path, "message": "is not valid"}]})


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
