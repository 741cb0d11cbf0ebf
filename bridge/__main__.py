"""The command line: the agent on stdin and stdout, and the commands beside it.

Nothing is imported before the arguments have said what for: an editor waits for the agent's start.
Rules: config-and-auth §13.
"""

import os
import sys

USAGE = """\
usage: claude-acp [--hide-claude-auth] [--trace FILE]
                                 serve an ACP client on stdin and stdout
       claude-acp demo [--help]  a tour with the real Claude Code, without account or network
       claude-acp doctor [--json]
                                 check this machine and say what to do about what is wrong
       claude-acp --cli ...      the Claude Code command line that the agent drives
       claude-acp --version      the version of the agent

  --hide-claude-auth  offer no sign-in to a Claude account, and let no subscription pay
  --trace FILE        write every event and transition to FILE, without the user's texts
"""

HIDE = "--hide-claude-auth"
TRACE = "--trace"


def main() -> int:
    """Run what the arguments ask for; returns the exit status (CL-001 … CL-003)."""
    arguments = sys.argv[1:]
    if "--cli" in arguments:
        return _run_cli(arguments)
    match arguments[:1]:
        case ["demo"]:
            from bridge.demo.tour import run_demo

            return run_demo(arguments[1:])
        case ["doctor"]:
            from bridge.doctor.run import run_doctor

            return run_doctor(arguments[1:])
        case _:
            return _answer(arguments)


def _answer(arguments: list[str]) -> int:
    trace, rest = _take_trace(arguments)
    if {"--version", "-v"} & {*rest}:
        from bridge.initialize import VERSION

        sys.stdout.write(f"{VERSION}\n")
        return 0
    if {"--help", "-h"} & {*rest}:
        sys.stdout.write(USAGE)
        return 0
    if trace == "":
        sys.stderr.write("claude-acp: --trace needs a file, so nothing is traced\n")
    unknown = [argument for argument in rest if argument != HIDE]
    if unknown:
        sys.stderr.write(_ignored(unknown))
    import gc

    gc.disable()  # what is imported is no garbage; until it is all there, looking for some costs an eighth
    from bridge.serve import serve

    return serve(os.environ, trace or None, hide_claude=HIDE in rest)


def _take_trace(arguments: list[str]) -> tuple[str | None, list[str]]:
    """The file of `--trace`, empty where it is missing, and all other arguments."""
    trace, rest = None, list[str]()
    words = iter(arguments)
    for word in words:
        if word.startswith(f"{TRACE}="):
            trace = word.removeprefix(f"{TRACE}=")
        elif word == TRACE:
            trace = next(words, "")
            if trace.startswith("-"):
                trace, rest = "", [*rest, trace]
        else:
            rest.append(word)
    return trace, rest


def _ignored(unknown: list[str]) -> str:
    """Editors pass odd flags; values may be secrets, so options alone are named (CL-014)."""
    options = [word.partition("=")[0] if word.startswith("--") else word[:2] for word in unknown]
    named = ", ".join(option for option in options if option.startswith("-"))
    return f"claude-acp: unknown arguments are ignored{named and f' ({named})'}; --help lists what there is\n"


def _run_cli(arguments: list[str]) -> int:
    """Become Claude Code: the terminal, signals and the exit status are its own (CL-001).

    Our flags are not for it: the agent restarts itself with them for a sign-in in a terminal.
    """
    from bridge.claude.errors import EXECUTABLE, StartFailed
    from bridge.claude.executable import claude_executable

    at = arguments.index("--cli")
    rest = [*_take_trace(arguments[:at])[1], *arguments[at:]]
    try:
        command = [claude_executable(os.environ), *(word for word in rest if word not in ("--cli", HIDE))]
        return _become(command)
    except StartFailed as failure:
        problem = failure.text
    except OSError as error:
        problem = f"{command[0]} cannot be run: {error.strerror}. Set {EXECUTABLE} to another Claude Code."
    sys.stderr.write(f"{problem}\n")
    return 1


def _become(command: list[str]) -> int:
    import signal
    import subprocess

    if os.name != "posix":
        return subprocess.call(command)

    # Python ignores these, and what is ignored stays so in the new program.
    for name in ("SIGPIPE", "SIGXFSZ"):
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    return os.execv(command[0], command)


if __name__ == "__main__":
    raise SystemExit(main())
