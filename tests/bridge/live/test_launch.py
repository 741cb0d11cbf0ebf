"""How the process of a session is started: what the client's capabilities and its route ask for."""

from dataclasses import replace
from typing import Any

import pytest

from bridge.capabilities import read_capabilities
from bridge.claude.launch import New, Resume
from bridge.config.providers import Route, routing_env
from bridge.config.settings import Settings
from bridge.live.setup import Setup, launch
from bridge.permissions.modes import catalog
from tests.support.clients import CAPABILITIES


def setup(capabilities: Any, **more: Any) -> Setup:
    modes = catalog(auto=True, bypass=False)
    return Setup("S", "/project", read_capabilities(capabilities), modes, **more)


def started(capabilities: Any, **more: Any) -> Any:
    return launch(setup(capabilities, **more), None, claude_id="C", mode="plan", resume=False)


@pytest.mark.contract("GL-033", "GL-003")
@pytest.mark.parametrize(
    ("kind", "mirrors"), [("plain", False), ("rfd", False), ("air", True), ("airmin", True)]
)
def test_the_mirror_is_for_air_alone(kind: str, mirrors: bool) -> None:
    assert started(CAPABILITIES[kind]).session_mirror is mirrors


@pytest.mark.contract("FC-001")
@pytest.mark.parametrize(
    ("kind", "keeps"), [("plain", False), ("rfd", False), ("air", True), ("airmin", False)]
)
def test_files_are_remembered_for_who_can_ask_for_them(kind: str, keeps: bool) -> None:
    assert started(CAPABILITIES[kind]).file_checkpointing is keeps


@pytest.mark.parametrize(("capabilities", "denied"), [({}, True), ({"elicitation": {"form": {}}}, False)])
def test_without_forms_there_are_no_questions(capabilities: Any, denied: bool) -> None:
    assert ("AskUserQuestion" in started(capabilities).disallowed_tools) is denied


@pytest.mark.contract("SE-017")
@pytest.mark.parametrize(("value", "forwards"), [(True, True), (1, False), ("true", False), (None, False)])
def test_the_text_of_subagents_is_asked_for_by_exactly_true(value: object, forwards: bool) -> None:
    assert started({"_meta": {"subagent-transcript": value}}).forward_subagent_text is forwards


def test_the_mode_is_always_told_and_bypass_only_where_it_is_offered() -> None:
    described = started({})
    assert (described.permission_mode, described.allow_bypass) == ("plan", False)
    offered = replace(setup({}), modes=catalog(auto=True, bypass=True))
    assert launch(offered, None, claude_id="C", mode="default", resume=False).allow_bypass


def test_a_conversation_is_new_or_taken_up() -> None:
    taken_up = launch(setup({}), None, claude_id="C", mode="default", resume=True)
    assert (started({}).session, taken_up.session) == (New("C"), Resume("C"))


@pytest.mark.contract("AU-046", "AU-047")
def test_a_route_outranks_variables_and_settings() -> None:
    route = Route("anthropic", "https://gateway.example.org", {"x-team": "seven"})
    given = {"env": {"ANTHROPIC_BASE_URL": "https://own.example.org", "EDITOR": "vi"}, "apiKeyHelper": "key"}
    routed = setup({}, settings=Settings(programmatic=given), options={"env": {"ANTHROPIC_API_KEY": "sk"}})
    described = launch(routed, route, claude_id="C", mode="default", resume=False)
    assert described.settings is not None
    assert described.env.items() >= routing_env(route).items()
    assert described.settings["env"] == {"EDITOR": "vi", **routing_env(route)}
    assert described.settings["apiKeyHelper"] == ""
