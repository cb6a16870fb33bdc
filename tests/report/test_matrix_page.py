"""The page of the published matrix says what receipts say, and all of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Label, Measured
from resumption.errors import UnknownName
from resumption.harness.receipts import Cell, Part, Receipt
from resumption.planes.interface import Operation
from resumption.report.matrix_page import matrix_page

EO, FD = Property.EFFECT_EXACTLY_ONCE, Property.FORK_DETERMINISM


def cell(property_: Property, label: Label, **changes: Any) -> Cell:
    settings: dict[str, Any] = {
        "plane": "langgraph",
        "version": "1.2.9",
        "path": "graph",
        "backend": "sqlite",
        "operation": Operation.RECOVER,
        "form": "no-input",
        "measured": Measured.BREACHES,
        "strict": label,
        **changes,
    }
    part = Part(probe="p", trials=3, measured=Measured.BREACHES, label=label, histories=("h",))
    return Cell(property=property_, label=label, parts=(part,), **settings)


def receipt(*cells: Cell, **changes: Any) -> Receipt:
    return replace(
        Receipt(
            created="2026-11-30T10:00:00+00:00",
            host="h",
            platform="Linux-6.1-with-glibc2.36",
            python="3.11.7",
            pins={"langgraph-graph@1.2.9": {"langgraph": "1.2.9"}},
            cells=cells,
            histories={"h": ""},
        ),
        **changes,
    )


def section(page: str, title: str) -> str:
    """What stands below a heading, up to the next one of its level."""
    return page.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


OLD = receipt(
    cell(EO, Label.DIVERGENT, strict=Label.VIOLATES, citations=("eo-before-interrupt",)),
    cell(EO, Label.UNDOCUMENTED, facet=Facet.WINDOW),
    cell(FD, Label.VIOLATES, operation=Operation.FORK, form="direct"),
    cell(FD, Label.HOLDS, operation=Operation.FORK, form="two-call", primary=False),
    cell(EO, Label.HOLDS, path="subgraph"),
    cell(FD, Label.NOT_APPLICABLE, path="subgraph", operation=Operation.FORK, form="direct"),
)
NEW = receipt(cell(FD, Label.HOLDS, version="1.2.24", operation=Operation.FORK, form="direct"))
PAGE = matrix_page({"old.json": OLD, "new.json": NEW})


def test_each_release_stands_in_the_matrix_that_it_belongs_to() -> None:
    paper = section(PAGE, "At the releases that the paper measured")
    newest = section(PAGE, "At the newest releases")
    assert "| langgraph 1.2.9 graph sqlite |  | D (U) | ✗ |" in paper
    assert "| langgraph 1.2.24 graph sqlite |  |  | ✓ |" in newest
    assert "1.2.24" not in paper
    assert "1.2.9 " not in newest


def test_what_tells_two_planes_apart_is_derived() -> None:
    told = section(PAGE, "What tells two planes apart")
    assert "| 1 | langgraph 1.2.9 graph sqlite | · | EO (FD) |" in told
    assert "| 2 | langgraph 1.2.9 subgraph sqlite | EO (FD) | · |" in told


def test_cells_that_the_strict_rule_moves_are_listed_and_no_others() -> None:
    rows = [line for line in section(PAGE, "The strict rule").splitlines() if "langgraph" in line]
    assert rows == ["| langgraph 1.2.9 graph sqlite | EO | no-input | divergent | violates |"]


def test_statements_that_labels_rest_on_are_quoted() -> None:
    stated = section(PAGE, "What frameworks state of themselves")
    assert "EO admits less: “Because interrupts work by re-running the nodes" in stated
    assert stated.count("\n- ") == 1


def test_each_receipt_is_named_with_what_it_was_made_of() -> None:
    rows = [line for line in section(PAGE, "Where it comes from").splitlines() if ".json" in line]
    assert [row.rsplit("|", 2)[0] for row in rows] == [
        "| [old.json](../results/old.json) | 2026-11-30 | 3.11.7 | Linux | 1 | 15 | 1 ",
        "| [new.json](../results/new.json) | 2026-11-30 | 3.11.7 | Linux | 1 | 3 | 1 ",
    ]


def test_a_changed_verdict_changes_the_page() -> None:
    assert matrix_page({"old.json": receipt(cell(EO, Label.HOLDS))}) != PAGE


def test_a_receipt_of_a_plane_that_is_not_known_here_is_refused() -> None:
    with pytest.raises(UnknownName, match="elsewhere"):
        matrix_page({"old.json": receipt(cell(EO, Label.HOLDS, path="elsewhere"))})
