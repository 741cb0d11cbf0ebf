"""AskUserQuestion: the questions themselves go out as a form."""

from bridge.tools.facts import UseFacts
from bridge.tools.reading import mappings, text
from bridge.tools.reporters.reporter import Reporter, UseView
from bridge.tools.results import text_item


class AskUserQuestion(Reporter):
    """A single question is its own title, except for AIR, which shows it in the form alone."""

    tools = ("AskUserQuestion",)

    def use(self, use: UseView) -> UseFacts:
        asked = mappings(use.input.get("questions"))
        questions = [question for item in asked if (question := text(item.get("question")))]
        single = len(asked) == 1 and questions and not use.client.air
        return UseFacts(
            title=questions[0] if single else "Asking for your input",
            display=[text_item(question) for question in questions],
        )
