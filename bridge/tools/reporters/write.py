"""Write: the file and its new text."""

from bridge.tools.facts import ResultFacts, UseFacts
from bridge.tools.reading import first_text
from bridge.tools.reporters.changes import diff
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import text_item

_TEXT_KEYS = ("content", "file_text", "file_content")


class Write(Reporter):
    """A client with patches sees a diff once it is known whether the file exists (§7.3)."""

    tools = ("Write",)
    edits_file = True

    def use(self, use: UseView) -> UseFacts:
        path = first_text(use.input, "file_path", "path")
        content = next((use.input[key] for key in _TEXT_KEYS if isinstance(use.input.get(key), str)), None)
        if not path:
            copy = [text_item(content)] if isinstance(content, str) and content else []
            return UseFacts(title="Preparing file…", kind="edit", locations=[], display=copy)
        known = isinstance(content, str)
        later = use.client.diff_patch and use.live
        return UseFacts(
            title=f"Write {use.shown_path(path)}",
            kind="edit",
            locations=[{"path": path}],
            change=diff(path, None, str(content)) if known and not later else None,
            withheld=_TEXT_KEYS if known else (),
        )

    def result(self, result: ResultView) -> ResultFacts:
        return ResultFacts()
