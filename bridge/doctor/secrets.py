"""Which texts of the environment and of the settings must not be shown, and how an address is shown."""

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from bridge.config.providers import read_address

_SECRET_NAME = re.compile(r"key|token|secret|passw|auth|credential|header|cookie|bearer", re.IGNORECASE)
_ADDRESS_NAME = re.compile(r"proxy|url|uri|endpoint|host", re.IGNORECASE)
_LONG_ENOUGH = 8
"""Characters: a shorter word of an address is no token, and would hide common words."""
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)


def shown_address(value: str) -> str | None:
    """Scheme, host and port of an http(s) URL, `None` for none; user, path and query may be secrets."""
    if read_address(value) is None:
        return None
    parts = urlsplit(value)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def find_secrets(values: Mapping[str, object]) -> Iterator[str]:
    """The texts to hide, out of the environment or of settings at any depth."""
    for name, value in values.items():
        match value:
            case Mapping():
                yield from find_secrets({str(key): each for key, each in value.items()})
            case list():
                yield from find_secrets({f"{name}.{at}": each for at, each in enumerate(value)})
            case str() if _SECRET_NAME.search(name):
                yield from _parts(value)
            case str() if _ADDRESS_NAME.search(name) or _SCHEME.match(value):
                yield from _hidden_of_address(value)
            case _:
                pass


def _parts(value: str) -> Iterator[str]:
    """A value, and what follows the name in each line of headers."""
    yield value
    for line in value.splitlines():
        yield line.strip()
        yield line.partition(":")[2].strip()


def _hidden_of_address(value: str) -> Iterator[str]:
    shown = shown_address(value)
    if shown is None:
        yield value
    elif value.rstrip("/") != shown:
        yield value.rstrip("/")
        parts = urlsplit(value)
        words = [parts.username or "", parts.password or "", *re.split(r"[/?&=#]", parts.path + parts.query)]
        yield from (word for word in words if len(word) >= _LONG_ENOUGH)
