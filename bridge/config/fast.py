"""Fast mode: the value that the client sees, and what Claude Code reports about it.

Use `initial` on the initialize reply, `requested` when a change by the client went through
(`apply_flag_settings {fastMode}`), `reported` on each `system/init` and result, `model_switched` after a
change of model; `fast_option` (in `options`) shows the state where the model has it. Rules:
config-and-auth §5.7.
"""

from dataclasses import dataclass, replace

_REASONS = {
    "free": "not available on the free plan",
    "extra_usage_disabled": "requires extra usage to be enabled for this account",
    "model_not_allowed": "not available for the selected model",
    "not_first_party": "not available on this API provider",
    "disabled_by_env": "disabled by environment configuration",
    "network_error": "eligibility could not be verified (network error)",
}


@dataclass(frozen=True, slots=True)
class Fast:
    """Whether fast mode is wanted, and why it is not available where Claude Code says so."""

    on: bool = False
    reason: str | None = None
    """A key of the reasons that are shown."""

    @property
    def description(self) -> str:
        """The text under the option."""
        told = f" — {_REASONS[self.reason]}" if self.reason is not None and not self.on else ""
        return f"Faster responses on supported models{told}"


@dataclass(frozen=True, slots=True)
class Report:
    """What a report of Claude Code changed."""

    fast: Fast
    visible: bool = False
    """The option reads differently now, so the options are sent again."""
    notice: str | None = None
    """Why it was turned off, as a phrase; the notice `Fast mode turned off` comes first."""


def initial(state: object, reason: object = None) -> Fast:
    """The value at the start; a cooldown counts as on."""
    on = isinstance(state, str) and state != "off"
    return Fast(on, _known(reason))


def requested(fast: Fast, on: bool) -> Fast:
    """The client's change went through."""
    return Fast(on, None if on else fast.reason)


def reported(fast: Fast, state: object, reason: object = None, *, offered: bool = True) -> Report:
    """Mirror a report; without a state, in a cooldown and without the option there is nothing to mirror."""
    if not offered or state not in ("on", "off"):
        return Report(fast)
    now = Fast(state == "on", _known(reason))
    visible = (now.on, now.description) != (fast.on, fast.description)
    turned_off = fast.on and not now.on and now.reason is not None
    return Report(now, visible, _REASONS[now.reason] if turned_off and now.reason else None)


def model_switched(fast: Fast) -> Fast:
    """Another model may have it: a refusal of the last model says nothing any more."""
    return replace(fast, reason=None) if fast.reason == "model_not_allowed" else fast


def _known(reason: object) -> str | None:
    return reason if isinstance(reason, str) and reason in _REASONS else None
