"""Standard input and output of the agent: one reader, one writer, and nothing else on stdout.

Neither blocks the event loop, and both work on pipes, sockets, terminals, files and devices.
Rules: `acp-wire` §1 rule 6, §5.3.
"""

import logging
import os
import stat
import sys
from collections import deque
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, nullcontext

import anyio
from anyio import to_thread

from wire.lines import MAX_LINE, Line, LineSplitter

log = logging.getLogger(__name__)

CHUNK = 64 * 1024
"""Bytes that are read or written at once."""
MAX_QUEUED = 1_000
"""Messages that may wait for a slow client before `drained` makes their producer wait."""
MAX_QUEUED_BYTES = 8 * 1024 * 1024


def claim_stdout() -> int:
    """Keep stdout for the protocol: a private descriptor of it, while fd 1 becomes stderr.

    Whatever prints afterwards, also a child process that inherits fd 1, prints to stderr.
    """
    private = os.dup(1)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return private


async def read_lines(fd: int, receive: Callable[[Line], None], limit: int = MAX_LINE) -> None:
    """Hand on every line in its order until the input ends; a last line needs no LF."""
    splitter = LineSplitter(limit)
    pollable = os.name == "posix"
    while True:
        try:
            if pollable:
                await anyio.wait_readable(fd)
                data = os.read(fd, CHUNK)
            else:
                data = await to_thread.run_sync(os.read, fd, CHUNK, abandon_on_cancel=True)
        except BlockingIOError:
            continue  # another process that shares the descriptor was faster
        except PermissionError:
            pollable = False  # epoll refuses files and /dev/null
            continue
        except OSError as error:
            log.warning("the input broke: %s", error.strerror)
            data = b""
        for line in splitter.feed(data) if data else splitter.close():
            receive(line)
        if not data:
            return


class Writer:
    """The only one that writes to the client, in the order of `send`.

    `on_broken` is called once when the client is gone; what is sent later is dropped.
    """

    def __init__(self, fd: int, on_broken: Callable[[], None]) -> None:
        self._fd = fd
        self._stream = _is_stream(fd)
        self._on_broken = on_broken
        self._queue: deque[bytes] = deque()
        self._unwritten = 0  # bytes
        self._closing = False
        self._ended = False
        self._work = anyio.Event()
        self._room = anyio.Event()
        self._done = anyio.Event()
        self._scope = anyio.CancelScope()

    def send(self, lines: bytes) -> None:
        """Queue whole lines; never blocks, and drops nothing while the client is there."""
        if not self._ended:
            self._queue.append(lines)
            self._unwritten += len(lines)
            self._work.set()

    def gate(self) -> Awaitable[None] | None:
        """None while there is room, else what a producer of updates has to await."""
        return self.drained() if self._crowded else None

    async def drained(self) -> None:
        """Wait while too much is queued for a slow client; whoever produces updates calls this."""
        while self._crowded:
            await self._room.wait()

    async def run(self) -> None:
        """Write until `finish` or the client is gone; one task of the agent runs this."""
        try:
            with self._scope, _nonblocking(self._fd) if self._stream else nullcontext():
                while await self._wait_for_work():
                    batch = self._batch()
                    await self._write(batch)
                    self._unwritten -= len(batch)
                    self._make_room()
        except OSError as error:
            log.error("the client does not read any more: %s", error.strerror)
            self._end()
            self._on_broken()
        finally:
            self._end()

    async def finish(self, grace: float) -> bool:
        """Write what is queued and end `run`, within `grace` seconds; whether everything was written."""
        self._closing = True
        self._work.set()
        with anyio.move_on_after(grace):
            await self._done.wait()
        self._scope.cancel()
        return not self._unwritten

    @property
    def _crowded(self) -> bool:
        full = len(self._queue) > MAX_QUEUED or self._unwritten > MAX_QUEUED_BYTES
        return full and not self._ended

    async def _wait_for_work(self) -> bool:
        while not self._queue and not self._closing:
            self._work = anyio.Event()
            await self._work.wait()
        return bool(self._queue)

    def _batch(self) -> bytes:
        """At least one message, and more as long as all fit into one chunk."""
        batch = [self._queue.popleft()]
        size = len(batch[0])
        while self._queue and (size := size + len(self._queue[0])) <= CHUNK:
            batch.append(self._queue.popleft())
        return b"".join(batch)

    async def _write(self, batch: bytes) -> None:
        rest = memoryview(batch)
        while rest:
            try:
                if self._stream:
                    written = os.write(self._fd, rest)
                else:
                    written = await to_thread.run_sync(os.write, self._fd, rest, abandon_on_cancel=True)
            except BlockingIOError:
                await anyio.wait_writable(self._fd)
            else:
                rest = rest[written:]

    def _make_room(self) -> None:
        self._room.set()
        self._room = anyio.Event()

    def _end(self) -> None:
        self._ended = True
        self._queue.clear()
        self._make_room()
        self._done.set()


def _is_stream(fd: int) -> bool:
    """Pipes and sockets are ours alone; the flags of a terminal are shared with its other users."""
    mode = os.fstat(fd).st_mode
    return os.name == "posix" and (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode))


@contextmanager
def _nonblocking(fd: int) -> Iterator[None]:
    """Writes that would block fail instead; the descriptor is as before afterwards."""
    blocking = os.get_blocking(fd)
    os.set_blocking(fd, False)
    try:
        yield
    finally:
        os.set_blocking(fd, blocking)
