"""The report: readable without colours, exact as JSON, and without a secret on either way."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.doctor.report import Report, Row, failed, ok, warning

ROWS = [
    ok("Python", "3.11.7"),
    warning("sign-in", "Not logged in", "Sign in with it."),
    failed("proxy", "HTTPS_PROXY is no URL", "Unset it."),
]


def shown(rows: list[Row], *, as_json: bool = False, secrets: tuple[str, ...] = ()) -> tuple[str, int]:
    out = io.StringIO()
    report = Report(out, secrets, as_json=as_json)
    for row in rows:
        report.add(row)
    status = report.finish()
    return out.getvalue(), status


def test_the_table_has_a_line_for_each_check_and_its_remedy_below() -> None:
    text, status = shown(ROWS)

    assert text.splitlines() == [
        "ok       Python                3.11.7",
        "warning  sign-in               Not logged in",
        "                               -> Sign in with it.",
        "failed   proxy                 HTTPS_PROXY is no URL",
        "                               -> Unset it.",
        "",
        "1 failed, 1 warning, 1 ok",
    ]
    assert status == 1
    assert "\x1b" not in text


def test_a_warning_alone_is_no_failure() -> None:
    assert shown(ROWS[:2])[1] == 0


def test_json_is_one_object() -> None:
    text, status = shown(ROWS, as_json=True)

    assert status == 1
    assert json.loads(text) == {
        "ok": False,
        "rows": [
            {"name": "Python", "status": "ok", "detail": "3.11.7"},
            {
                "name": "sign-in",
                "status": "warning",
                "detail": "Not logged in",
                "remedy": "Sign in with it.",
            },
            {"name": "proxy", "status": "failed", "detail": "HTTPS_PROXY is no URL", "remedy": "Unset it."},
        ],
    }
    assert json.loads(shown(ROWS[:2], as_json=True)[0])["ok"] is True


def test_a_row_is_one_line_of_bounded_length_without_control_characters() -> None:
    text, _ = shown([failed("x", "one\ntwo\x1b[31m\x07 \r\nthree" + "x" * 10_000, "do\nit")])

    first, second, *_ = text.splitlines()
    assert "one two [31m three" in first
    assert len(first) < 350
    assert second.endswith("-> do it")
    assert "\x1b" not in text


def test_an_output_that_knows_no_such_letter_gets_its_escape() -> None:
    buffer = io.BytesIO()
    out = io.TextIOWrapper(buffer, encoding="ascii")
    report = Report(out, (), as_json=False)
    report.add(ok("HOME", "/home/jürgen\udcff"))

    assert b"/home/j\\xfcrgen" in buffer.getvalue()


@pytest.mark.contract("CL-014")
@given(secret=st.text(min_size=4, max_size=40).filter(str.strip), before=st.text(), after=st.text())
def test_a_known_secret_is_in_no_row(secret: str, before: str, after: str) -> None:
    if secret in "[hidden]":
        return
    out = io.StringIO()
    report = Report(out, [secret], as_json=False)
    report.add(failed("x", f"{before}{secret}{after}", f"{after}{secret}"))

    (row,) = report.rows
    assert secret not in row.detail.replace("[hidden]", "\0")
    assert secret not in str(row.remedy).replace("[hidden]", "\0")


@pytest.mark.contract("CL-014")
@pytest.mark.parametrize(
    "text",
    ["http://user:MARK@host/", "https://MARK@host", "key sk-ant-api03-MARK_1", "Authorization: Bearer MARK"],
)
def test_what_looks_like_a_secret_is_hidden_unknown_too(text: str) -> None:
    assert "MARK" not in shown([failed("x", text, text)])[0]


def test_the_longest_secret_is_hidden_as_a_whole() -> None:
    assert shown([ok("x", "abcdefgh")], secrets=("abcd", "abcdefgh"))[0].split()[2] == "[hidden]"
