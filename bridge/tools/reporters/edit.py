"""Edit: the file and the snippet that is replaced in it."""

from bridge.tools.facts import ResultFacts, UseFacts
from bridge.tools.reading import first_text
from bridge.tools.reporters.changes import diff
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView


class Edit(Reporter):
    """The snippet's diff stands until a preview or the hook replaces it."""

    tools = ("Edit",)
    edits_file = True

    def use(self, use: UseView) -> UseFacts:
        path = first_text(use.input, "file_path")
        old, new = first_text(use.input, "old_string"), first_text(use.input, "new_string")
        changes = bool(path and (old or new))
        return UseFacts(
            title=f"Edit {use.shown_path(path)}" if path else "Edit",
            kind="edit",
            locations=[{"path": path}] if path else [],
            change=diff(path, old or None, new) if changes else None,
            withheld=("old_string", "new_string") if changes else (),
        )

    def result(self, result: ResultView) -> ResultFacts:
        return ResultFacts()
