"""What stock LangGraph breaches holds under the guard, and nothing that held is lost: computed from committed receipts.

Nothing is run. `resumption audit` says of each of these receipts that its verdicts are what its histories say.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Label
from resumption.harness.probes import PROBES
from resumption.harness.receipts import Cell, Receipt, read_receipt
from resumption.harness.rejudging import silent_on
from resumption.report.marks import MARKS

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "results"
VERSIONS = ("1.2.9", "1.2.24")
BREACHES = frozenset({Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT})

INSTEAD = {"direct": "fork", "direct-inner": "fork", "input": "input-delivery-id"}
"""The guard's own form, for one that it can't make good: what tells a fork, or a repetition, is missing in the call."""

REFUSED = {
    (Property.FORK_DETERMINISM, "direct"),
    (Property.FORK_DETERMINISM, "direct-inner"),
    (Property.FORK_DETERMINISM, "replay"),
    (Property.FORK_INTENT, "direct"),
    (Property.FORK_INTENT, "direct-inner"),
    (Property.FORK_INTENT, "replay"),
    (Property.LIVENESS, "command"),
    (Property.LIVENESS, "command-checkpoint"),
}
"""What the guard refuses by design, though some of it does what is wanted on stock LangGraph."""

AS_STOCK = {
    (Property.TOPOLOGY_DRIFT, Facet.CELL),
    (Property.LOAD_VALIDITY, Facet.CELL),
    (Property.EFFECT_EXACTLY_ONCE, Facet.WINDOW),
}
"""What the guard leaves as LangGraph has it, in part at least, and says so; the window is the effect policy's."""

SHARED_IDS = ("1.2.9", Property.LOUD_ADDRESSING, "map")
"""There all questions of a task have one id, so that nothing tells an answer to the first from one to the second."""

NOT_COPIED = ("memory", Property.RECOVERY_DETERMINISM)
"""Measured of stock from copies of its saver in memory; what the guard keeps beside a saver isn't copied with it."""

Place = tuple[str, str, Property, Facet, str]


def places(receipt: Receipt) -> dict[Place, Cell]:
    return {(cell.path, cell.backend, cell.property, cell.facet, cell.form): cell for cell in receipt.cells}


def differences(stock: Receipt, guarded: Receipt) -> Iterator[str]:
    """Where the guard isn't what it is for: a breach that stays, a promise that is lost, a cell that isn't there."""
    under_guard = places(guarded)
    for place, before in places(stock).items():
        *where, form = place
        for name in {form, INSTEAD.get(form, form)}:
            after = under_guard.get((*where, name))  # type: ignore[arg-type]  # the place of the same cell
            if problem := _problem(before, after, name):
                yield f"{before.identity}: {problem}"
    for cell in guarded.cells:
        if cell.label in (Label.VIOLATES, Label.UNDOCUMENTED, Label.INCONCLUSIVE, Label.NOT_RUN):
            yield f"{cell.identity}: {cell.label} under the guard"


def _problem(before: Cell, after: Cell | None, form: str) -> str:
    if after is None:
        # The two orders of an unordered pair of writes: the guard stores both at once, so that there is none.
        return "" if before.facet is Facet.ORDER and before.label is Label.HOLDS else "not measured under the guard"
    expected = {before.label}
    if before.label in BREACHES or before.label is Label.HOLDS:
        expected = {Label.HOLDS}
    if before.label in BREACHES and form == "input":
        expected = {Label.DIVERGENT, Label.HOLDS, Label.VACUOUS}  # a new run, as it says: its other form counts
    if (before.backend, before.property) == NOT_COPIED:
        expected |= {Label.NOT_APPLICABLE}
    shared = (before.version, before.property, form) == SHARED_IDS
    if shared or (before.property, form) in REFUSED or (before.property, before.facet) in AS_STOCK:
        expected |= {Label.DIVERGENT}
    return "" if after.label in expected else f"{before.label} on stock, {after.label} under the guard"


def table(stock: Receipt, guarded: Receipt, path: str, backend: str) -> list[str]:
    """The cells whose label is another one under the guard, as the documentation shows them."""
    under_guard = places(guarded)
    rows: dict[tuple[str, str, str], list[str]] = {}
    for (*where, form), before in places(stock).items():
        if (before.path, before.backend, before.facet) != (path, backend, Facet.CELL):
            continue
        for name in dict.fromkeys((form, INSTEAD.get(form, form))):
            after = under_guard[(*where, name)].label  # type: ignore[index]  # the place of the same cell
            if after is not before.label:
                shown = (f"`{form}`" if form else "any") + (f" → `{name}`" if name != form else "")
                marks = MARKS[before.label].symbol, MARKS[after].symbol
                rows.setdefault((before.property, *marks), []).append(shown)
    return [f"| {name} | {', '.join(forms)} | {old} | {new} |" for (name, old, new), forms in rows.items()]


def committed(version: str) -> tuple[Receipt, Receipt]:
    names = f"langgraph-{version}.json", f"langgraph-guarded-{version}.json"
    return read_receipt(RESULTS / names[0]), read_receipt(RESULTS / names[1])


@pytest.fixture(scope="module", params=VERSIONS)
def pair(request: pytest.FixtureRequest) -> tuple[Receipt, Receipt]:
    return committed(request.param)


def test_both_sides_were_measured_by_every_probe_on_the_same_backends(pair: tuple[Receipt, Receipt]) -> None:
    stock, guarded = pair
    assert [silent_on(receipt, PROBES) for receipt in pair] == [(), ()]
    assert {(cell.path, cell.backend) for cell in stock.cells} == {(cell.path, cell.backend) for cell in guarded.cells}
    assert {cell.version for cell in stock.cells} == {cell.version for cell in guarded.cells}


def test_every_breach_of_stock_conforms_under_the_guard_and_nothing_is_lost(pair: tuple[Receipt, Receipt]) -> None:
    assert list(differences(*pair)) == []


def test_the_guard_has_something_to_make_good(pair: tuple[Receipt, Receipt]) -> None:
    broken = {cell.property for cell in pair[0].cells if cell.label in BREACHES and cell.primary}
    assert broken >= {
        Property.EFFECT_EXACTLY_ONCE,
        Property.FORK_DETERMINISM,
        Property.CHECKPOINT_VALIDITY,
        Property.CONSUME_ONCE_COUNT,
        Property.CONSUME_ONCE_EFFECTS,
        Property.LOUD_ADDRESSING,
    }


def test_what_is_refused_on_purpose_is_refused_and_stated(pair: tuple[Receipt, Receipt]) -> None:
    refused = [cell for cell in pair[1].cells if (cell.property, cell.form) in REFUSED]
    assert {cell.label for cell in refused} == {Label.DIVERGENT}
    assert all(cell.citations for cell in refused)


@pytest.mark.parametrize(
    ("form", "label"),
    [("bare", Label.VIOLATES), ("bare", Label.DIVERGENT), ("map", Label.INCONCLUSIVE), ("fork", Label.NOT_RUN)],
)
def test_a_cell_that_does_not_hold_is_told(pair: tuple[Receipt, Receipt], form: str, label: Label) -> None:
    stock, guarded = pair
    wanted = {"bare": Property.CONSUME_ONCE_COUNT, "map": Property.LIVENESS, "fork": Property.FORK_DETERMINISM}[form]
    spoiled = {
        cell.identity: replace(cell, label=label)
        for cell in guarded.cells
        if (cell.property, cell.form, cell.backend) == (wanted, form, "sqlite")
    }
    assert spoiled
    assert list(differences(stock, _with(guarded, spoiled)))


def test_a_cell_that_is_missing_is_told(pair: tuple[Receipt, Receipt]) -> None:
    stock, guarded = pair
    rest = tuple(cell for cell in guarded.cells if cell.property is not Property.CHECKPOINT_VALIDITY)
    assert "langgraph/graph/sqlite/CV: not measured under the guard" in list(
        differences(stock, replace(guarded, cells=rest))
    )


def _with(receipt: Receipt, changed: Mapping[str, Cell]) -> Receipt:
    return replace(receipt, cells=tuple(changed.get(cell.identity, cell) for cell in receipt.cells))


def test_the_documentation_shows_what_is_another_under_the_guard() -> None:
    rows = table(*committed("1.2.24"), "graph", "sqlite")
    page = (ROOT / "docs" / "guard.md").read_text(encoding="utf-8")
    assert rows
    assert "\n".join(rows) in page
