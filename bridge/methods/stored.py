"""The sessions that are stored: `session/list` and `session/delete` (S§6, S§7)."""

import os

from anyio import to_thread

from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from bridge.sessions.folders import delete_session
from bridge.sessions.listing import Page, UnknownCursorError
from wire import rpc
from wire.acp.session import DeleteSessionRequest, ListSessionsRequest
from wire.params import read


def list_sessions(sessions: Sessions, inbound: Inbound) -> None:
    """A page of the stored sessions, newest first."""
    params = read(ListSessionsRequest, inbound.params)
    if params.cwd is not None and not os.path.isabs(params.cwd):
        text = f"Invalid params: `cwd` must be an absolute path, but received: {params.cwd}"
        raise rpc.WireError(rpc.INVALID_PARAMS, text, {"cwd": params.cwd})
    sessions.later(_list, inbound, params.cwd, params.cursor)


def delete(sessions: Sessions, inbound: Inbound) -> None:
    """End a session and remove what is stored of it; one that does not exist is no error."""
    id = read(DeleteSessionRequest, inbound.params).session_id
    sessions.withdraw(id)
    live = sessions.get(id)
    if live is not None:
        live.close()
    sessions.later(_delete, inbound, id)


async def _list(sessions: Sessions, inbound: Inbound, cwd: str | None, cursor: str | None) -> None:
    try:
        page = await to_thread.run_sync(sessions.stored.page, cwd, cursor)
    except UnknownCursorError:
        text = f"Invalid params: Unknown session/list cursor: {cursor}"
        raise rpc.WireError(rpc.INVALID_PARAMS, text) from None
    inbound.respond(_listed(page))


async def _delete(sessions: Sessions, inbound: Inbound, id: str) -> None:
    async with sessions.claim(id):
        live = sessions.get(id)
        if live is not None:
            await sessions.close(live)
        await to_thread.run_sync(delete_session, sessions.projects, id)
    inbound.respond({})


def _listed(page: Page) -> dict[str, object]:
    rows = [
        {"sessionId": row.session_id, "cwd": row.cwd, "title": row.title, "updatedAt": row.updated_at}
        for row in page.rows
    ]
    result: dict[str, object] = {"sessions": rows}
    return {**result, "nextCursor": page.next_cursor} if page.next_cursor is not None else result
