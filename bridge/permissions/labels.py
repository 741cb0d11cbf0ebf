"""The texts that tell a user what a choice does, and what may be shown at all.

A label is built only when it names the whole effect of a bundle of updates: each function answers
`None` for a bundle that it cannot describe in full (permissions §4.1–4.3, PM-061, PM-062, PM-112).
A value that would make a label lie is never cleaned up, for the rule would then be another one; the
lasting choice is left out.
"""

import os.path
import re
from collections.abc import Sequence

from bridge.permissions.suggestions import CONTROL, Directories, Mode, Rule, Rules, Snapshot

_SPOOFING = re.compile(r"[\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_UNSHOWABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
_LONGEST = 4000
_COMPACT = 160
_LIST = 50


def shell_label(bundle: Snapshot, shell: str) -> str | None:
    """What a bundle of a shell command grants, by name (§4.1, PM-066, PM-067)."""
    commands: list[str] = []
    reads: list[str] = []
    directories: list[str] = []
    for update in bundle.updates:
        match update:
            case Directories("addDirectories", added, "session"):
                directories += added
            case Rules() if update.allows:
                for rule in update.rules:
                    if rule.content is None or rule.tool not in (shell, "Read"):
                        return None
                    if rule.tool == shell:
                        commands.append(rule.content.removesuffix(":*"))
                    else:
                        reads.append(rule.content.removesuffix("/**"))
            case _:
                return None
    if not all(text.strip() for text in (*commands, *reads)):
        return None  # the bare wildcard would grant what no name can tell
    return _shell_text(list(dict.fromkeys(commands)), reads, directories)


def _shell_text(commands: list[str], reads: list[str], directories: list[str]) -> str | None:
    places = _short_paths([*directories, *reads])
    where = _enumerated(places)
    if not places:
        return f"Yes, and don't ask again for {_listed(commands)} commands" if commands else None
    if not commands:
        verb = "always allow access to" if directories else "allow reading from"
        joint = ", and" if directories else ","
        return f"Yes{joint} {verb} {where} from this project"
    if len(places) == 1 and len(commands) == 1:
        return f"Yes, and allow access to {where} and {_listed(commands)} commands"
    return f"Yes, and allow {where} access and {_listed(commands)} commands"


def file_label(
    bundle: Snapshot, tool: str, path: str | None, *, cwd: str, home: str, search: bool = False
) -> str | None:
    """What a bundle of a file tool grants during the session (§4.2, PM-068 … PM-072).

    `tool` is the rule's name, `Read` or `Edit`. `search` says that `path` is itself the folder.
    """
    if not all(_grants_files(update, tool) for update in bundle.updates):
        return None
    write = tool == "Edit"
    rules = [rule for update in bundle.updates if isinstance(update, Rules) for rule in update.rules]
    accepts = any(isinstance(update, Mode) for update in bundle.updates)
    everywhere = any(rule.content is None for rule in rules)
    general = "Yes, allow all edits during this session" if write else "Yes, during this session"
    if path is None:
        return general if everywhere or accepts else None
    target = _resolved(path, cwd, home)
    parent = target if search else os.path.dirname(target)
    covering = [place for place in _places(bundle, rules, cwd, home) if _contains(place, target)]
    own = (_resolved(os.path.join(base, ".claude"), cwd, home) for base in (cwd, home))
    settings = write and any(_contains(folder, target) for folder in own)
    if not (covering or everywhere or (accepts and not settings)):
        return None
    if settings and rules:
        return "Yes, and allow Claude to edit its own settings for this session"
    if not covering or _contains(_resolved(cwd, cwd, home), target):
        return general
    widest = min(covering, key=len)
    name = os.path.basename(parent if parent in covering or widest == target else widest)
    scope = "allow all edits in" if write else "allow reading from"
    return f"Yes, {scope} {name}/ during this session"


def _grants_files(update: Rules | Mode | Directories, tool: str) -> bool:
    if update.destination != "session":
        return False
    match update:
        case Rules():
            return update.allows and all(rule.tool == tool for rule in update.rules)
        case Directories():
            return tool == "Edit" and update.change == "addDirectories"
        case Mode():
            return tool == "Edit" and update.mode == "acceptEdits"


def _places(bundle: Snapshot, rules: Sequence[Rule], cwd: str, home: str) -> list[str]:
    """Every folder or file that the bundle names, absolute."""
    named = [
        path for update in bundle.updates if isinstance(update, Directories) for path in update.directories
    ]
    named += [re.sub(r"[/\\]\*\*\Z", "", rule.content) or "/" for rule in rules if rule.content is not None]
    return [_resolved(path, cwd, home) for path in named]


def covers_tool(bundle: Snapshot, tool: str) -> bool:
    """Whether the bundle allows exactly this tool as a whole (§4.3, PM-078, PM-079)."""
    return all(
        isinstance(update, Rules) and update.allows and all(rule == Rule(tool) for rule in update.rules)
        for update in bundle.updates
    )


def covers_host(bundle: Snapshot, tool: str, host: str) -> bool:
    """Whether the bundle is the one local rule for this host (§4, PM-077)."""
    return bundle.updates == (Rules("addRules", (Rule(tool, host),), "allow", "localSettings"),)


def showable(label: str) -> bool:
    """Whether a label can be read as it is: one line, no control, no character that reorders text."""
    return 0 < len(label) <= _LONGEST and _UNSHOWABLE.search(label) is None


def readable(text: str) -> str:
    """The text without control characters and without what could make it read as another text."""
    return _SPOOFING.sub("", CONTROL.sub("", text)).strip()


def one_line(text: object, limit: int = _COMPACT) -> str | None:
    """A text on one line of at most `limit` characters; `None` when it is blank, longer or no text."""
    if not isinstance(text, str):
        return None
    line = " ".join(readable(text).split())
    return line if 0 < len(line) <= limit else None


def _listed(names: Sequence[str]) -> str:
    return "similar" if len(", ".join(names)) > _LIST else _joined(names)


def _joined(names: Sequence[str]) -> str:
    match names:
        case [only]:
            return only
        case [first, second]:
            return f"{first} and {second}"
        case _:
            return f"{', '.join(names[:-1])}, and {names[-1]}"


def _enumerated(places: Sequence[str]) -> str:
    if len(places) <= 2:
        return " and ".join(places)
    return f"{places[0]}, {places[1]} and {len(places) - 2} more"


def _short_paths(paths: Sequence[str]) -> list[str]:
    """Each path by the fewest trailing segments that tell it from the others, with a separator."""
    whole = list(dict.fromkeys(_normal(path) for path in paths))
    split = [[part for part in path.split(os.sep) if part] for path in whole]

    def short(index: int) -> str:
        parts = split[index]
        for count in range(1, len(parts) + 1):
            tail = parts[-count:]
            if all(other[-count:] != tail for at, other in enumerate(split) if at != index):
                return os.sep.join(tail) + os.sep
        return whole[index].rstrip(os.sep) + os.sep

    return [short(index) for index in range(len(whole))]


def _resolved(path: str, cwd: str, home: str) -> str:
    if path == "~" or path.startswith("~/"):
        path = home + path[1:]
    return _normal(os.path.join(cwd, path))


def _normal(path: str) -> str:
    # Claude Code writes absolute rules with two slashes, and normpath would keep them
    return os.path.normpath(re.sub(r"^/{2,}", "/", path))


def _contains(folder: str, path: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
