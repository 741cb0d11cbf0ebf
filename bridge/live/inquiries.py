"""What is asked of Claude Code beside the conversation: files that a turn changed, the size of the window."""

from collections.abc import Mapping

from bridge.live.process import Post, Reply, SessionProcess
from bridge.view.usage import ContextUsage
from machines import events as e
from machines.companions import session_reports as r


def preview_files(process: SessionProcess, post: Post, output: r.PreviewFiles) -> None:
    """Which files a rewind to before the turn would touch; the answer is an event."""

    def replied(reply: Reply) -> None:
        if isinstance(reply, Exception):
            post(e.FilesPreviewed(output.turn, None, failed=True))
            return
        files = reply.get("filesChanged") if reply.get("canRewind") is True else None
        listed = tuple(str(path) for path in files) if isinstance(files, list) else None
        post(e.FilesPreviewed(output.turn, listed))

    process.request("rewind_files", replied, user_message_id=output.turn, dry_run=True)


def learn_window(process: SessionProcess, usage: ContextUsage) -> None:
    """Claude Code's own estimate of the window, until a result tells it; nobody waits for it."""

    def replied(reply: Reply) -> None:
        if isinstance(reply, Mapping):
            usage.suggest(reply.get("rawMaxTokens"))

    process.request("get_context_usage", replied, detail="summary")
