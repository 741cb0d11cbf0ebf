"""Which model a text means: exact ids first, then names, then words.

Use `match` for whatever a person typed or a file holds, `match_resumed` for the model of a transcript.
Comparisons ignore case, and a trailing `-1m` is the same as `[1m]`. Rules: config-and-auth §5.2, §5.3.
"""

import re
from collections.abc import Iterator, Sequence

from bridge.config.models.rows import DEFAULT, Model

_HINT = re.compile(r"\[(\d+m)\]\Z")
_VERSION = re.compile(r"(?<![a-z0-9])v?(\d{1,2})(?:[-.](\d{1,2}))?(?![0-9a-z])")
_NO_MODEL = frozenset(
    {"best", "default", "claude", "anthropic", "us", "eu", "apac", "jp", "au", "gov", "global"}
)
"""Words of ids that many models share."""


def canonical(model: str) -> str:
    """The form in which ids are compared."""
    return re.sub(r"-(\d+m)\Z", r"[\1]", model.strip().lower())


def same_model(one: str | None, other: str | None) -> bool:
    """Whether two ids are the same; an absent one is like no other (CF-056)."""
    return one is not None and other is not None and canonical(one) == canonical(other)


def match(text: str, models: Sequence[Model]) -> Model | None:
    """The row that a text names best; `None` when it names none of them."""
    wanted = canonical(text)
    if not wanted:
        return None
    tests = (_candidates_by_name, _candidates_by_id, _candidates_by_part, _candidates_by_words)
    return next((model for test in tests for model in test(wanted, models)), None)


def match_resumed(model: str, models: Sequence[Model]) -> Model:
    """The row of the model that a transcript ran on; a row of its own when none of them is."""
    default = [row for row in models if row.value == DEFAULT]
    exact = [row for row in (*default, *models) if same_model(row.resolved, model)]
    near = [
        row for row in default if row.resolved and _base(canonical(row.resolved)) == _base(canonical(model))
    ]
    found = next(iter([*exact, *near]), None)
    return found or match(model, models) or Model.unknown(model)


def _candidates_by_name(wanted: str, models: Sequence[Model]) -> Iterator[Model]:
    return (row for row in models if wanted in (canonical(row.value), row.name.strip().lower()))


def _candidates_by_id(wanted: str, models: Sequence[Model]) -> Iterator[Model]:
    found = [row for row in models if same_model(row.resolved, wanted)]
    return iter(sorted(found, key=lambda row: row.value == DEFAULT))


def _candidates_by_part(wanted: str, models: Sequence[Model]) -> Iterator[Model]:
    base = _base(wanted)
    for row in models:
        value = _base(canonical(row.value))
        named = base in value or base in row.name.lower() or value in base
        if row.value != DEFAULT and named and _hint(wanted) == _row_hint(row) and _compatible(wanted, row):
            yield row


def _candidates_by_words(wanted: str, models: Sequence[Model]) -> Iterator[Model]:
    scored = [(_score(wanted, row), row) for row in models if _compatible(wanted, row)]
    return (row for score, row in sorted(scored, key=lambda each: -each[0]) if score > 0)


def _score(wanted: str, row: Model) -> int:
    """One for each word they share, three for the context hint, nothing for the hint alone."""
    shared = _words(wanted) & _words(f"{row.value} {row.name}".lower())
    hints = {word for word in shared if re.fullmatch(r"\d+m", word)}
    words = len(shared - hints)
    return words + 3 * len(hints) if words else 0


def _words(text: str) -> set[str]:
    words = re.split(r"[^a-z0-9]+", text.replace("opusplan", "opus"))
    return {word for word in words if word and not word.isdigit()} - _NO_MODEL


def _compatible(wanted: str, row: Model) -> bool:
    """Versions that are both known are equal."""
    own, other = _version(wanted), _row_version(row)
    return own is None or other is None or own == other


def _row_version(row: Model) -> tuple[str, str | None] | None:
    return next(
        (found for text in (row.value, row.resolved, row.name) if (found := _version(text or ""))), None
    )


def _version(text: str) -> tuple[str, str | None] | None:
    found = _VERSION.search(_base(canonical(text)))
    return (found[1], found[2]) if found else None


def _row_hint(row: Model) -> str | None:
    return _hint(canonical(row.value)) or _hint(canonical(row.resolved or ""))


def _hint(model: str) -> str | None:
    found = _HINT.search(model)
    return found[1] if found else None


def _base(model: str) -> str:
    """The id without its context hint."""
    return _HINT.sub("", model)
