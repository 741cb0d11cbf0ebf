"""Records of a transcript, as Claude Code would have written them."""

from uuid import NAMESPACE_OID, uuid5

from tests.support.rpc import Json
from tests.support.sandbox import Sandbox


def user(uuid: str, parent: str | None, text: str) -> Json:
    message = {"role": "user", "content": [{"type": "text", "text": text}]}
    return record("user", uuid, parent, message) | {"origin": {"kind": "human"}, "permissionMode": "default"}


def assistant(uuid: str, parent: str, text: str, model: str) -> Json:
    content = [{"type": "text", "text": text}]
    message = {
        "id": f"msg_{uuid}",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": content,
    }
    return record("assistant", uuid, parent, message)


def record(type: str, uuid: str, parent: str | None, message: Json) -> Json:
    return {
        "type": type,
        "uuid": str(uuid5(NAMESPACE_OID, uuid)),
        "parentUuid": str(uuid5(NAMESPACE_OID, parent)) if parent else None,
        "isSidechain": False,
        "userType": "external",
        "cwd": "/",
        "version": "2.1.0",
        "timestamp": "2026-11-30T10:00:00.000Z",
        "message": message,
    }


def store(sandbox: Sandbox, session: str, lines: list[str]) -> None:
    """Put a transcript where Claude Code would have written it."""
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(sandbox.project))
    folder = sandbox.config / "projects" / slug
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{session}.jsonl").write_text("\n".join(lines), encoding="utf-8")
