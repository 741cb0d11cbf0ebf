"""What surrounds the agent: Python, the environment's variables, where requests go, where files are kept."""

import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from bridge.config.providers import provider_list
from bridge.doctor.report import Row, failed, ok, warning
from bridge.doctor.secrets import shown_address
from bridge.sessions.folders import config_folder

OLDEST_PYTHON = (3, 11)

_PROXIES = ("HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy")
_WHERE = "in the environment in which the editor starts the agent"
_BASE_URLS = {
    "anthropic": "ANTHROPIC_BASE_URL",
    "bedrock": "ANTHROPIC_BEDROCK_BASE_URL",
    "vertex": "ANTHROPIC_VERTEX_BASE_URL",
}


def check_python(found: tuple[int, ...]) -> Row:
    """The interpreter; `found` is `sys.version_info`."""
    text = ".".join(map(str, found[:3]))
    if found >= OLDEST_PYTHON:
        return ok("Python", text)
    needed = ".".join(map(str, OLDEST_PYTHON))
    return failed("Python", f"{text} is too old", f"Install claude-acp with Python {needed} or newer.")


def check_variables(environ: Mapping[str, str]) -> Iterator[Row]:
    """HOME and PATH, which an editor may not pass on."""
    home = "HOME" if os.name == "posix" else "USERPROFILE"
    if environ.get(home):
        yield ok(home, environ[home])
    else:
        yield warning(home, "is not set", f"Set {home} {_WHERE}, so that Claude Code finds its settings.")
    if environ.get("PATH"):
        yield ok("PATH", f"{len(environ['PATH'].split(os.pathsep))} folders")
    else:
        yield warning(
            "PATH", "is not set", f"Set PATH {_WHERE}, so that Claude Code finds shells and programs."
        )


def check_addresses(environ: Mapping[str, str]) -> Iterator[Row]:
    """The proxy and the destination of model requests, without any credentials in them."""
    proxies = [name for name in _PROXIES if environ.get(name)]
    if not proxies:
        yield ok("proxy", "none")
    for name in proxies:
        yield _check_address("proxy", name, environ[name], "", "such as http://proxy.example.com:8080")
    (listed,) = _rows(provider_list(None, environ))
    kind, address = listed
    name = _BASE_URLS[kind]
    row = _check_address("base URL", name, address, f"{kind}: ", "such as https://gateway.example.com")
    if row.status == "ok" and urlsplit(address).username is not None:
        remedy = f"Move the credentials from {name} to ANTHROPIC_AUTH_TOKEN or ANTHROPIC_CUSTOM_HEADERS."
        row = warning(row.name, f"{row.detail}, with credentials in the URL", remedy)
    yield row


def _rows(listed: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    match listed:
        case {"providers": [{"current": {"apiType": str(kind), "baseUrl": str(address)}}]}:
            yield kind, address
        case _:
            raise AssertionError(listed)


def _check_address(name: str, variable: str, value: str, prefix: str, example: str) -> Row:
    shown = shown_address(value)
    if shown is not None:
        return ok(name, f"{prefix}{shown}")
    return failed(
        name,
        f"{prefix}{variable} is no complete http(s) URL",
        f"Set {variable} to a URL {example}, or unset it.",
    )


def check_config_folder(environ: Mapping[str, str]) -> Row:
    """Claude Code's folder can be written, or made."""
    name = "configuration folder"
    if not environ.get("CLAUDE_CONFIG_DIR") and not environ.get("HOME") and os.name == "posix":
        try:
            home = Path.home()
        except RuntimeError:
            return failed(name, "there is no home folder", f"Set HOME or CLAUDE_CONFIG_DIR {_WHERE}.")
    else:
        home = Path(environ.get("HOME") or Path.home())
    folder = config_folder(environ, home)
    place = next(each for each in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(each))
    remedy = f"Make {place} a folder that your user may write to, or set CLAUDE_CONFIG_DIR to one."
    try:
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        return failed(name, f"{folder} cannot be written: {error.strerror}", remedy)
    return ok(name, str(folder) if place == folder.absolute() else f"{folder}, which is still to be made")


def python_version() -> tuple[int, ...]:
    """Of the interpreter that runs this."""
    return tuple(sys.version_info[:3])
