"""Which function serves which method."""

from collections.abc import Mapping

from bridge.methods import accounts, configuring, opening, prompting, stored
from bridge.methods.sessions import Method

METHODS: Mapping[str, Method] = {
    "authenticate": accounts.authenticate,
    "logout": accounts.logout,
    "providers/list": accounts.list_providers,
    "providers/set": accounts.set_provider,
    "providers/disable": accounts.disable_provider,
    "session/new": opening.new,
    "session/load": opening.load,
    "session/resume": opening.resume,
    "session/fork": opening.fork,
    "session/list": stored.list_sessions,
    "session/delete": stored.delete,
    "session/prompt": prompting.prompt,
    "session/close": prompting.close,
    "session/set_mode": configuring.set_mode,
    "session/set_config_option": configuring.set_config_option,
    "_session/steering": prompting.steer,
    "_session/goal": prompting.goal,
    "_session/async_task/stop": prompting.stop_task,
}
"""Every method that is served once the connection is negotiated."""
