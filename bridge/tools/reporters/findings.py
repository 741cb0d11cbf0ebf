"""ReportFindings: what a review found."""

from bridge.tools.facts import Json, UseFacts
from bridge.tools.reading import mappings, number, text
from bridge.tools.reporters.reporter import Reporter, UseView
from bridge.tools.results import text_item


class ReportFindings(Reporter):
    """The title counts, the display copy names each finding and its place."""

    tools = ("ReportFindings",)

    def use(self, use: UseView) -> UseFacts:
        findings = mappings(use.input.get("findings"))
        count = len(findings)
        return UseFacts(
            title=f"Report {count} finding{'' if count == 1 else 's'}"
            if count
            else "Report findings: none found",
            kind="think",
            display=[text_item(_finding(finding)) for finding in findings],
        )


def _finding(finding: Json) -> str:
    line = number(finding.get("line"))
    place = f"{text(finding.get('file'))}{'' if line is None else f':{line}'}"
    return f"**{place}** — {text(finding.get('summary'))}"
