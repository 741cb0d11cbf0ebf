"""Bash and PowerShell: a command and what it left behind (`tool-calls` §5.5)."""

import re

from bridge.tools.facts import CommandOutput, Content, Json, ResultFacts, UseFacts
from bridge.tools.reading import first_text, number, text
from bridge.tools.reporters.reporter import Reporter, ResultView, UseView
from bridge.tools.results import blocks, converted, joined_text, text_item

_EXIT_CODE = re.compile(r"Exit code (-?\d+)(?:\n|\Z)")


class Command(Reporter):
    """The title is the command itself; AIR shows the description in its place."""

    tools = ("Bash", "PowerShell")

    def use(self, use: UseView) -> UseFacts:
        description = first_text(use.input, "description", "command_description")
        return UseFacts(
            title=first_text(use.input, "command") or "Terminal",
            kind="execute",
            display=[text_item(description)] if description else [],
            command=True,
            air={"commandTitle": description} if description else {},
        )

    def result(self, result: ResultView) -> ResultFacts:
        output = command_output(result.content, result.structured, is_error=False)
        shown = converted(result.content) if output.text is None else console(output.text)
        return ResultFacts(content=shown, command=output)

    def error(self, result: ResultView) -> ResultFacts:
        output = command_output(result.content, result.structured, is_error=True)
        return ResultFacts(content=converted(result.content, fenced=True), command=output)


def command_output(content: object, structured: Json, *, is_error: bool) -> CommandOutput:
    """The output and the exit code, as far as they are known."""
    if is_error:
        shown = joined_text(content) or ""
        code = _EXIT_CODE.match(shown)
        return CommandOutput(shown, exit_code=int(code[1]) if code else None)
    interrupted = structured.get("interrupted") is True
    known = not (
        interrupted or structured.get("returnCodeInterpretation") or structured.get("backgroundTaskId")
    )
    return CommandOutput(
        _output_text(content, structured), exit_code=0 if known else None, interrupted=interrupted
    )


def _output_text(content: object, structured: Json) -> str | None:
    if _tells_streams(structured):
        return "\n".join(_streams(structured))
    if not blocks(content):
        return ""
    return joined_text(content)


def _tells_streams(structured: Json) -> bool:
    """A background task has its launch text in the result, an image its blocks."""
    streams = (structured.get("stdout"), structured.get("stderr"))
    elsewhere = structured.get("isImage") or structured.get("backgroundTaskId")
    return all(isinstance(stream, str) for stream in streams) and not elsewhere


def _streams(structured: Json) -> list[str]:
    parts = [stream for key in ("stdout", "stderr") if (stream := text(structured.get(key)))]
    if structured.get("interrupted") is True:
        parts.append("[Command was aborted before completion]")
    if path := text(structured.get("persistedOutputPath")):
        size = number(structured.get("persistedOutputSize"))
        counted = "" if size is None else f" ({size} bytes total)"
        parts.append(f"[Output truncated{counted}: full output saved to {path}]")
    return parts


def console(output: str) -> Content | None:
    """The output as a code block, for a client without a terminal; None when it is blank."""
    shown = output.rstrip()
    return [text_item(f"```console\n{shown}\n```")] if shown else None
