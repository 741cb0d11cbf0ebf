"""WebFetch and WebSearch: the address or the query, and what was found there."""

from bridge.tools.facts import Json, ResultFacts, UseFacts
from bridge.tools.reading import first_text, mappings, text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import text_item


class WebFetch(Reporter):
    """The prompt tells what is asked of the page."""

    tools = ("WebFetch",)

    def use(self, use: UseView) -> UseFacts:
        url, prompt = first_text(use.input, "url"), first_text(use.input, "prompt")
        return UseFacts(
            title=f"Fetch {url}" if url else "Fetch",
            kind="fetch",
            display=[text_item(prompt)] if prompt else [],
        )


class WebSearch(Reporter):
    """The hits go out without the instructions that the result text has for the model."""

    tools = ("WebSearch",)

    def use(self, use: UseView) -> UseFacts:
        query = first_text(use.input, "query")
        return UseFacts(title=f'Search "{query}"' if query else "Web search", kind="fetch")

    def result(self, result: ResultView) -> ResultFacts:
        found = result.structured.get("results")
        lines = [line for item in found for line in _lines(item)] if isinstance(found, list) else []
        return ResultFacts(content=[text_item("\n".join(lines))]) if lines else super().result(result)


def _lines(item: object) -> list[str]:
    """A comment of the model, one hit, or the hits of one search."""
    if isinstance(item, str):
        return [item] if item else []
    found = mappings([item])
    return [
        line for entry in found for hit in (entry, *mappings(entry.get("content"))) if (line := _hit(hit))
    ]


def _hit(hit: Json) -> str:
    title, url = text(hit.get("title")), text(hit.get("url"))
    return f"{title} ({url})" if title and url else ""
