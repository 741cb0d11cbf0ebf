"""One reporter a tool: a file here that names its tools is all that a new tool takes."""

from importlib import import_module
from pkgutil import iter_modules

from bridge.tools.reporters.reporter import Reporter


def _found() -> dict[str, Reporter]:
    for module in iter_modules(__path__):
        import_module(f"{__name__}.{module.name}")
    return {tool: reporter() for reporter in Reporter.__subclasses__() for tool in reporter.tools}


_REPORTERS = _found()
_ANY_TOOL = Reporter()


def reporter_of(tool: str) -> Reporter:
    """The reporter of a tool by its SDK name; MCP tools and unknown ones share the plain one."""
    return _REPORTERS.get(tool, _ANY_TOOL)
