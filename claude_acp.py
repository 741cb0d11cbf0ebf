"""The one public module: finds the private code beside it and starts the agent.

An installed wheel keeps `machines`, `bridge` and `wire` in a private folder, because their
names are common words; a working tree keeps them beside this file. Whichever is there goes
first on the path, so that a project folder with its own `bridge/` can never be run instead.
"""

import sys
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PRIVATE = _HERE / "claude_acp_app"
HOME = str(_PRIVATE if _PRIVATE.is_dir() else _HERE)


def main() -> int:
    """Run the command line and return its exit status."""
    if sys.path[:1] != [HOME]:
        sys.path.insert(0, HOME)
    from bridge.__main__ import main as start

    return start()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # `python -m` put the working directory there
    raise SystemExit(main())
