"""What a prompt asks for beside its text: a goal, a report of the files it changes (M12, M14)."""

import re
from collections.abc import Mapping, Sequence

from machines.events import GoalCommand

_GOAL = re.compile(r"^/goal[ \t]+(?P<objective>\S.*)$", re.DOTALL)
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")

CLEAR = "clear"


def read_goal(blocks: Sequence[Mapping[str, object]]) -> GoalCommand | None:
    """The goal command that a message is; a bare `/goal` only asks and changes nothing (GL-032)."""
    if len(blocks) != 1 or blocks[0].get("type") != "text":
        return None
    command = _GOAL.match(str(blocks[0].get("text")).strip())
    if command is None:
        return None
    objective = command["objective"].strip()
    return GoalCommand(None if objective == CLEAR else objective)


def goal_text(action: object, objective: object) -> str | None:
    """The command of a `_session/goal` request; None for one that is not valid (GL-005 … GL-007)."""
    if action == "clear":
        return f"/goal {CLEAR}"
    if action == "set" and isinstance(objective, str) and objective.strip():
        return f"/goal {objective.strip()}"
    return None


def read_report_request(meta: object, used: set[str]) -> str | None:
    """The id of a file-change report that is asked for; anything else is ignored (FC-003 … FC-007)."""
    air = _object(_object(_object(meta).get("jetbrains")).get("air"))
    request = _object(air.get("agentFileChangeReportRequest"))
    id = request.get("requestId")
    version = request.get("version")
    exact = set(request) == {"version", "requestId"} and version == 1 and version is not True
    if not exact or not isinstance(id, str) or not _REQUEST_ID.fullmatch(id) or id in used:
        return None
    used.add(id)
    return id


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
