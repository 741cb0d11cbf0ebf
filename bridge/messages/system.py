"""System frames to events: tasks, compactions, retries, notices, and the goal of the session mirror."""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import get_args

from bridge.messages.items import (
    CommandsListed,
    Informed,
    Initialized,
    Item,
    LinkDone,
    ModelFellBack,
    ModeReported,
    Recalled,
)
from bridge.messages.raw import Raw, mapping, number, optional, prompts, rows, text
from machines import events as e
from machines.companions.compaction import BoundaryPassed, Compacted, Compacting, CompactionFailed
from machines.companions.goal import Checked, Told
from machines.companions.session_reports import CompactionFacts, GoalSnapshot

_CLI_STATES: Mapping[str, e.CliState] = {state: state for state in get_args(e.CliState)}
_TASK_ENDS = frozenset({"completed", "failed", "killed", "stopped"})
_FALLBACK = "Claude Code went on with another model."


def _init(raw: Raw) -> Iterator[Item]:
    yield Initialized(raw)


def _status(raw: Raw) -> Iterator[Item]:
    mode = raw.get("permissionMode")
    if isinstance(mode, str):
        yield ModeReported(mode)
    match raw.get("status"):
        case "requesting":
            yield e.Requesting(prompts(raw))
        case "compacting":
            yield Compacting(text(raw, "uuid"))
    match raw.get("compact_result"):
        case "success":
            yield Compacted(text(raw, "uuid"))
        case "failed":
            yield CompactionFailed(text(raw, "uuid"), text(raw, "compact_error"))


def _boundary(raw: Raw) -> Iterator[Item]:
    told = mapping(raw, "compact_metadata")
    facts = CompactionFacts(
        "automatic" if told.get("trigger") == "auto" else "manual",
        number(told, "pre_tokens"),
        number(told, "post_tokens"),
        number(told, "duration_ms"),
    )
    yield BoundaryPassed(text(raw, "uuid"), facts)


def _state(raw: Raw) -> Iterator[Item]:
    state = _CLI_STATES.get(text(raw, "state"))
    if state is not None:
        yield e.CliStateChanged(state)


def _denied(raw: Raw) -> Iterator[Item]:
    yield e.ToolDenied(
        text(raw, "tool_use_id"),
        text(raw, "tool_name"),
        optional(raw, "decision_reason_type"),
        optional(raw, "decision_reason"),
        optional(raw, "message"),
    )


def _retry(raw: Raw) -> Iterator[Item]:
    yield e.ApiRetried(
        number(raw, "attempt") or 1,
        number(raw, "max_retries") or 1,
        optional(raw, "error"),
        number(raw, "error_status"),
    )


def _task_started(raw: Raw) -> Iterator[Item]:
    yield e.TaskStarted(
        text(raw, "task_id"),
        optional(raw, "tool_use_id"),
        raw.get("task_type") == "local_agent" or raw.get("subagent_type") is not None,
        raw.get("is_backgrounded") is True,
        optional(raw, "parent_task_id"),
        text(raw, "run_id"),
        _task_facts(raw),
        isinstance(raw.get("is_backgrounded"), bool),
    )


def _task_facts(raw: Raw) -> e.TaskFacts:
    return e.TaskFacts(
        text(raw, "task_type"),
        text(raw, "description"),
        text(raw, "subagent_type"),
        text(raw, "workflow_name"),
        text(raw, "prompt"),
        text(raw, "output_file"),
        raw.get("skip_transcript") is True,
        raw.get("ambient") is True,
    )


def _task_updated(raw: Raw) -> Iterator[Item]:
    patch, task, run = mapping(raw, "patch"), text(raw, "task_id"), text(raw, "run_id")
    backgrounded, status = patch.get("is_backgrounded"), text(patch, "status")
    if isinstance(backgrounded, bool):
        yield e.TaskBackgrounded(task, backgrounded, run)
    if status in _TASK_ENDS:
        yield e.TaskEnded(task, run, status, reason=text(patch, "reason"), error=text(patch, "error"))
    elif status:
        yield e.TaskMoved(task, status, run)


def _task_progress(raw: Raw) -> Iterator[Item]:
    yield e.TaskProgressed(
        text(raw, "task_id"),
        text(raw, "run_id"),
        optional(raw, "tool_use_id"),
        text(raw, "description"),
        text(raw, "summary"),
        text(raw, "last_tool_name"),
        mapping(raw, "usage"),
    )


def _task_notification(raw: Raw) -> Iterator[Item]:
    yield e.TaskEnded(
        text(raw, "task_id"),
        text(raw, "run_id"),
        text(raw, "status") or "completed",
        optional(raw, "tool_use_id"),
        text(raw, "summary"),
        text(raw, "output_file"),
        text(raw, "reason"),
        text(raw, "error"),
    )


def _level(raw: Raw) -> Iterator[Item]:
    listed = {text(task, "task_id"): _task_facts(task) for task in rows(raw, "tasks")}
    yield e.LevelListed(frozenset(listed), listed)


def _informational(raw: Raw) -> Iterator[Item]:
    content = text(raw, "content")
    if content.strip():
        yield Informed(text(raw, "level"), content, text(raw, "uuid"), optional(raw, "tool_use_id"))


def _fallback(raw: Raw) -> Iterator[Item]:
    said = text(raw, "content") or text(raw, "message") or text(raw, "text")
    yield ModelFellBack(said or _FALLBACK, text(raw, "uuid"))


def _commands(raw: Raw) -> Iterator[Item]:
    yield CommandsListed(raw.get("commands"))


def _link_done(raw: Raw) -> Iterator[Item]:
    yield LinkDone(text(raw, "elicitation_id"))


def _recalled(raw: Raw) -> Iterator[Item]:
    yield Recalled(text(raw, "uuid"), text(raw, "mode"), tuple(rows(raw, "memories")))


def _shutting_down(_: Raw) -> Iterator[Item]:
    yield e.WorkerShuttingDown()


def _nothing(_: Raw) -> Iterator[Item]:
    return iter(())


def active_goal(value: object) -> Told:
    """Claude Code's own word on the goal (GL-021 … GL-026)."""
    if not isinstance(value, Mapping):
        return Told(None)
    goal = GoalSnapshot(
        text(value, "condition"),
        number(value, "iterations"),
        optional(value, "last_reason"),
        _milliseconds(value.get("set_at")),
    )
    return Told(goal)


def goal_status(entry: Raw) -> Iterator[Item]:
    """What an entry of the session mirror says of the goal (`claude-sdk` §5.7)."""
    told = mapping(entry, "attachment")
    if told.get("type") != "goal_status":
        return
    objective = text(told, "condition")
    if told.get("met") is True or told.get("failed") is True:
        yield Told(None)
    elif told.get("sentinel") is True:
        yield Told(GoalSnapshot(objective, created_at=_milliseconds(entry.get("timestamp"))))
    else:
        yield Checked(objective, optional(told, "reason"))


def _milliseconds(value: object) -> int | None:
    """Unix milliseconds of a number or an ISO time."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return int(value)
    if not isinstance(value, str):
        return None
    try:
        return int(datetime.fromisoformat(value).timestamp() * 1000)
    except ValueError:
        return None


SYSTEM: Mapping[str, Callable[[Raw], Iterator[Item]]] = {
    "init": _init,
    "status": _status,
    "compact_boundary": _boundary,
    "session_state_changed": _state,
    "permission_denied": _denied,
    "api_retry": _retry,
    "task_started": _task_started,
    "task_updated": _task_updated,
    "task_progress": _task_progress,
    "task_notification": _task_notification,
    "background_tasks_changed": _level,
    "informational": _informational,
    "model_refusal_fallback": _fallback,
    "commands_changed": _commands,
    "worker_shutting_down": _shutting_down,
    "elicitation_complete": _link_done,
    "memory_recall": _recalled,
    "thinking_tokens": _nothing,
    "notification": _nothing,
    "session_title_changed": _nothing,
    "control_request_progress": _nothing,
}
"""Every subtype that is known; those that say nothing to a client by now are read as nothing."""
