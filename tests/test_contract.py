"""The contract document is well formed, and the tests cite rows that exist."""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.contract_rows import CHECKS, DOCUMENTS, ROOT, Row, Topic, cited, main, report, topics

pytest_plugins = ["pytester"]

INVARIANT = re.compile(r"INV-[A-Z]+\d+")


def test_every_row_has_an_id_of_its_own_and_says_how_it_is_checked() -> None:
    rows = [row for topic in topics() for row in topic.rows]

    assert [each for each, count in Counter(row.id for row in rows).items() if count > 1] == []
    assert [row.id for row in rows if not row.requirement or not CHECKS.issuperset(row.checks)] == []
    assert len(rows) > 1000


def test_the_index_names_every_document_and_prefix() -> None:
    index = (DOCUMENTS / "README.md").read_text(encoding="utf-8")

    for topic in topics():
        (line,) = [line for line in index.splitlines() if f"({topic.document}.md)" in line]
        assert {row.id[:2] for row in topic.rows} <= set(line.split("|")[2].replace(",", " ").split())


def test_the_tests_cite_rows_that_exist() -> None:
    known = {row.id for topic in topics() for row in topic.rows}

    assert {each: files for each, files in cited().items() if each not in known} == {}


def test_every_invariant_that_is_cited_is_explained() -> None:
    explained = set(INVARIANT.findall((ROOT / "docs" / "rules.md").read_text(encoding="utf-8")))
    folders = [ROOT / name for name in ("machines", "bridge", "wire", "tests")]
    paths = [path for folder in folders for path in folder.rglob("*.py")]

    assert {
        each for path in paths for each in INVARIANT.findall(path.read_text(encoding="utf-8"))
    } <= explained


def test_citations_are_found_on_functions_classes_modules_and_parameters(tmp_path: Path) -> None:
    (tmp_path / "test_all.py").write_text(
        """
import pytest
pytestmark = pytest.mark.contract("AA-001")

@pytest.mark.contract("AA-002", "AA-003")
class TestThem:
    @pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.contract("AA-004"))])
    def test_it(self, x): ...
""",
        encoding="utf-8",
    )

    assert cited(tmp_path).keys() == {"AA-001", "AA-002", "AA-003", "AA-004"}


def test_the_report_counts_by_topic_and_names_what_is_missing() -> None:
    doors = Topic(
        "house", "Doors", (Row("DO-001", "They open", ("unit",)), Row("DO-002", "They close", ("live",)))
    )
    roofs = Topic("house", "Roofs", (Row("RO-001", "They keep dry", ("live",)),))

    assert [*report([doors, roofs], {"DO-001", "RO-001"}, missing=True)] == [
        "   1 proven    1 not yet   house: Doors",
        "       DO-002  They close  (live)",
        "   1 proven    0 not yet   house: Roofs",
        "   2 of 3 rows proven",
    ]


def test_the_command_reports_the_whole_contract(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0

    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(topics()) + 1
    assert lines[-1].endswith(f"of {sum(len(topic.rows) for topic in topics())} rows proven")


def test_a_run_reports_the_rows_of_its_passed_tests(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        """
import pytest

@pytest.mark.contract("CY-020", "CY-021")
def test_passes(): ...

@pytest.mark.contract("CY-021", "CY-022")
def test_fails(): assert False

@pytest.mark.contract("CY-023")
@pytest.mark.skip
def test_is_skipped(): ...
"""
    )

    result = pytester.runpytest_subprocess("-p", "tests.contract_rows", "-p", "no:cacheprovider")

    topic = next(topic for topic in topics() if topic.name == "Prompts, cycles and cancel")
    result.stdout.fnmatch_lines(
        [
            "*= contract =*",
            f"   1 proven {len(topic.rows) - 1:4} not yet   turns: Prompts, cycles and cancel",
            f"   1 of {sum(len(topic.rows) for topic in topics())} rows proven",
        ]
    )
