"""`python -m diagrams` writes the pages; with `--check` it lists the stale ones and exits 1."""

import argparse
import sys

from diagrams.pages import discover, pages, stale, write


def main(arguments: list[str] | None = None) -> int:
    """Write or check, and return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m diagrams", description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing, list what is stale")
    check = parser.parse_args(arguments).check
    wanted = pages(discover())
    changed = stale(wanted) if check else write(wanted)
    for name in changed:
        sys.stdout.write(f"diagrams/{name}{' is stale' if check else ''}\n")
    if check and changed:
        sys.stdout.write("Run: python -m diagrams\n")
    return int(check and bool(changed))


if __name__ == "__main__":
    raise SystemExit(main())
