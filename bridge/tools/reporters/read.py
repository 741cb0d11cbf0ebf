"""Read: the file, its lines, and the text as the file holds it."""

from bridge.tools.facts import Json, ResultFacts, UseFacts
from bridge.tools.reading import first_text, mapping, number, text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import blocks, item, md_fence, text_item


class Read(Reporter):
    """The structured result is free of the reminders that the CLI adds for the model."""

    tools = ("Read",)

    def use(self, use: UseView) -> UseFacts:
        path = first_text(use.input, "file_path")
        start = number(use.input.get("offset"))
        return UseFacts(
            title=f"Read {use.shown_path(path) if path else 'File'}{_range(use.input)}",
            kind="read",
            locations=[{"path": path, "line": max(1 if start is None else start, 1)}] if path else [],
        )

    def result(self, result: ResultView) -> ResultFacts:
        if numbered := _numbered(result):
            return ResultFacts(content=[text_item(md_fence(numbered))])
        return ResultFacts(content=[_shown(block) for block in blocks(result.content)] or None)


def _shown(block: Json) -> Json:
    is_text = block.get("type") == "text"
    return text_item(md_fence(text(block.get("text")))) if is_text else item(block)


def _range(asked: Json) -> str:
    start, limit = number(asked.get("offset")), number(asked.get("limit"))
    if limit is not None and limit > 0:
        first = 1 if start is None else start
        return f" ({first} - {first + limit - 1})"
    return f" (from line {start})" if start else ""


def _numbered(result: ResultView) -> str:
    """The lines with their numbers; empty when the structured result holds no text."""
    file = mapping(result.structured.get("file"))
    content = text(file.get("content"))
    if result.structured.get("type") != "text" or not content:
        return ""
    start = number(file.get("startLine"))
    if start is None:
        start = number(result.use.input.get("offset"))
    lines = enumerate(content.removesuffix("\n").split("\n"), 1 if start is None else start)
    numbered = "\n".join(f"{number}\t{line}" for number, line in lines)
    return f"{numbered}\n{_truncation(file)}" if file.get("truncatedByTokenCap") else numbered


def _truncation(file: Json) -> str:
    shown, total = number(file.get("numLines")), number(file.get("totalLines"))
    if shown is None or total is None:
        return "[File truncated]"
    return f"[File truncated: showing {shown} of {total} lines]"
