"""The accounts of a connection: the route of requests, the sign-in, and the guard against subscriptions."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from anyio.abc import TaskGroup

from bridge.accounts.commands import auth_status, sign_out
from bridge.accounts.identity import Identity
from bridge.claude.errors import StartFailed
from bridge.config.auth import (
    SIGNED_OUT,
    gateway_status,
    guard,
    probed_status,
    read_gateway,
    session_status,
)
from bridge.config.providers import Route, provider_list
from bridge.config.startup_errors import NO_CREDENTIAL, SUBSCRIPTION
from machines.process.process_events import StartFailure
from wire.rpc import WireError

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Context:
    """Where and with which settings a session's account is asked for."""

    cwd: str | None = None
    settings: Mapping[str, object] = field(default_factory=dict)


class Accounts:
    """One per connection: every session's process starts on its route."""

    def __init__(
        self,
        tasks: TaskGroup,
        push: Callable[[Mapping[str, object]], None],
        environ: Mapping[str, str],
        *,
        hide_claude: bool = False,
    ) -> None:
        self._tasks = tasks
        self._environ = environ
        self._hide_claude = hide_claude
        self._identity = Identity(push)
        self._gateway: Route | None = None
        self._override: Route | None = None
        self._probing: int | None = None  # the epoch of the probe that is under way
        self._context = Context()
        self._late = False
        self._served: dict[str, tuple[object, str | None]] = {}
        """By session: the account of its process, and the kind of credential it was."""

    # ── where requests go ──

    @property
    def route(self) -> Route | None:
        """The route in force; None leaves it to Claude Code."""
        return self._override or self._gateway

    def providers(self) -> dict[str, object]:
        """The result of `providers/list`."""
        return provider_list(self.route, self._environ)

    def override(self, route: Route | None) -> bool:
        """Set or drop the provider override; whether anything changed."""
        changed = route != self._override
        self._override = route
        return changed

    # ── sign-in and sign-out ──

    def authenticate(self, method: str, meta: object) -> None:
        """Sign in to a gateway; raises WireError for every other method (C§9)."""
        route = read_gateway(method, meta)
        self._gateway = route or self._gateway
        self._identity.read(gateway_status(route.host if route else None), self._identity.renew())

    async def logout(self) -> bool:
        """Forget every route and sign out; whether a route was in force. Raises LogoutError."""
        routed = self.route is not None
        self._gateway = self._override = None
        epoch = self._identity.renew()
        await sign_out(self._environ)
        await self._probe(epoch, after_logout=True)
        return routed

    # ── who pays ──

    def probe(self, context: Context | None = None) -> None:
        """Ask Claude Code in the background; a probe that is under way serves all (AU-018)."""
        if context is not None and context != self._context:
            self._context = context
            self._identity.epoch += 1
        if self._gateway is None and self._probing != self._identity.epoch:
            self._tasks.start_soon(self._probe, self._identity.epoch, name="auth status")

    async def _probe(self, epoch: int, *, after_logout: bool = False) -> None:
        self._probing = epoch
        context, answer = self._context, None
        try:
            answer = await auth_status(self._environ, context.cwd, context.settings)
        except TimeoutError:
            if not self._late:
                log.warning("Claude Code did not say in time which account it uses")
            self._late = True
        if self._probing == epoch:
            self._probing = None
        status = probed_status(answer)
        self._identity.read(status or (SIGNED_OUT if after_logout else None), epoch)

    # ── the guard ──

    def admit(self, session: str, account: object) -> None:
        """Note the account of a session's process; raises StartFailed if it may not serve it (AU-025)."""
        status = session_status(account, overridden=self.route is not None)
        self._identity.read(status, self._identity.epoch)
        if self._hides and not isinstance(account, Mapping):
            log.warning("session %s: Claude Code does not say which account it uses", session)
        self._served[session] = (account, status.kind if status is not None else None)
        refusal = self._refusal(account)
        if refusal is not None:
            reason = SUBSCRIPTION if refusal.data is not None else NO_CREDENTIAL
            detail = refusal.message.partition(": ")[2]
            raise StartFailed(StartFailure.AUTH_REQUIRED, detail, reason)

    def is_stale(self, session: str) -> bool:
        """Under `--hide-claude-auth`: the process has to start anew, and be looked at again (AU-037)."""
        if not self._hides or session not in self._served:
            return False
        account, kind = self._served[session]
        known = self._identity.kind
        return self._refusal(account) is not None or (None not in {kind, known} and kind != known)

    def signed_out(self, session: str) -> None:
        """A turn ended for want of a sign-in: under the guard the next one starts anew (AU-038)."""
        if session in self._served:
            self._served[session] = ({}, None)

    def forget(self, session: str) -> None:
        """The session is gone."""
        self._served.pop(session, None)

    @property
    def _hides(self) -> bool:
        return self._hide_claude and self.route is None

    def _refusal(self, account: object) -> WireError | None:
        return guard(account, overridden=False) if self._hides else None
