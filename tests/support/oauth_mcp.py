"""An MCP server over HTTP that wants a sign-in, with its own authorization server, for tests.

with OAuthMcp() as server:
    server.url        # for `mcpServers`
    server.visited    # the sign-in pages that were opened

Whoever opens the page is signed in at once. It needs nothing but the standard library.
"""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlencode, urlsplit

TOKEN = "signed-in"


class OAuthMcp(ThreadingHTTPServer):
    """One server on a free loopback port."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.base = f"http://127.0.0.1:{self.server_port}"
        self.url = f"{self.base}/mcp"
        self.visited: list[str] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.shutdown()
        self.server_close()


class _Handler(BaseHTTPRequestHandler):
    server: OAuthMcp

    def log_message(self, *_: object) -> None:
        """Nothing on stderr."""

    def do_GET(self) -> None:
        base, (path, query) = self.server.base, urlsplit(self.path)[2:4]
        if path.startswith("/.well-known/oauth-protected-resource"):
            self._send(200, {"resource": self.server.url, "authorization_servers": [base]})
        elif path.startswith("/.well-known/"):
            self._send(200, _metadata(base))
        elif path == "/authorize":
            self.server.visited.append(self.path)
            asked = {key: values[0] for key, values in parse_qs(query).items()}
            back = urlencode({"code": "c", "state": asked["state"]})
            self._send(302, {}, Location=f"{asked['redirect_uri']}?{back}")
        else:
            self._send(405, {})

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        match urlsplit(self.path).path:
            case "/register":
                self._send(201, {**json.loads(body), "client_id": "claude"})
            case "/token":
                self._send(200, {"access_token": TOKEN, "token_type": "Bearer", "expires_in": 3600})
            case _ if self.headers.get("Authorization") == f"Bearer {TOKEN}":
                self._answer(json.loads(body))
            case _:
                where = f"{self.server.base}/.well-known/oauth-protected-resource"
                self._send(401, {}, **{"WWW-Authenticate": f'Bearer resource_metadata="{where}"'})

    def _answer(self, message: dict[str, Any]) -> None:
        if "id" not in message:
            self._send(202, None)
            return
        version = message.get("params", {}).get("protocolVersion")
        result: dict[str, Any] = {}
        if message["method"] == "initialize":
            server = {"name": "guarded", "version": "1"}
            result = {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": server}
        elif message["method"] == "tools/list":
            result = {"tools": [{"name": "secret", "inputSchema": {"type": "object", "properties": {}}}]}
        self._send(200, {"jsonrpc": "2.0", "id": message["id"], "result": result})

    def _send(self, status: int, body: object, **headers: str) -> None:
        data = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _metadata(base: str) -> dict[str, object]:
    return {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "response_types_supported": ["code"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
    }
