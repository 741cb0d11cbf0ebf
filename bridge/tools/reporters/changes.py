"""The change that a hook of Edit or Write reports, as standard diffs (`tool-calls` §7.1)."""

from bridge.diffs.final import Change
from bridge.tools.facts import Item, Json
from bridge.tools.reading import first_text, mappings, number, text
from bridge.tools.reporters.reporter import UseView
from bridge.tools.results import text_item


def diff(path: str, old: str | None, new: str) -> Item:
    """A standard diff block; without old text it is a new file."""
    return {"type": "diff", "path": path, "oldText": old, "newText": new}


def standard_change(use: UseView, response: Json) -> Change | None:
    """The change in snippets around each hunk; None when the diff of the use says all there is."""
    path = text(response.get("filePath")) or first_text(use.input, "file_path", "path")
    content = response.get("content")
    if hunks := mappings(response.get("structuredPatch")):
        diffs = tuple(_hunk_diff(path, hunk) for hunk in hunks)
        return Change(diffs, tuple(_place(path, hunk) for hunk in hunks))
    if not isinstance(content, str):
        return None
    if response.get("type") == "update":
        return Change((_whole_change(path, response.get("originalFile"), content),), ({"path": path},))
    # The use of a client with patches showed no diff, and no exact patch could be made.
    if response.get("type") == "create" and use.client.diff_patch:
        return Change((diff(path, None, content),), ({"path": path},))
    return None


def _hunk_diff(path: str, hunk: Json) -> Item:
    """One hunk as a snippet; the line that says "no newline" belongs to neither side."""
    lines = hunk.get("lines")
    marked = [line for line in lines if isinstance(line, str)] if isinstance(lines, list) else []
    old = "\n".join(line[1:] for line in marked if line[:1] in (" ", "-"))
    new = "\n".join(line[1:] for line in marked if line[:1] in (" ", "+"))
    return diff(path, old or None, new)


def _place(path: str, hunk: Json) -> Item:
    start = number(hunk.get("newStart"))
    return {"path": path} if start is None else {"path": path, "line": max(start, 0)}


def _whole_change(path: str, original: object, content: str) -> Item:
    if isinstance(original, str):
        return diff(path, original, content)
    return text_item(f"Updated `{path}` (previous content too large to diff)")
