"""A receipt as a badge: the JSON that a shields.io endpoint badge is drawn from."""

from __future__ import annotations

import json

from resumption.contract.properties import CONTRACT
from resumption.contract.verdicts import Label, merge
from resumption.report.grid import lines
from resumption.report.marks import MARKS
from resumption.report.view import View

__all__ = ["badge"]

_COLOURS = {
    Label.VIOLATES: "red",
    Label.UNDOCUMENTED: "orange",
    Label.DIVERGENT: "yellow",
    Label.INCONCLUSIVE: "lightgrey",
    Label.NOT_RUN: "lightgrey",
    Label.HOLDS: "brightgreen",
    Label.VACUOUS: "lightgrey",
    Label.NOT_APPLICABLE: "lightgrey",
}


def badge(view: View) -> str:
    """The badge of a view's receipt: how many properties of the contract hold, and the worst of the others.

    A property holds if it holds on every line where it applies. Only if all nine do is the badge green.
    """
    labels = {
        column: merge(line.squares[column].label for line in lines(view.cells) if column in line.squares)
        for column in CONTRACT
    }
    holding = sum(label is Label.HOLDS for label in labels.values())
    worst = merge(labels.values())
    message = f"{holding} of {len(labels)} hold"
    if worst is not Label.HOLDS:
        count = sum(label is worst for label in labels.values())
        message += f", {count} {MARKS[worst].word}"
    colour = _COLOURS[worst] if worst is not Label.HOLDS or holding == len(labels) else "lightgrey"
    content = {"schemaVersion": 1, "label": "resume contract", "message": message, "color": colour}
    return json.dumps(content) + "\n"
