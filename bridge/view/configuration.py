"""How a live session is configured, and how the client hears of its changes (C§3 … C§5).

Claude Code is told first; what it refuses changes nothing. Its own changes are mirrored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from bridge.config import effort as efforts
from bridge.config import fast as fasts
from bridge.config.models.listing import after_refusal, offered_models, starting_model
from bridge.config.models.matching import match_resumed
from bridge.config.models.names import named
from bridge.config.models.rows import Model, read_models
from bridge.config.options import SessionConfig, check_change, config_options
from bridge.live.process import Reply, SessionProcess
from bridge.live.setup import Setup
from bridge.permissions.modes import effective_mode, mode_before_plan, mode_state
from bridge.view.client import SessionClient

Done = Callable[[str | None], None]
"""Told once with the error, or with None."""


class Configuration:
    """Mode, model, effort and fast mode of one session."""

    def __init__(
        self,
        setup: Setup,
        client: SessionClient,
        process: SessionProcess,
        environ: Mapping[str, str],
        warn_auto: Callable[[], None],
    ) -> None:
        self._setup = setup
        self._client = client
        self._process = process
        self._environ = environ
        self._warn_auto = warn_auto
        self._config = SessionConfig(setup.modes, self._shown(setup.mode), Model.unknown("default"))
        self.mode = setup.mode
        """The mode that Claude Code is in; passed to it at each start."""
        self.before_plan: str | None = None
        self._fell_back = False  # the session began in another mode than the settings want
        self._applying: str | None = None  # a change of ours: Claude Code's report of it is no news

    # ── what is read ──

    @property
    def mode_ids(self) -> tuple[str, ...]:
        """Ids of the modes that the session offers."""
        return tuple(mode.id for mode in self._setup.modes)

    @property
    def supports_auto(self) -> bool:
        """The model has the auto mode, as far as is known."""
        return self._config.model.auto is not False

    def state(self) -> dict[str, object]:
        """`modes` and `configOptions` of a session response."""
        modes = mode_state(self._setup.modes, self._config.mode, air=self._setup.client.air)
        return {"modes": modes, "configOptions": self._options()}

    def check(self, config_id: str, value: str | bool) -> str | bool:
        """The value to apply; raises WireError for a change that is not offered (CF-033)."""
        return check_change(self._config, self._setup.client, config_id, value)

    # ── the start of a process ──

    def begin(self, info: Mapping[str, object], done: Done) -> None:
        """Settle model and effort with a first process, before the session's request is answered."""
        merged = self._setup.settings.merged
        reported, rows = self._listed(info)
        start = starting_model(
            rows,
            reported,
            environment=self._environ.get("ANTHROPIC_MODEL"),
            setting=self._setup.options.get("model") or merged.get("model"),
            transcript=self._setup.model,
            resumed=self._setup.transcript is not None or self._setup.fork is not None,
        )
        state, reason = info.get("fast_mode_state"), info.get("fast_mode_disabled_reason")
        self._config = replace(
            self._config, models=rows, model=start.model, fast=fasts.initial(state, reason)
        )
        if start.set_model is None:
            self._begin_effort(done)
            return
        self._process.request("set_model", lambda reply: self._began(reply, done), model=start.set_model)

    def prompted(self) -> None:
        """A prompt is sent; the first one brings the warning that the start had to keep (CF-020)."""
        if self._fell_back:
            self._fell_back = False
            self._warn_auto()

    def restore(self) -> None:
        """Tell another process what the session had; a choice that it refuses is only logged."""
        config = self._config
        self._process.request("set_model", model=config.model.value)
        settings: dict[str, object] = {}
        if config.effort.applied is not None:
            settings["effortLevel"] = config.effort.applied
        if config.model.fast and config.fast.on:
            settings["fastMode"] = True
        if settings:
            self._process.request("apply_flag_settings", settings=settings)

    def begin_again(self, info: Mapping[str, object]) -> None:
        """Another process serves the session, maybe elsewhere, where other models are offered."""
        _, rows = self._listed(info)
        value = self._config.model.value
        model = next((row for row in rows if row.value == value), self._config.model)
        self._config = replace(self._config, models=rows, model=model)
        self.restore()
        self._tell_options()

    def _listed(self, info: Mapping[str, object]) -> tuple[Sequence[Model], Sequence[Model]]:
        """The models that Claude Code reports, and those of them that are offered."""
        merged = self._setup.settings.merged
        reported = read_models(info.get("models"))
        custom = self._environ.get("ANTHROPIC_CUSTOM_MODEL_OPTION")
        allowed, overrides = merged.get("availableModels"), merged.get("modelOverrides")
        return reported, named(offered_models(reported, allowed, overrides, custom))

    def _began(self, reply: Reply, done: Done) -> None:
        if isinstance(reply, Exception):
            resumed = self._setup.transcript is not None
            model = after_refusal(
                str(reply), self._config.models, transcript=self._setup.model, resumed=resumed
            )
            if model is None:
                done(str(reply))
                return
            self._config = replace(self._config, model=model)
        self._begin_effort(done)

    def _begin_effort(self, done: Done) -> None:
        mode, self._fell_back = effective_mode(self.mode, self._config.model.auto)
        if self._fell_back:
            self._process.request("set_permission_mode", mode=mode)
            self._note_mode(mode)
        option = self._setup.options.get("effort")
        step = efforts.at_start(
            self._config.model,
            option=option if isinstance(option, str) else None,
            setting=self._setting_effort(self._config.model),
            recommend=self._recommends,
        )
        stored = self._setup.effort if option is None else None
        if stored is None:
            self._take_step(step, lambda _: done(None))
            return

        def replied(reply: Reply) -> None:
            applied = reply.get("applied") if isinstance(reply, Mapping) else None
            level = applied.get("effort") if isinstance(applied, Mapping) else stored
            resumed = efforts.at_resume(step, self._config.model, stored, level)
            self._take_step(resumed, lambda _: done(None))

        self._process.request("get_settings", replied)

    # ── changes by the client ──

    def set_mode(self, mode: str, done: Done) -> None:
        """`session/set_mode` (CF-029)."""
        effective, fell_back = effective_mode(mode, self._config.model.auto)

        def applied() -> None:
            if fell_back:
                self._tell_mode()
                self._warn_auto()
            self._tell_options()

        self._apply_mode(effective, applied, done)

    def change(self, config_id: str, value: str | bool, done: Done) -> None:
        """`session/set_config_option` with a checked value (C§3.2)."""
        match config_id:
            case "mode":
                self._change_mode(str(value), done)
            case "model":
                self._change_model(str(value), done)
            case "effort":
                step = efforts.picked(self._config.effort, str(value))
                self._take_step(step, done)
            case _:
                self._change_fast(on=value in {True, "on"}, done=done)

    def _change_mode(self, mode: str, done: Done) -> None:
        effective, fell_back = effective_mode(mode, self._config.model.auto)

        def applied() -> None:
            self._tell_mode()
            if fell_back:
                self._warn_auto()

        self._apply_mode(effective, applied, done)

    def _change_model(self, value: str, done: Done) -> None:
        model = next((row for row in self._config.models if row.value == value), Model.unknown(value))

        def replied(reply: Reply) -> None:
            if isinstance(reply, Exception):
                done(str(reply))
                return
            fast = fasts.model_switched(self._config.fast)
            self._config = replace(self._config, model=model, fast=fast)
            self._leave_auto()
            step = efforts.at_switch(
                self._config.effort,
                model,
                setting=self._setting_effort(model),
                recommend=self._recommends,
            )
            self._take_step(step, lambda _: done(None))

        self._process.request("set_model", replied, model=value)

    def _change_fast(self, *, on: bool, done: Done) -> None:
        def replied(reply: Reply) -> None:
            if isinstance(reply, Exception):
                done(str(reply))
                return
            self._config = replace(self._config, fast=fasts.requested(self._config.fast, on))
            done(None)

        self._process.request("apply_flag_settings", replied, settings={"fastMode": on})

    def _take_step(self, step: efforts.Step, done: Done) -> None:
        if step.sync is None:
            self._config = replace(self._config, effort=step.done)
            done(None)
            return

        def replied(reply: Reply) -> None:
            failed = isinstance(reply, Exception)
            now = step.failed if failed and step.failed is not None else step.done
            self._config = replace(self._config, effort=now)
            done(str(reply) if failed else None)

        level = step.sync.level
        self._process.request("apply_flag_settings", replied, settings={"effortLevel": level})

    def _apply_mode(self, mode: str, applied: Callable[[], None], done: Done) -> None:
        def replied(reply: Reply) -> None:
            self._applying = None
            if isinstance(reply, Exception):
                done(str(reply) or "Invalid Mode")
                return
            self._note_mode(mode)
            try:
                applied()
            finally:
                done(None)

        self._applying = mode
        self._process.request("set_permission_mode", replied, mode=mode)

    # ── changes by Claude Code, or by an answer ──

    def mode_changed(self, mode: str) -> None:
        """An answer, or Claude Code itself, moved the session to another mode (CF-032)."""
        if mode != self.mode:
            self._note_mode(mode)
            self._tell_mode()
            self._tell_options()

    def mode_reported(self, mode: str) -> None:
        """Claude Code says which mode it is in."""
        if self._applying is None:
            self.mode_changed(mode)

    def model_switched(self, model: str) -> None:
        """Somebody else switched the model (CF-042)."""
        known = match_resumed(model, self._config.models)
        if known != self._config.model:
            self._config = replace(self._config, model=known, fast=fasts.model_switched(self._config.fast))
            self._leave_auto()
            self._tell_options()

    def fast_reported(self, raw: Mapping[str, object]) -> str | None:
        """Mirror what Claude Code says of fast mode; the reason, when it was turned off (CF-076)."""
        state, reason = raw.get("fast_mode_state"), raw.get("fast_mode_disabled_reason")
        report = fasts.reported(self._config.fast, state, reason, offered=self._config.model.fast)
        self._config = replace(self._config, fast=report.fast)
        if report.visible:
            self._tell_options()
        return report.notice

    # ── inside ──

    def _leave_auto(self) -> None:
        """A model without auto mode can't stay in it (CF-026)."""
        mode, fell_back = effective_mode(self.mode, self._config.model.auto)
        if fell_back:
            self._process.request("set_permission_mode", mode=mode)
            self._note_mode(mode)
            self._tell_mode()
            self._warn_auto()

    def _note_mode(self, mode: str) -> None:
        self.before_plan = mode_before_plan(self.before_plan, self.mode, mode)
        self.mode = mode
        self._config = replace(self._config, mode=self._shown(mode))

    def _shown(self, mode: str) -> str:
        """The mode id that the client sees: `dontAsk` has no row (decision 31)."""
        return mode if any(row.id == mode for row in self._setup.modes) else "default"

    def _setting_effort(self, model: Model) -> str | None:
        return efforts.setting_level(self._setup.settings.merged, model)

    @property
    def _recommends(self) -> bool:
        return self._setup.client.has("recommendedValue")

    def _options(self) -> list[dict[str, object]]:
        return config_options(self._config, self._setup.client)

    def _tell_mode(self) -> None:
        self._client.update({"sessionUpdate": "current_mode_update", "currentModeId": self._config.mode})

    def _tell_options(self) -> None:
        self._client.update({"sessionUpdate": "config_option_update", "configOptions": self._options()})
