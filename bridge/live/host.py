"""What the sessions of a connection share."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from anyio.abc import TaskGroup

from bridge.peer import Port
from bridge.tracing import Trace

if TYPE_CHECKING:
    from bridge.accounts.accounts import Accounts
    from bridge.claude.tap import Gate


@dataclass(frozen=True, slots=True)
class Host:
    """What every session shares: the connection, the task group, the clock, ids, the trace."""

    peer: Port
    accounts: "Accounts"
    tasks: TaskGroup
    now: Callable[[], float]
    new_id: Callable[[], str]
    gate: "Gate | None" = None
    trace: Trace | None = None
    home: str = ""
    environ: Mapping[str, str] = field(default_factory=dict)
    projects: Path = Path()
    """Claude Code's folder of stored sessions."""
    clock: Callable[[], datetime] = datetime.now
