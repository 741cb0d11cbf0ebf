"""The settings files: which there are, what is wrong with them, and what they do to the mode."""

import json
import os
from collections.abc import Iterator

from bridge.config.settings import Settings, SettingsPaths, Tier, mistyped, read_tier
from bridge.doctor.report import Row, failed, ok, warning
from bridge.permissions.modes import mode_of_setting

_LARGEST = 4 << 20


def check_settings(paths: SettingsPaths) -> Iterator[Row]:
    """A row for each file."""
    for name, path in _files(paths):
        tier = read_tier(path)
        label = f"{name} settings"
        if tier.problem is not None:
            remedy = f"Repair {path} or move it away; until then it counts as empty."
            yield failed(label, f"{tier.problem.removesuffix('.')}{_place_of_error(path, tier)}", remedy)
        elif wrong := mistyped(tier.values):
            remedy = f"Correct {', '.join(wrong)} in {path}; until then they count as absent."
            yield warning(label, f"{path}: {', '.join(wrong)} of a wrong type", remedy)
        elif os.path.exists(path):
            yield ok(label, f"{path} ({len(tier.values)} keys)")
        else:
            yield ok(label, f"none at {path}")


def check_start_mode(settings: Settings) -> Row:
    """The permission mode of new sessions, when it is not what an editor shows (decision 31)."""
    name, given = "permission mode", settings.default_mode
    mode = mode_of_setting(given)
    if mode is None and given is not None:
        remedy = (
            "Set permissions.defaultMode to default, acceptEdits, plan, auto, dontAsk or bypassPermissions."
        )
        return warning(name, "default, since permissions.defaultMode has no known value", remedy)
    if mode == "dontAsk":
        remedy = "Set permissions.defaultMode to another mode if you want to be asked."
        return warning(name, "dontAsk: what is not allowed is denied, while editors show Manual", remedy)
    return ok(name, mode or "default")


def _files(paths: SettingsPaths) -> tuple[tuple[str, str], ...]:
    return (
        ("user", paths.user),
        ("project", paths.project),
        ("local", paths.local),
        ("managed", paths.managed),
    )


def _place_of_error(path: str, tier: Tier) -> str:
    """Where the JSON breaks; never what stands there."""
    if tier.problem is None or "JSON" not in tier.problem:
        return ""
    try:
        with open(path, encoding="utf-8-sig") as file:
            json.loads(file.read(_LARGEST))
    except json.JSONDecodeError as error:
        return f" (line {error.lineno}, column {error.colno})"
    except (OSError, ValueError, RecursionError):
        pass
    return ""
