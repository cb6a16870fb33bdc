"""A receipt as SARIF 2.1.0: a rule for each property, a result for each breach, its story as a code flow.

A receipt knows no source file, yet code scanning wants a place: results stand at the receipt itself. What a result is
about is its logical location, and its fingerprint, which no version changes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

from resumption import __version__
from resumption.contract.properties import STATEMENTS, Property
from resumption.contract.verdicts import Facet, Finding, Label
from resumption.harness.receipts import Cell, Part
from resumption.report.grid import command
from resumption.report.legible import brief
from resumption.report.marks import MARKS
from resumption.report.outcomes import Outcome, outcome
from resumption.report.view import View

__all__ = ["sarif"]

_LONGEST = 1000  # characters of a text that others chose
_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_BREACHES = (Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT)
_Json = dict[str, Any]


def sarif(view: View, artifact: str) -> str:
    """The receipt of a view as SARIF. `artifact` is the path at which results stand: that of the receipt.

    A finding by the policy in force is an error, any other breach a note, and what could not be told a warning.
    """
    used = list(dict.fromkeys(cell.property for cell in view.cells))
    results = [result for cell in view.cells for result in _results(cell, view, used, artifact)]
    run: _Json = {
        "tool": {"driver": {"name": "resumption", "version": __version__, "rules": [_rule(item) for item in used]}},
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": True, "endTimeUtc": _utc(view.receipt.created)}],
        "results": results,
    }
    log = {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}
    return json.dumps(log, indent=1, ensure_ascii=False) + "\n"


def _rule(property_: Property) -> _Json:
    said = STATEMENTS[property_]
    return {
        "id": property_,
        "name": "".join(word.capitalize() for word in said.name.replace(",", "").replace("-", " ").split()),
        "shortDescription": {"text": f"{said.name}: {said.question}"},
        "fullDescription": {"text": said.statement},
        "help": {"text": f"{said.statement} Source: {said.source}. See `resumption explain {property_}`."},
    }


def _results(cell: Cell, view: View, rules: list[Property], artifact: str) -> Iterable[_Json]:
    for part in cell.parts:
        if part.label in _BREACHES:
            for number, finding in enumerate(part.findings, 1):
                level = "error" if outcome(cell, view) is Outcome.FAILED and part.label is cell.label else "note"
                yield _result(cell, part, rules, artifact, level, finding.summary, number) | _flow(finding, artifact)
        elif part.label in (Label.INCONCLUSIVE, Label.NOT_RUN):
            yield _result(cell, part, rules, artifact, "warning", part.reason, 1)


def _result(cell: Cell, part: Part, rules: list[Property], artifact: str, level: str, said: str, number: int) -> _Json:
    facet = f" {cell.facet}" if cell.facet is not Facet.CELL else ""
    where = "/".join(cell.identity.split("/")[:3])
    title = f"{cell.property}{facet} {MARKS[part.label].word} on {where}"
    text = f"{title}: {brief(said, _LONGEST)}. Again: {command(cell, part)}"
    result: _Json = {
        "ruleId": cell.property,
        "ruleIndex": rules.index(cell.property),
        "kind": "fail",
        "level": level,
        "message": {"text": brief(text, 4 * _LONGEST)},
        "locations": [_location(artifact, cell.identity)],
        "partialFingerprints": {"cell/v1": f"{cell.identity}:{part.probe}:{number}"},
    }
    if cell.accepted:
        justification = brief(cell.accepted, _LONGEST)
        result["suppressions"] = [{"kind": "external", "status": "accepted", "justification": justification}]
    return result


def _flow(finding: Finding, artifact: str) -> _Json:
    steps = [
        {
            "location": _location(artifact, f"#{step.number}") | {"message": {"text": brief(step.text, _LONGEST)}},
            "executionOrder": step.number,
        }
        for step in finding.story
    ]
    return {"codeFlows": [{"threadFlows": [{"locations": steps}]}]} if steps else {}


def _location(artifact: str, name: str) -> _Json:
    return {
        "physicalLocation": {"artifactLocation": {"uri": quote(artifact)}, "region": {"startLine": 1}},
        "logicalLocations": [{"fullyQualifiedName": brief(name, _LONGEST)}],
    }


def _utc(created: str) -> str:
    return created.removesuffix("+00:00") + "Z"
