"""How a session is configured: Claude Code is asked first, and the client hears of what really changed."""

from typing import Any

import pytest

from bridge.capabilities import read_capabilities
from bridge.claude.errors import ControlError
from bridge.config.settings import Settings
from bridge.live.setup import Setup
from bridge.permissions.modes import catalog
from bridge.view.configuration import Configuration
from tests.bridge.view.stand_ins import Client, Process
from tests.support.clients import CAPABILITIES

LEVELS = ["low", "medium", "high", "max"]
OPUS = {
    "value": "opus",
    "displayName": "Opus",
    "supportsEffort": True,
    "supportedEffortLevels": LEVELS,
    "supportsFastMode": True,
    "supportsAutoMode": True,
}
HAIKU = {"value": "haiku", "displayName": "Haiku"}
INFO = {"models": [OPUS, HAIKU], "fast_mode_state": "off"}
REFUSED = ControlError("no")


class Bench:
    """The configuration of one session that came up."""

    def __init__(
        self, kind: str = "plain", mode: str = "default", *, up: bool = True, **settings: Any
    ) -> None:
        self.client, self.process, self.warnings = Client(), Process(), 0
        modes = catalog(auto=True, bypass=False)
        known = read_capabilities(CAPABILITIES[kind])
        setup = Setup("S", "/p", known, modes, mode, Settings(user=settings))
        self.config = Configuration(setup, self.client.as_client(), self.process.as_process(), {}, self._warn)
        if up:
            self.config.begin(INFO, lambda _: None)
            self.process.reply_all({})
            self.process.requests.clear()

    def _warn(self) -> None:
        self.warnings += 1

    @property
    def values(self) -> dict[str, Any]:
        return {option["id"]: option["currentValue"] for option in self.config.state()["configOptions"]}  # type: ignore[attr-defined]  # a list of options

    def change(self, id: str, value: Any, reply: Any = None) -> list[str | None]:
        """A change by the client; what it was told at the end."""
        told: list[str | None] = []
        self.config.change(id, value, told.append)
        self.process.reply_all({} if reply is None else reply)
        return told


# ── modes ─────────────────────────────────────────────────────────────────────


@pytest.mark.contract("CF-029")
def test_set_mode_tells_the_options_and_no_mode_that_the_client_chose() -> None:
    bench = Bench()
    told: list[str | None] = []
    bench.config.set_mode("plan", told.append)
    assert (told, bench.client.updates) == ([], []), "nothing is told before Claude Code agreed"
    bench.process.reply({})
    assert bench.process.requests == [("set_permission_mode", {"mode": "plan"})]
    assert (told, bench.client.kinds) == ([None], ["config_option_update"])
    assert bench.values["mode"] == "plan"


@pytest.mark.contract("CF-030")
def test_a_mode_that_claude_code_refuses_changes_nothing() -> None:
    bench = Bench()
    told: list[str | None] = []
    bench.config.set_mode("plan", told.append)
    bench.process.reply(REFUSED)
    assert told == ["no"]
    assert bench.client.updates == []
    assert bench.values["mode"] == "default"


@pytest.mark.contract("CF-007", "CF-008")
def test_the_list_of_modes_is_the_same_for_every_model() -> None:
    bench = Bench()
    before = bench.config.mode_ids
    assert "auto" in before
    assert bench.change("model", "haiku") == [None]
    assert bench.config.mode_ids == before


@pytest.mark.contract("CF-026")
def test_a_model_without_auto_leaves_it() -> None:
    bench = Bench(mode="auto")
    assert bench.change("model", "haiku") == [None]
    assert ("set_permission_mode", {"mode": "acceptEdits"}) in bench.process.requests
    assert bench.client.updates == [{"sessionUpdate": "current_mode_update", "currentModeId": "acceptEdits"}]
    assert bench.warnings == 1
    assert bench.values["mode"] == "acceptEdits"


@pytest.mark.contract("CF-020")
def test_auto_at_the_start_on_a_model_without_it_is_told_at_the_first_prompt() -> None:
    bench = Bench(mode="auto", up=False, model="haiku")
    told: list[str | None] = []
    bench.config.begin(INFO, told.append)
    bench.process.reply_all({})
    assert told == [None]
    assert ("set_permission_mode", {"mode": "acceptEdits"}) in bench.process.requests
    assert (bench.values["mode"], bench.warnings, bench.client.updates) == ("acceptEdits", 0, [])
    bench.config.prompted()
    bench.config.prompted()
    assert bench.warnings == 1


def test_auto_for_a_model_without_it_becomes_accept_edits() -> None:
    bench = Bench(model="haiku")
    told: list[str | None] = []
    bench.config.set_mode("auto", told.append)
    bench.process.reply_all({})
    assert bench.process.requests == [("set_permission_mode", {"mode": "acceptEdits"})]
    assert bench.client.kinds == ["current_mode_update", "config_option_update"]
    assert bench.warnings == 1


@pytest.mark.contract("CF-024")
def test_a_warning_that_cannot_be_sent_stops_no_change() -> None:
    def broken() -> None:
        raise OSError("the client is gone")

    bench = Bench(model="haiku")
    bench.config._warn_auto = broken
    told: list[str | None] = []
    bench.config.set_mode("auto", told.append)
    with pytest.raises(OSError, match="the client is gone"):
        bench.process.reply_all({})
    assert (told, bench.values["mode"]) == ([None], "acceptEdits")


def test_dont_ask_is_shown_as_the_default() -> None:
    bench = Bench(mode="dontAsk")
    assert (bench.config.mode, bench.values["mode"]) == ("dontAsk", "default")


@pytest.mark.contract("CF-032")
def test_a_mode_that_changed_elsewhere_is_told_once() -> None:
    bench = Bench()
    bench.config.mode_reported("plan")
    bench.config.mode_reported("plan")
    assert bench.client.kinds == ["current_mode_update", "config_option_update"]


def test_claude_codes_report_of_our_own_change_is_no_news() -> None:
    bench = Bench()
    bench.config.change("mode", "plan", lambda _: None)
    bench.config.mode_reported("plan")
    assert bench.client.updates == []
    bench.process.reply_all({})
    assert bench.client.kinds == ["current_mode_update"]


# ── model, effort, fast mode ──────────────────────────────────────────────────


@pytest.mark.contract("CF-042")
def test_a_model_that_changed_elsewhere_is_told_once() -> None:
    bench = Bench()
    bench.config.model_switched("haiku")
    bench.config.model_switched("haiku")
    assert bench.client.kinds == ["config_option_update"]
    assert bench.values["model"] == "haiku"
    assert set(bench.values) == {"mode", "model"}, "it has no effort and no fast mode"


@pytest.mark.parametrize(
    ("id", "value"), [("model", "haiku"), ("effort", "high"), ("fast", "on"), ("mode", "plan")]
)
def test_what_claude_code_refuses_changes_nothing(id: str, value: str) -> None:
    bench = Bench()
    before = bench.values
    assert bench.change(id, value, REFUSED) == ["no"]
    assert bench.values == before
    assert bench.client.updates == []


@pytest.mark.parametrize(
    ("id", "value", "request_"),
    [
        ("effort", "high", ("apply_flag_settings", {"settings": {"effortLevel": "high"}})),
        ("fast", "on", ("apply_flag_settings", {"settings": {"fastMode": True}})),
        ("model", "haiku", ("set_model", {"model": "haiku"})),
    ],
)
def test_a_change_is_made_by_one_request(id: str, value: str, request_: Any) -> None:
    bench = Bench()
    assert bench.change(id, value) == [None]
    assert request_ in bench.process.requests
    assert bench.values[id] == value


def test_another_process_is_told_what_the_session_had() -> None:
    bench = Bench()
    for id, value in (("effort", "max"), ("fast", "on")):
        bench.change(id, value)
    bench.process.requests.clear()
    bench.config.restore()
    assert bench.process.requests == [
        ("set_model", {"model": bench.values["model"]}),
        ("apply_flag_settings", {"settings": {"effortLevel": "max", "fastMode": True}}),
    ]


@pytest.mark.contract("AU-045")
def test_another_route_is_told_the_same_and_the_client_hears_once() -> None:
    bench = Bench()
    bench.change("effort", "high")
    bench.config.begin_again({"models": [HAIKU, {**OPUS, "displayName": "Opus elsewhere"}]})
    assert bench.client.kinds == ["config_option_update"]
    assert bench.values["effort"] == "high"
