"""`claude-acp doctor`: every check in its order, then the report."""

import argparse
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import anyio

from bridge.config.settings import managed_env, read_settings, settings_paths
from bridge.doctor import surroundings
from bridge.doctor.claude import check_claude
from bridge.doctor.conversation import converse
from bridge.doctor.report import Report, Row
from bridge.doctor.secrets import find_secrets
from bridge.doctor.settings import check_settings, check_start_mode
from bridge.sessions.folders import config_folder


def run_doctor(argv: Sequence[str]) -> int:
    """Check this machine and try a conversation; 0 when nothing failed, else 1."""
    parser = argparse.ArgumentParser(
        prog="claude-acp doctor", description="Check this machine, and say what to do about what is wrong."
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    as_json = parser.parse_args(argv).json
    try:
        return examine(os.environ, os.getcwd(), as_json=as_json)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # the interpreter flushes at its end
        return 1
    except KeyboardInterrupt:
        return 130


def examine(environ: Mapping[str, str], cwd: str, *, as_json: bool) -> int:
    """All checks for a project folder; the environment is what Claude Code would get."""
    paths = settings_paths(cwd, str(config_folder(environ, _home(environ))), sys.platform)
    settings = read_settings(paths)
    managed = managed_env(settings.managed)
    given = {**environ, **managed_env(settings.merged)}
    secrets = {text for values in (environ, *settings.tiers) for text in find_secrets(values)}
    report = Report(sys.stdout, secrets, as_json=as_json)
    _add(report, [surroundings.check_python(surroundings.python_version())])
    _add(report, surroundings.check_variables(environ))
    _add(report, [surroundings.check_config_folder(environ)])
    _add(report, check_settings(paths))
    _add(report, [check_start_mode(settings)])
    _add(report, surroundings.check_addresses(given))
    _add(report, check_claude({**environ, **managed}))
    anyio.run(converse, {**environ, **managed}, managed, report.add)
    return report.finish()


def _add(report: Report, rows: Iterable[Row]) -> None:
    for row in rows:
        report.add(row)


def _home(environ: Mapping[str, str]) -> Path:
    try:
        return Path.home()
    except RuntimeError:
        return Path(environ.get("PWD", os.sep))
