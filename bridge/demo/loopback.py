"""As much of HTTP/1.1 as a scripted server on loopback needs: requests in, replies and chunks out."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import anyio
from anyio.abc import ByteStream, SocketAttribute
from anyio.streams.buffered import BufferedByteReceiveStream

MAX_HEAD = 64 * 1024

_GONE = (anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, anyio.IncompleteRead)


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """One request; header names are in lower case."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Exchange:
    """One request and the way to answer it, once."""

    def __init__(self, request: HttpRequest, stream: ByteStream, rest: BufferedByteReceiveStream) -> None:
        self.request = request
        self._stream = stream
        self._rest = rest
        self._open = False

    async def reply(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        """Answer with JSON; a HEAD request gets the headers alone."""
        data = json.dumps(body).encode()
        head = {"content-type": "application/json", "content-length": str(len(data)), **(headers or {})}
        content = b"" if self.request.method == "HEAD" else data
        await self._stream.send(_head(status, head) + content)

    async def open(self, content_type: str) -> None:
        """Begin a chunked answer, once."""
        if self._open:
            return
        self._open = True
        await self._stream.send(_head(200, {"content-type": content_type, "transfer-encoding": "chunked"}))

    async def send(self, data: bytes) -> None:
        """One chunk of an open answer; empty data sends nothing."""
        if data:
            await self._stream.send(b"%x\r\n%b\r\n" % (len(data), data))

    async def finish(self) -> None:
        """The end of an open answer."""
        await self._stream.send(b"0\r\n\r\n")

    async def cut(self) -> None:
        """Close the connection, whatever is still owed."""
        await self._stream.aclose()

    async def wait_gone(self) -> None:
        """Return once the client has closed the connection."""
        try:
            while True:
                await self._rest.receive()
        except _GONE:
            await self._stream.aclose()


class LoopbackServer:
    """Answers requests on a free port of 127.0.0.1 while it is entered."""

    def __init__(self, handle: Callable[[Exchange], Awaitable[None]], port: int = 0) -> None:
        self._handle = handle
        self._port = port
        self.url = ""

    async def __aenter__(self) -> "LoopbackServer":
        self._listener = await anyio.create_tcp_listener(local_host="127.0.0.1", local_port=self._port)
        self.url = f"http://127.0.0.1:{self._listener.extra(SocketAttribute.local_port)}"
        self._tasks = await anyio.create_task_group().__aenter__()
        self._tasks.start_soon(self._listener.serve, self._converse)
        return self

    async def __aexit__(self, *error: Any) -> None:
        self._tasks.cancel_scope.cancel()
        # The body's own error stays what it is: it has nothing to do with these tasks.
        await self._tasks.__aexit__(None, None, None)
        await self._listener.aclose()

    async def _converse(self, stream: ByteStream) -> None:
        rest = BufferedByteReceiveStream(stream)
        async with stream:
            try:
                while True:
                    await self._handle(Exchange(await _read_request(rest), stream, rest))
            except (*_GONE, anyio.DelimiterNotFound):
                return


async def _read_request(stream: BufferedByteReceiveStream) -> HttpRequest:
    head = (await stream.receive_until(b"\r\n\r\n", MAX_HEAD)).decode("latin-1")
    start, *lines = head.split("\r\n")
    method, path, _ = start.split(" ", 2)
    fields = (line.partition(":") for line in lines)
    headers = {name.lower(): value.strip() for name, _, value in fields}
    body = await stream.receive_exactly(int(headers.get("content-length", "0")))
    return HttpRequest(method, path, headers, body)


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Unknown"
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
