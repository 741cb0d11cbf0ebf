"""Logs: plain lines on stderr, at the level of `CLAUDE_ACP_LOG` (default `warning`)."""

import logging
import sys
from collections.abc import Mapping

LEVEL = "CLAUDE_ACP_LOG"
_LEVELS = {name: getattr(logging, name.upper()) for name in ("debug", "info", "warning", "error")}


def set_up_logs(environ: Mapping[str, str]) -> None:
    """Send the log to stderr; an unknown level is said once and counts as `warning`."""
    name = environ.get(LEVEL, "warning").lower()
    logging.basicConfig(
        stream=sys.stderr,
        level=_LEVELS.get(name, logging.WARNING),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        force=True,
    )
    if name not in _LEVELS:
        logging.getLogger(__name__).warning("%s knows %s", LEVEL, ", ".join(_LEVELS))
