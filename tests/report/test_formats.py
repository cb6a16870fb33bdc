"""The formats for tools: each can be read by what reads it, and no breach looks like a pass in any."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from jsonschema import Draft4Validator, FormatChecker
from receipts import HOSTILE, cell, crashed, told, view

from resumption.contract.properties import CONTRACT, Property
from resumption.contract.verdicts import Facet, Finding, Label, Step
from resumption.harness.policy import FailOn
from resumption.report.badge import badge
from resumption.report.github import github_annotations
from resumption.report.junit import junit
from resumption.report.markdown import markdown
from resumption.report.sarif import sarif

# The OASIS schema of SARIF 2.1.0, errata 01: github.com/oasis-tcs/sarif-spec, sarif-2.1/schema, commit e058381.
_SCHEMA = json.loads((Path(__file__).parent / "sarif-schema-2.1.0.json").read_text(encoding="utf-8"))
_STORY = told(crashed())
_EVIL = Finding(HOSTILE, told(crashed(HOSTILE)).story)
_CELLS = (
    cell(Property.CONSUME_ONCE_EFFECTS, Label.VIOLATES, findings=(_STORY,), form="bare"),
    cell(Property.CONSUME_ONCE_COUNT, Label.UNDOCUMENTED, findings=(_EVIL,), form="map", primary=False),
    cell(Property.EFFECT_EXACTLY_ONCE, Label.DIVERGENT, findings=(_STORY,), facet=Facet.WINDOW),
    cell(Property.EFFECT_EXACTLY_ONCE, Label.HOLDS),
    cell(Property.FORK_DETERMINISM, Label.VIOLATES, findings=(_STORY,), accepted=HOSTILE),
    cell(Property.LIVENESS, Label.INCONCLUSIVE, reason=HOSTILE),
    cell(Property.RECOVERY_DETERMINISM, Label.NOT_RUN, reason="No database here."),
    cell(Property.FORK_INTENT, Label.VACUOUS, reason="Nothing forked."),
    cell(Property.PREFIX_CONTINUATION, Label.NOT_APPLICABLE, reason="It keeps nothing."),
)


def _outcomes(fail_on: FailOn = FailOn.VIOLATION) -> dict[str, str]:
    root = ElementTree.fromstring(junit(view(*_CELLS, fail_on=fail_on)).encode())
    return {
        case.get("name", "").split()[0] + (" window" if "window" in case.get("name", "") else ""): case[0].tag
        if len(case)
        else "passed"
        for case in root.iter("testcase")
    }


def test_junit_knows_findings_from_what_could_not_be_told_and_what_says_nothing() -> None:
    assert _outcomes() == {
        "PC": "skipped",
        "EO": "passed",
        "EO window": "skipped",
        "FD": "skipped",
        "CO-c": "skipped",
        "CO-e": "failure",
        "RD": "error",
        "FI": "skipped",
        "LV": "error",
    }


def test_junit_fails_what_the_policy_counts() -> None:
    assert _outcomes(FailOn.BREACH)["CO-c"] == "failure"
    assert _outcomes(FailOn.NEVER)["CO-e"] == "skipped"


def test_junit_counts_what_it_holds_and_tells_the_story() -> None:
    root = ElementTree.fromstring(junit(view(*_CELLS)).encode())
    assert {key: root.get(key) for key in ("tests", "failures", "errors", "skipped")} == {
        "tests": str(len(_CELLS)),
        "failures": "1",
        "errors": "2",
        "skipped": "5",
    }
    failure = root.find(".//failure")
    assert failure is not None
    assert failure.get("message") == "violates: effect `charge` fired twice"
    assert _STORY.story[0].text in str(failure.text)
    assert "resumption check 'frame/graph[sqlite]@1.2.3' --probe consume/" in str(failure.text)


def test_sarif_is_valid() -> None:
    log = json.loads(sarif(view(*_CELLS), "results/a receipt.json"))
    assert list(Draft4Validator(_SCHEMA, format_checker=FormatChecker()).iter_errors(log)) == []


def test_the_schema_refuses_what_is_no_sarif() -> None:
    log = json.loads(sarif(view(*_CELLS), "receipt.json"))
    log["runs"][0]["results"][0]["level"] = "fatal"
    assert list(Draft4Validator(_SCHEMA).iter_errors(log))


def test_sarif_has_a_result_for_each_breach_with_its_story_and_a_lasting_fingerprint() -> None:
    (run,) = json.loads(sarif(view(*_CELLS), "results/a receipt.json"))["runs"]
    levels = {(result["ruleId"], result["level"]) for result in run["results"]}
    assert levels == {
        ("CO-e", "error"),
        ("CO-c", "note"),
        ("EO", "note"),
        ("FD", "note"),
        ("LV", "warning"),
        ("RD", "warning"),
    }
    first = next(result for result in run["results"] if result["ruleId"] == "CO-e")
    steps = first["codeFlows"][0]["threadFlows"][0]["locations"]
    assert [step["executionOrder"] for step in steps] == [step.number for step in _STORY.story]
    place = first["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "results/a%20receipt.json"
    assert "1.2.3" not in json.dumps(first["partialFingerprints"])
    assert next(result for result in run["results"] if result["ruleId"] == "FD")["suppressions"]


def test_an_annotation_is_one_line_and_the_worst_comes_first() -> None:
    lines = github_annotations(view(*_CELLS)).splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", *["::warning"] * 2, *["::notice"] * 3]
    assert lines[0] == (
        "::error title=CO-e violates%3A consume-once%2C effects::"
        "On frame graph sqlite; bare: effect `charge` fired twice"
    )
    assert all(line.startswith("::") for line in lines)
    assert "%250A" in next(line for line in lines if "CO-c" in line), "a percent sign that was recorded stays one"


def test_markdown_has_the_matrix_and_the_stories() -> None:
    text = markdown(view(*_CELLS))
    row = next(line for line in text.splitlines() if line.startswith("| frame"))
    assert [part.strip() for part in row.strip("|").split("|")] == [
        "frame 1.2.3 graph sqlite",
        "– not applicable",
        "✓ holds (D)",
        "✗ violates\\*",
        "",
        "? inconclusive",
        "✗ violates",
        "· not run",
        "∅ vacuous",
        "? inconclusive",
    ]
    assert f"#{_STORY.story[0].number:<4} {_STORY.story[0].text}" in text
    assert "No database here." in text


def test_nothing_recorded_becomes_markup_in_markdown() -> None:
    text = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", markdown(view(*_CELLS)), flags=re.MULTILINE | re.DOTALL)
    assert "```" not in text.replace("\\`", ""), "outside blocks, nothing opens another one"
    assert "<script" not in text
    assert "<img" not in text
    assert "\u202e" not in text


def test_a_story_cannot_end_the_block_that_it_is_told_in() -> None:
    ends = Finding("it fired", (Step(1, "said ```` and more"),))
    text = markdown(view(cell(label=Label.VIOLATES, findings=(ends,))))
    assert "`````text\n#1    said ```` and more\n`````\n" in text


@pytest.mark.parametrize(
    ("labels", "message", "colour"),
    [
        ([Label.HOLDS] * 9, "9 of 9 hold", "brightgreen"),
        ([Label.HOLDS] * 8 + [Label.VIOLATES], "8 of 9 hold, 1 violates", "red"),
        ([Label.HOLDS] * 8 + [Label.UNDOCUMENTED], "8 of 9 hold, 1 undocumented", "orange"),
        ([Label.HOLDS] * 8 + [Label.VACUOUS], "8 of 9 hold", "lightgrey"),
        ([Label.HOLDS] * 8 + [Label.INCONCLUSIVE], "8 of 9 hold, 1 inconclusive", "lightgrey"),
        ([Label.HOLDS] * 2, "2 of 9 hold, 7 inconclusive", "lightgrey"),
        ([], "0 of 9 hold, 9 inconclusive", "lightgrey"),
    ],
)
def test_a_badge_is_green_only_if_all_nine_hold(labels: list[Label], message: str, colour: str) -> None:
    cells = [cell(property_, label) for property_, label in zip(CONTRACT, labels, strict=False)]
    shown = json.loads(badge(view(*cells)))
    assert shown == {"schemaVersion": 1, "label": "resume contract", "message": message, "color": colour}
