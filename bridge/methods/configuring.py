"""How a session is configured while it lives."""

from bridge.methods.sessions import Sessions
from bridge.peer import Inbound
from bridge.permissions.modes import mode_error
from wire import rpc
from wire.acp.config import SetSessionConfigOptionRequest, SetSessionModeRequest
from wire.params import read


def set_mode(sessions: Sessions, inbound: Inbound) -> None:
    """`session/set_mode`, in the order of all changes of the session (INV-S5)."""
    params = read(SetSessionModeRequest, inbound.params)
    session = sessions.require(params.session_id)
    problem = mode_error(params.mode_id, session.setup.modes)
    if problem is not None:
        raise rpc.WireError(rpc.INVALID_PARAMS, f"Invalid params: {problem}")
    session.change_mode(inbound, params.mode_id, sessions.host.new_id())


def set_config_option(sessions: Sessions, inbound: Inbound) -> None:
    """`session/set_config_option`, in the same order (C§3.1)."""
    params = read(SetSessionConfigOptionRequest, inbound.params)
    session = sessions.require(params.session_id)
    session.change_option(inbound, params.config_id, params.value, sessions.host.new_id())
