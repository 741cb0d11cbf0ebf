"""Standard input and output as they are: pipes, files, devices, terminals, slow and dead clients."""

import os
import pty
import socket
import tty
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

import anyio
import pytest
from anyio.abc import TaskGroup

from bridge.stdio import CHUNK, MAX_QUEUED, MAX_QUEUED_BYTES, Writer, read_lines
from wire.lines import Line, Oversize, encode

pytestmark = pytest.mark.anyio

HANG = 60.0
"""Seconds after which a test is stuck, on a loaded machine too."""

Ends = tuple[FileIO, FileIO]
"""What one side reads and the other side writes."""


@pytest.fixture
def pipe() -> Iterator[Ends]:
    """Both ends of a pipe; a test may close them itself."""
    reading, writing = os.pipe()
    with open(reading, "rb", buffering=0) as read, open(writing, "wb", buffering=0) as write:
        yield read, write


@pytest.fixture(params=["pipe", "socket"])
def stream(request: pytest.FixtureRequest) -> Iterator[Ends]:
    """Both ends of what editors use."""
    if request.param == "pipe":
        reading, writing = os.pipe()
    else:
        reading, writing = (each.detach() for each in socket.socketpair())
    with open(reading, "rb", buffering=0) as read, open(writing, "wb", buffering=0) as write:
        yield read, write


# ── reading ───────────────────────────────────────────────────────────────────


async def lines_of(fd: int, limit: int = 1000) -> list[Line]:
    """Everything that is read until the input ends."""
    lines: list[Line] = []
    with anyio.fail_after(HANG):
        await read_lines(fd, lines.append, limit)
    return lines


async def test_lines_are_handed_on_while_the_input_goes_on(pipe: Ends) -> None:
    reading, writing = pipe
    send, receive = anyio.create_memory_object_stream[Line](10)
    with anyio.fail_after(HANG), send, receive:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(read_lines, reading.fileno(), send.send_nowait)
            writing.write(b'{"a":1}\r\n{"b"')
            assert await receive.receive() == '{"a":1}'
            writing.write(b":2}\n")
            assert await receive.receive() == '{"b":2}'
            writing.write(b"last")
            writing.close()
            assert await receive.receive() == "last"
    assert os.get_blocking(reading.fileno())


async def test_a_long_line_is_reported_and_the_next_one_read(pipe: Ends) -> None:
    reading, writing = pipe
    writing.write(b"x" * 20 + b"\nok\n")
    writing.close()
    assert await lines_of(reading.fileno(), limit=10) == [Oversize(10), "ok"]


async def test_a_file_is_read_to_its_end(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"a\n" * 50_000 + b"last")
    file = os.open(tmp_path / "in", os.O_RDONLY)
    assert await lines_of(file) == ["a"] * 50_000 + ["last"]
    os.close(file)


async def test_the_null_device_ends_at_once() -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    assert await lines_of(null) == []
    os.close(null)


async def test_an_input_that_breaks_has_ended(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    directory = os.open(tmp_path, os.O_RDONLY)
    assert await lines_of(directory) == []
    os.close(directory)
    assert "the input broke" in caplog.text


async def test_a_wake_up_for_nothing_is_survived(pipe: Ends, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process that shares the descriptor may have read first."""
    reading, writing = pipe
    os.set_blocking(reading.fileno(), False)
    wait, woken = anyio.wait_readable, []

    async def wake_early(fd: int) -> None:
        woken.append(fd)
        if len(woken) == 1:
            return
        if len(woken) == 2:
            writing.write(b"late\n")
            writing.close()
        await wait(fd)

    monkeypatch.setattr(anyio, "wait_readable", wake_early)
    assert await lines_of(reading.fileno()) == ["late"]


# ── writing ───────────────────────────────────────────────────────────────────


class Client:
    """The reading end of a writer under test."""

    def __init__(self, fd: int, tasks: TaskGroup) -> None:
        self.breaks = 0
        self.writer = Writer(fd, self._broken)
        tasks.start_soon(self.writer.run)

    def _broken(self) -> None:
        self.breaks += 1


async def read_all(fd: int, size: int) -> bytes:
    """So many bytes, without blocking the loop."""
    data = bytearray()
    while len(data) < size:
        await anyio.wait_readable(fd)
        data += os.read(fd, CHUNK)
    return bytes(data)


async def settle() -> None:
    """Let every other task go as far as it can."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


async def test_messages_arrive_in_the_order_of_the_calls(stream: Ends) -> None:
    reading, writing = stream
    expected = b"".join(encode({"n": n}) for n in range(1000))
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(writing.fileno(), tasks)
            for n in range(1000):
                client.writer.send(encode({"n": n}))
                if n % 7 == 0:
                    await anyio.lowlevel.checkpoint()
            assert await client.writer.finish(HANG)
            assert await read_all(reading.fileno(), len(expected)) == expected
    assert os.get_blocking(writing.fileno())
    assert client.breaks == 0


async def test_what_is_queued_together_is_written_together(
    pipe: Ends, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write = os.write

    def watched(fd: int, data: bytes) -> int:
        sizes.append(len(data))
        return write(fd, data)

    monkeypatch.setattr(os, "write", watched)
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(pipe[1].fileno(), tasks)
            for _ in range(60):
                client.writer.send(b"x" * 2047 + b"\n")
            tasks.start_soon(read_all, pipe[0].fileno(), 60 * 2048)
            assert await client.writer.finish(HANG)
    assert sizes[0] == 32 * 2048 == CHUNK
    assert sum(sizes) >= 60 * 2048


async def test_a_client_that_does_not_read_stops_nobody_but_the_producer(stream: Ends) -> None:
    reading, writing = stream
    message = b"x" * 9_999 + b"\n"
    count = 2 * MAX_QUEUED_BYTES // len(message)
    produced = 0

    async def produce() -> None:
        nonlocal produced
        for _ in range(count):
            client.writer.send(message)
            produced += 1
            await client.writer.drained()

    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(writing.fileno(), tasks)
            tasks.start_soon(produce)
            while produced * len(message) <= MAX_QUEUED_BYTES:
                await anyio.lowlevel.checkpoint()
            await settle()
            stuck = produced
            assert stuck * len(message) < MAX_QUEUED_BYTES + 1024 * 1024
            client.writer.send(b"response\n")  # never waits, never dropped
            data = await read_all(reading.fileno(), count * len(message) + len(b"response\n"))
            assert await client.writer.finish(HANG)
    assert produced == count
    assert data.replace(b"response\n", b"") == message * count
    assert data.index(b"response\n") == stuck * len(message)


async def test_many_small_messages_are_too_many_as_well(pipe: Ends) -> None:
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(pipe[1].fileno(), tasks)
            client.writer.send(b"x" * 10 * CHUNK)
            await settle()
            for _ in range(MAX_QUEUED):
                client.writer.send(b"{}\n")
            assert client.writer.gate() is None
            await client.writer.drained()
            client.writer.send(b"{}\n")
            with anyio.move_on_after(0.01) as waiting:
                await client.writer.drained()
            assert waiting.cancelled_caught
            gate = client.writer.gate()
            assert gate is not None
            tasks.start_soon(read_all, pipe[0].fileno(), 10 * CHUNK + 3 * (MAX_QUEUED + 1))
            await gate
            assert client.writer.gate() is None
            assert await client.writer.finish(HANG)


async def test_a_dead_client_is_noticed_once(stream: Ends, caplog: pytest.LogCaptureFixture) -> None:
    reading, writing = stream
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(writing.fileno(), tasks)
            client.writer.send(b"x" * 2 * MAX_QUEUED_BYTES)
            await settle()
            tasks.start_soon(client.writer.drained)
            await settle()
            reading.close()
    client.writer.send(b"dropped\n")
    await client.writer.drained()
    assert client.breaks == 1
    assert not await client.writer.finish(HANG)
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert os.get_blocking(writing.fileno())


async def test_a_client_that_never_reads_does_not_keep_the_agent_from_ending(pipe: Ends) -> None:
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(pipe[1].fileno(), tasks)
            client.writer.send(b"x" * 10 * CHUNK)
            assert not await client.writer.finish(0.05)
    assert os.get_blocking(pipe[1].fileno())
    assert client.breaks == 0


async def test_a_file_takes_everything(tmp_path: Path) -> None:
    file = os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(file, tasks)
            for n in range(5):
                client.writer.send(b"%d" % n * CHUNK)
            assert await client.writer.finish(HANG)
    os.close(file)
    assert (tmp_path / "out").read_bytes() == b"".join(b"%d" % n * CHUNK for n in range(5))


async def test_a_terminal_keeps_its_flags() -> None:
    """Whatever else uses the terminal shares them, our own stderr first of all."""
    master, slave = pty.openpty()
    tty.setraw(slave)
    message = b"x" * 100_000
    with anyio.fail_after(HANG):
        async with anyio.create_task_group() as tasks:
            client = Client(slave, tasks)
            client.writer.send(message)
            await settle()
            assert os.get_blocking(slave)
            assert await read_all(master, len(message)) == message
            assert await client.writer.finish(HANG)
    os.close(slave)
    os.close(master)


async def test_an_output_that_was_made_nonblocking_by_others_works_and_stays_so(pipe: Ends) -> None:
    master, slave = pty.openpty()
    tty.setraw(slave)
    for reading, writing in ((pipe[0].fileno(), pipe[1].fileno()), (master, slave)):
        os.set_blocking(writing, False)
        with anyio.fail_after(HANG):
            async with anyio.create_task_group() as tasks:
                client = Client(writing, tasks)
                client.writer.send(b"x" * 500_000)
                await settle()
                assert len(await read_all(reading, 500_000)) == 500_000
                assert await client.writer.finish(HANG)
        assert not os.get_blocking(writing)
    os.close(slave)
    os.close(master)
