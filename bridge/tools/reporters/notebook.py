"""NotebookEdit: AIR shows the cell, every other client the bare tool."""

from bridge.tools.facts import ResultFacts, UseFacts
from bridge.tools.reading import first_text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import md_fence, text_item

_VERBS = {"insert": "Insert", "delete": "Delete"}


class NotebookEdit(Reporter):
    """A shown cell source makes the result text superfluous."""

    tools = ("NotebookEdit",)

    def use(self, use: UseView) -> UseFacts:
        if not use.client.air:
            return super().use(use)
        path, source = first_text(use.input, "notebook_path"), _source(use)
        return UseFacts(
            title=_title(use, path),
            kind="edit",
            locations=[{"path": path}] if path else [],
            display=[text_item(md_fence(source))] if source else [],
        )

    def result(self, result: ResultView) -> ResultFacts:
        if result.use.client.air and _source(result.use):
            return ResultFacts(raw_output=None)
        return super().result(result)


def _source(use: UseView) -> str:
    return "" if use.input.get("edit_mode") == "delete" else first_text(use.input, "new_source")


def _title(use: UseView, path: str) -> str:
    if not path:
        return "Edit notebook"
    verb = _VERBS.get(first_text(use.input, "edit_mode"), "Edit")
    cell = first_text(use.input, "cell_id")
    return f"{verb} cell{f' {cell}' if cell else ''} in {use.shown_path(path)}"
