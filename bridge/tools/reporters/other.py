"""The tool that is literally named Other: its input is all there is to show."""

import json

from bridge.tools.facts import UseFacts
from bridge.tools.reporters.reporter import Reporter, UseView
from bridge.tools.results import text_item


class Other(Reporter):
    """The input as JSON."""

    tools = ("Other",)

    def use(self, use: UseView) -> UseFacts:
        shown = json.dumps(use.input, ensure_ascii=False, indent=2)
        return UseFacts(title="Other", display=[text_item(f"```json\n{shown}```")])
