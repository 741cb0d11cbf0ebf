"""The readers against transcripts that the real Claude Code writes."""

import importlib.util
import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from bridge.demo.api import environment, serve_in_thread
from bridge.sessions.chain import open_transcript
from bridge.sessions.folders import config_folder, delete_session, find_transcript, projects_folder
from bridge.sessions.listing import SessionList
from bridge.sessions.recall import last_choices
from bridge.sessions.replay.items import (
    AgentText,
    AgentThought,
    CompactionSummary,
    Item,
    ToolResult,
    ToolUse,
    UserText,
)
from bridge.sessions.replay.reader import replay
from tests.bridge.sessions.histories import identity

pytestmark = pytest.mark.live

ID = identity(1)


class Claude:
    """Prompts of one stored session, one process each."""

    def __init__(self, folder: Path, url: str) -> None:
        self.project = folder / "ü 😀 日本"
        self.project.mkdir()
        (folder / "home").mkdir()
        self.env = {
            **environment(url),
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "CLAUDE_CONFIG_DIR": str(folder / "config"),
        }
        self.projects = projects_folder(config_folder(self.env, folder))
        self._first = True

    def prompt(self, text: str) -> None:
        spec = importlib.util.find_spec("claude_agent_sdk")
        assert spec is not None
        assert spec.origin is not None
        session = ["--session-id", ID] if self._first else ["--resume", ID]
        self._first = False
        command = [str(Path(spec.origin).parent / "_bundled" / "claude"), "-p", text, *session]
        subprocess.run(
            [*command, "--permission-mode", "bypassPermissions"],
            cwd=self.project,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=True,
        )

    def items(self) -> list[Item]:
        path = find_transcript(self.projects, ID)
        assert path is not None
        with open_transcript(path) as transcript:
            return [*replay(transcript)]


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[Claude]:
    with serve_in_thread() as api:
        yield Claude(tmp_path, api.url)


@pytest.mark.contract("SE-029", "SE-035", "SE-057", "SE-061", "SE-062")
def test_a_stored_session_is_listed_recalled_replayed_and_deleted(claude: Claude) -> None:
    calls = [{"name": "Bash", "input": {"command": f"echo {word}"}} for word in ("one", "two")]
    script = json.dumps([[{"thinking": "hm"}, "I look.", *calls], ["Done."]])
    claude.prompt(f"go SCRIPT {script}")
    prompt, thought, look, first, second, *results, done = claude.items()
    assert isinstance(prompt, UserText)
    assert prompt.text.startswith("go SCRIPT")
    assert isinstance(thought, AgentThought)
    assert isinstance(look, AgentText)
    assert isinstance(done, AgentText)
    assert (thought.text, look.text, done.text) == ("hm", "I look.", "Done.")
    assert thought.message_id == look.message_id != done.message_id
    uses = [item for item in (first, second) if isinstance(item, ToolUse)]
    assert [use.input["command"] for use in uses] == ["echo one", "echo two"]
    answers = {item.call: item.content for item in results if isinstance(item, ToolResult)}
    assert [answers[use.id] for use in uses] == ["one", "two"]
    sessions = SessionList(claude.projects)
    (row,) = sessions.page(str(claude.project)).rows
    assert (row.session_id, row.cwd) == (ID, str(claude.project))
    assert row.title.startswith("go SCRIPT")
    path = find_transcript(claude.projects, ID)
    assert path is not None
    choices = last_choices(path)
    assert choices.mode == "bypassPermissions"
    assert choices.model
    assert choices.model.startswith("claude-")
    assert delete_session(claude.projects, ID)
    assert not sessions.page().rows


def test_a_compacted_session_begins_with_its_summary_and_what_was_preserved(claude: Claude) -> None:
    claude.prompt('first SCRIPT [["One."]]')
    claude.prompt("/compact")
    claude.prompt('second SCRIPT [["Two."]]')
    summary, *rest = claude.items()
    assert isinstance(summary, CompactionSummary)
    assert summary.summary == "The scripted summary."
    texts = [item.text for item in rest if isinstance(item, UserText | AgentText)]
    assert texts[-2:] == ['second SCRIPT [["Two."]]', "Two."]
    assert all(not text.startswith("<") for text in texts)
