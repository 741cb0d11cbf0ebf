"""EnterPlanMode and ExitPlanMode; a client with plan files gets the path of the plan (§7.5)."""

import os.path
import re

from bridge.tools.facts import ResultFacts, UseFacts
from bridge.tools.reading import first_text, text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import converted, text_item

_FENCED = re.compile(r"\s*(`{3,})[^\n`]*\n(.*?)\n?\1\s*", re.DOTALL)


class EnterPlanMode(Reporter):
    """A change of the mode, like the way back."""

    tools = ("EnterPlanMode",)

    def use(self, use: UseView) -> UseFacts:
        return UseFacts(title=use.name, kind="switch_mode")


class ExitPlanMode(Reporter):
    """The plan goes out once: as a file, or as a copy of the text."""

    tools = ("ExitPlanMode",)

    def use(self, use: UseView) -> UseFacts:
        plan, path = first_text(use.input, "plan"), use.input.get("planFilePath")
        if use.client.plan_file and _is_plan_file(path):
            return UseFacts(title="Approve Plan", kind="switch_mode", withheld=("plan",))
        blank = not text(path).strip()
        return UseFacts(
            title="Approve Plan",
            kind="switch_mode",
            display=[text_item(plan)] if plan else [],
            withheld=("planFilePath",) if blank else (),  # AIR takes a blank path as a retraction
        )

    def result(self, result: ResultView) -> ResultFacts:
        return ResultFacts(title="Exited Plan Mode", raw_output=None, plan_file=_plan_file(result))

    def error(self, result: ResultView) -> ResultFacts:
        reason = unfenced(result.content) if isinstance(result.content, str) else result.content
        shown = None if result.use.client.air else converted(reason, fenced=True)
        return ResultFacts(content=shown, raw_output=reason, plan_file=_plan_file(result))


def unfenced(shown: str) -> str:
    """The text without one code fence around all of it."""
    fenced = _FENCED.fullmatch(shown)
    return fenced[2] if fenced and f"\n{fenced[1]}" not in f"\n{fenced[2]}" else shown


def _plan_file(result: ResultView) -> str | None:
    """The file of the input, else the one that the structured result names."""
    if not result.use.client.plan_file:
        return None
    paths = (result.use.input.get("planFilePath"), result.structured.get("filePath"))
    return next((text(path) for path in paths if _is_plan_file(path)), None)


def _is_plan_file(path: object) -> bool:
    return isinstance(path, str) and os.path.isabs(path) and os.path.isfile(path)
