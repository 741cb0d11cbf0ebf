"""Sign-in, sign-out and providers: what concerns every session of the connection (C§8, C§9)."""

from collections.abc import Mapping, Sequence

import anyio

from bridge.accounts.commands import LogoutError
from bridge.config.providers import PROVIDER, read_route
from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from wire import rpc
from wire.acp.auth import AuthenticateRequest, DisableProviderRequest
from wire.params import read


def authenticate(sessions: Sessions, inbound: Inbound) -> None:
    """`authenticate`: a gateway; everything else is signed in to in a terminal."""
    params = read(AuthenticateRequest, inbound.params)
    sessions.host.accounts.authenticate(params.method_id, params.meta)
    inbound.respond({})


def logout(sessions: Sessions, inbound: Inbound) -> None:
    """`logout`: of Claude Code and of every gateway."""
    sessions.later(_logout, inbound)


def list_providers(sessions: Sessions, inbound: Inbound) -> None:
    """`providers/list`."""
    inbound.respond(sessions.host.accounts.providers())


def set_provider(sessions: Sessions, inbound: Inbound) -> None:
    """`providers/set`: every session goes on at the new provider before the answer."""
    sessions.host.accounts.override(read_route(inbound.params))
    sessions.later(_rerouted, inbound, _recreate_all(sessions))


def disable_provider(sessions: Sessions, inbound: Inbound) -> None:
    """`providers/disable`: back to Claude Code's own route; an unknown id changes nothing."""
    known = read(DisableProviderRequest, inbound.params).provider_id == PROVIDER
    if known and sessions.host.accounts.override(None):
        sessions.later(_rerouted, inbound, _recreate_all(sessions))
    else:
        inbound.respond({})


async def _rerouted(_: Sessions, inbound: Inbound, recreated: Sequence[anyio.Event]) -> None:
    for done in recreated:
        await done.wait()
    inbound.respond({})


async def _logout(sessions: Sessions, inbound: Inbound) -> None:
    try:
        routed = await sessions.host.accounts.logout()
    except LogoutError as error:
        data: Mapping[str, object] | None = {"stderr": error.stderr} if error.stderr is not None else None
        text = f"Internal error: claude auth logout failed: {error}"
        raise rpc.WireError(rpc.INTERNAL_ERROR, text, data) from None
    await _rerouted(sessions, inbound, _recreate_all(sessions) if routed else ())


def _recreate_all(sessions: Sessions) -> Sequence[anyio.Event]:
    """Each session goes on in another process once it is quiet; prompts that come after this wait."""
    waited = []
    for session in sessions.live():
        done = anyio.Event()
        session.recreate(done.set)
        waited.append(done)
    return waited
