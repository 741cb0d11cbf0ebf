"""Logs: lines on stderr, or with `CLAUDE_AGENT_LOGS` in a file, where stderr gets errors alone.

`CLAUDE_ACP_LOG` is the level: `warning` without it, `info` for a file. Rules: config-and-auth §14.
"""

import logging
import os
import sys
from collections.abc import Mapping
from datetime import UTC, datetime

LEVEL = "CLAUDE_ACP_LOG"
FOLDER = "CLAUDE_AGENT_LOGS"
_LEVELS = {name: getattr(logging, name.upper()) for name in ("debug", "info", "warning", "error")}
_TEXT = "%(levelname)s %(name)s: %(message)s"

log = logging.getLogger(__name__)


def set_up_logs(environ: Mapping[str, str]) -> None:
    """Send the log where the environment says; what is wrong there is said once (CL-008, CL-009)."""
    name, folder = environ.get(LEVEL) or "", environ.get(FOLDER)
    stderr = logging.StreamHandler(sys.stderr)
    stderr.setFormatter(logging.Formatter(f"%(asctime)s {_TEXT}"))
    handlers: list[logging.Handler] = [stderr]
    problem = None
    if folder:
        try:
            handlers.append(_log_file(folder))
            stderr.setLevel(logging.ERROR)
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "it is no valid path"
    usual = logging.INFO if len(handlers) > 1 else logging.WARNING
    logging.basicConfig(handlers=handlers, level=_LEVELS.get(name.lower(), usual), force=True)
    log.info("Claude ACP started")
    if problem is not None:
        log.warning("no log file, %s cannot be used: %s", FOLDER, problem)
    if name and name.lower() not in _LEVELS:
        log.warning("%s knows %s", LEVEL, ", ".join(_LEVELS))


def _log_file(folder: str) -> logging.Handler:
    folder = os.path.expanduser(folder)
    os.makedirs(folder, exist_ok=True)
    handler = _LogFile(os.path.join(folder, "agent.log"), encoding="utf-8", errors="backslashreplace")
    handler.setFormatter(_LogLines())
    return handler


class _LogFile(logging.FileHandler):
    """A file that several agents append to; when it can't be written any more, the log goes to stderr."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - logging's name
        root = logging.getLogger()
        root.removeHandler(self)
        for other in root.handlers:
            other.setLevel(logging.NOTSET)
        log.warning("%s cannot be written any more", self.baseFilename)


class _LogLines(logging.Formatter):
    """`<ISO time> pid=<pid> <text>`, for each line of a text."""

    def __init__(self) -> None:
        super().__init__("%(message)s")

    def format(self, record: logging.LogRecord) -> str:
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        start = f"{time.replace('+00:00', 'Z')} pid={record.process} "
        level = f"{record.levelname} {record.name}: " if record.levelno != logging.INFO else ""
        lines = filter(str.strip, super().format(record).splitlines())
        return "\n".join(f"{start}{level}{line}" for line in lines)
