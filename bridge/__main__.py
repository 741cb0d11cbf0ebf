"""The command line: `claude-acp` serves an editor, `claude-acp demo` shows a tour offline."""

import gc
import os
import sys

USAGE = """usage: claude-acp [--trace FILE]     serve an ACP client on stdin and stdout
       claude-acp demo [--help]       a tour with the real Claude Code, without account or network
       claude-acp --cli ...           the Claude Code command line that the agent drives
       claude-acp --version
"""


def main() -> int:
    """Run what the arguments ask for; returns the exit status."""
    arguments = sys.argv[1:]
    if "--cli" in arguments:
        return _run_cli([argument for argument in arguments if argument != "--cli"])
    if arguments[:1] == ["demo"]:
        from bridge.demo.tour import run_demo

        return run_demo(arguments[1:])
    if arguments in (["--version"], ["-v"]):
        from bridge.initialize import VERSION

        print(VERSION)  # noqa: T201 - the answer
        return 0
    trace = arguments[1] if arguments[:1] == ["--trace"] and len(arguments) == 2 else None
    if arguments and trace is None:
        sys.stderr.write(USAGE)
        return 0 if arguments in (["--help"], ["-h"]) else 2
    gc.disable()  # what is imported is no garbage; until it is all there, looking for some costs an eighth
    from bridge.serve import serve

    return serve(os.environ, trace)


def _run_cli(arguments: list[str]) -> int:
    """Hand the terminal to Claude Code and return its exit status (CL-001)."""
    import subprocess

    from bridge.claude.errors import StartFailed
    from bridge.claude.executable import claude_executable

    try:
        return subprocess.call([claude_executable(os.environ), *arguments])
    except StartFailed as failure:
        sys.stderr.write(f"{failure.text}\n")
        return 1


if __name__ == "__main__":
    raise SystemExit(main())
