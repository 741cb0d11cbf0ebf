"""Plays the same scenarios on a reference agent and on ours and prints what differs.

    python -m tests.compare --reference "node …/claude-agent-acp"
    python -m tests.compare --reference … --clients air --only permission
    python -m tests.compare --golden ours.json            # ours alone, written to a file
    python -m tests.compare --against ours.json           # ours against such a file
    python -m tests.compare --recordings FOLDER           # ours driven as the client of recordings was

A person reads it, so its exit status is always 0.
"""

import argparse
import asyncio
import json
import shlex
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

from tests.compare.normalise import Entry
from tests.compare.recordings.drive import drive
from tests.compare.recordings.explained import sort_out
from tests.compare.recordings.furnish import setup_of
from tests.compare.recordings.model import model_of
from tests.compare.recordings.recording import before, read_all, siblings, unmade
from tests.compare.report import differences, find, lines
from tests.compare.run import record
from tests.compare.scenarios import SCENARIOS, Scenario

CLIENTS = ("plain", "zed", "air", "airmin")

Golden = dict[str, list[Entry]]
"""Entries by `scenario · client`."""


def main() -> int:
    """Run what the command line asks for."""
    options = _options()
    if options.recordings:
        asyncio.run(_drive(options))
        return 0
    wanted = [scenario for name, scenario in SCENARIOS.items() if _matches(name, options.only)]
    if options.list:
        print("\n".join(scenario.name for scenario in wanted))
        return 0
    asyncio.run(_compare(options, wanted))
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.compare", description="Compare two ACP agents.")
    parser.add_argument("--reference", metavar="COMMAND", help="the agent to compare with")
    parser.add_argument("--against", metavar="FILE", type=Path, help="a golden file instead of a reference")
    parser.add_argument("--golden", metavar="FILE", type=Path, help="write what --agent sends")
    parser.add_argument("--agent", metavar="COMMAND", default=f"{sys.executable} -m claude_acp", help="ours")
    parser.add_argument("--recordings", metavar="FOLDER", type=Path, help="drive ours through recordings")
    parser.add_argument("--clients", default=",".join(CLIENTS), help="kinds of clients, default %(default)s")
    parser.add_argument("--only", metavar="TEXT", action="append", help="only names that contain it")
    parser.add_argument("--list", action="store_true", help="names of the scenarios")
    return parser.parse_args()


def _matches(name: str, only: Sequence[str] | None) -> bool:
    return only is None or any(part in name for part in only)


async def _compare(options: argparse.Namespace, wanted: Sequence[Scenario]) -> None:
    golden: Golden = {}
    known = _read(options.against) if options.against else {}
    different = total = 0
    for client in options.clients.split(","):
        reference = known
        if options.reference:
            reference = await _run(options.reference, client, wanted)
        async with aclosing(record(shlex.split(options.agent), client, wanted)) as ours:
            async for name, told in ours:
                key = f"{name} · {client}"
                golden[key] = told
                if options.reference or options.against:
                    total += 1
                    different += _print(key, reference.get(key, []), told)
    if options.golden:
        _write(options.golden, golden)
        print(f"{len(golden)} scenarios written to {options.golden}")
    if total:
        print(f"\n{total - different} of {total} scenarios are the same")


async def _drive(options: argparse.Namespace) -> None:
    """Drive our agent as the clients of the recordings drove the reference."""
    all_of_them = read_all(options.recordings)
    same = different = 0
    for recording in all_of_them:
        if not _matches(recording.name, options.only):
            continue
        reason = setup_of(recording).skip
        if unmade(recording, all_of_them):
            reason = "it loads a session that no recording of the folder makes"
        if reason:
            print(f"– {recording.name}  skipped: {reason}", flush=True)
            continue
        async with drive(shlex.split(options.agent), model_of(recording)) as driven:
            for earlier in before(recording, all_of_them):
                await driven.play(earlier)
            recorded, told = await driven.play(recording, siblings(recording, all_of_them))
        reasons, rest = sort_out(find(recorded, told), recording.name)
        mark = "✗" if rest else "✓"
        print(f"{mark} {recording.name}  ({len(recorded)} and {len(told)} messages)", flush=True)
        print(
            *(f"  {count} × {reason}" for reason, count in reasons.items()),
            *lines(rest),
            sep="\n",
            flush=True,
        )
        same, different = (same, different + 1) if rest else (same + 1, different)
    print(f"\n{same} of {same + different} recordings are the same, or differ as they should")


async def _run(command: str, client: str, wanted: Sequence[Scenario]) -> Golden:
    async with aclosing(record(shlex.split(command), client, wanted)) as told:
        return {f"{name} · {client}": entries async for name, entries in told}


def _print(key: str, reference: list[Entry], ours: list[Entry]) -> bool:
    """Tell one scenario; whether it differs."""
    lines = differences(reference, ours)
    mark = "✗" if lines else "✓"
    print(f"{mark} {key}  ({len(reference)} and {len(ours)} messages)", *lines, sep="\n", flush=True)
    return bool(lines)


def _write(path: Path, golden: Golden) -> None:
    data = {key: [[entry.title, dict(entry.fields)] for entry in told] for key, told in golden.items()}
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1) + "\n")


def _read(path: Path) -> Golden:
    data = json.loads(path.read_text())
    return {key: [Entry(title, fields) for title, fields in told] for key, told in data.items()}


if __name__ == "__main__":
    raise SystemExit(main())
