"""An agent that is measured: how it is started, and what the system says about its process (Linux)."""

import asyncio
import os
import subprocess
import sys
import sysconfig
import time
import venv
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bridge.demo.api import ScriptedApi
from tests.support import fake_cli
from tests.support.acp_client import AcpClient, run_agent
from tests.support.rpc import Json
from tests.support.sandbox import Sandbox

ROOT = Path(__file__).parents[2]
OWN_PATH: Mapping[str, str | None] = {"PYTHONPATH": None, "PYTHONWARNINGS": None}
"""An installed agent must not find the tree."""


@dataclass(frozen=True, slots=True)
class Contestant:
    """An agent on stdio, by its command."""

    name: str
    command: tuple[str, ...]

    @asynccontextmanager
    async def run(self, scenario: Json | None = None) -> AsyncIterator[AcpClient]:
        """A process in a place of its own, with the real Claude Code or a fake one that plays `scenario`."""
        with TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
            fake = {} if scenario is None else fake_cli.install(Path(folder), scenario)
            fake.pop(fake_cli.LOG, None)
            async with ScriptedApi() as api:
                sandbox = Sandbox(Path(folder) / "place", api.url)
                async with run_agent(self.command, sandbox, {**OWN_PATH, **fake}, check=False) as client:
                    yield client
                    await client.kill()
                    client.violations.clear()


@asynccontextmanager
async def session(
    contestant: Contestant, scenario: Json | None = None
) -> AsyncIterator[tuple[AcpClient, str]]:
    """An agent with one session that has had a turn, so that nothing is measured that happens only once."""
    async with contestant.run(scenario) as client:
        await client.initialize("plain")
        opened = await client.new_session()
        await client.prompt(opened, 'SCRIPT [[{"many": [500, 20]}]]').result()
        yield client, opened


def cpu(client: AcpClient) -> float:
    """Seconds of CPU that the agent's process has used, all threads, without its children."""
    return time.clock_gettime((~client.process.pid << 3) | 2)  # the kernel's id of that process's clock


def resident(client: AcpClient) -> float:
    """MiB of memory that the agent's process has in use."""
    return _status(client, "VmRSS")


def peak(client: AcpClient) -> float:
    """The most of `resident` so far."""
    return _status(client, "VmHWM")


def _status(client: AcpClient, name: str) -> float:
    for line in Path(f"/proc/{client.process.pid}/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    raise LookupError(name)


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment that holds the wheel of this tree; what that depends on is found where we find it."""

    python: Path
    code: Path
    """The private folder of the wheel."""

    @property
    def agent(self) -> Contestant:
        """The console command."""
        return Contestant("ours", (str(self.python.with_name("claude-acp")),))

    async def output_of(self, *arguments: str) -> bytes:
        """Run the interpreter with the private code on its path; what it prints."""
        env = os.environ | {"PYTHONPATH": str(self.code)}
        process = await asyncio.create_subprocess_exec(
            self.python, *arguments, stdout=asyncio.subprocess.PIPE, env=env
        )
        stdout, _ = await process.communicate()
        if process.returncode:
            raise RuntimeError(f"{arguments} ended with {process.returncode}")
        return stdout


@contextmanager
def installed_wheel() -> Iterator[Installed]:
    """Build the wheel and install it."""
    with TemporaryDirectory(prefix="bench-wheel-", ignore_cleanup_errors=True) as folder:
        home, dist = Path(folder) / "environment", Path(folder) / "dist"
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(dist), str(ROOT))
        venv.create(home, symlinks=True)
        (wheel,) = dist.glob("*.whl")
        python = home / "bin" / "python"
        pip = (sys.executable, "-m", "pip", "--python", str(python), "install")
        _run(*pip, "--no-deps", "--no-index", str(wheel))
        (packages,) = home.glob("lib/python*/site-packages")
        (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        yield Installed(python, packages / "claude_acp_app")


def _run(*command: str) -> None:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout}")
