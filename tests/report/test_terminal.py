"""The terminal report: everything that a receipt says is there, in any terminal, without colour."""

from __future__ import annotations

import io
from datetime import date

import pytest
from rich.console import Console

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet, Finding, Label, Measured, Step
from resumption.harness.comparison import Drift
from resumption.harness.policy import ExitCode, FailOn, Policy
from resumption.harness.receipts import Cell, Part, new_receipt
from resumption.planes.interface import Operation
from resumption.planes.statements import Bears, Citation
from resumption.report.marks import MARKS
from resumption.report.terminal import print_report
from resumption.report.text import report_console
from resumption.report.view import View

_STORY = Finding("the gate fired twice", (Step(3, "it fired"), Step(9, "it fired again")))
_OTHER = Finding("the gate fired three times", (Step(4, "it fired"),))
_PROMISE = Citation(
    id="once",
    bears=Bears.PROMISE,
    text="It fires once. " * 20,
    place="https://example.org/" + "page/" * 30,
    versions=">=1.0",
    read=date(2026, 1, 2),
    property=Property.EFFECT_EXACTLY_ONCE,
)


def _cell(
    property_: Property,
    label: Label,
    *,
    form: str = "",
    primary: bool = True,
    facet: Facet = Facet.CELL,
    findings: tuple[Finding, ...] = (),
    reason: str = "",
    note: str = "",
    strict: Label | None = None,
    accepted: str = "",
) -> Cell:
    measured = Measured.BREACHES if findings else Measured.CONFORMS
    part = Part(
        probe="crash/exception", trials=1, measured=measured, label=label, findings=findings, reason=reason, note=note
    )
    return Cell(
        plane="frame",
        version="1.2.3",
        path="graph",
        backend="sqlite",
        property=property_,
        facet=facet,
        operation=Operation.RECOVER if form else None,
        form=form,
        primary=primary,
        measured=measured,
        label=label,
        strict=strict or label,
        citations=("once",) if findings else (),
        parts=(part,),
        accepted=accepted,
    )


_CELLS = (
    _cell(Property.PREFIX_CONTINUATION, Label.HOLDS),
    _cell(Property.EFFECT_EXACTLY_ONCE, Label.HOLDS, form="no-input"),
    _cell(Property.EFFECT_EXACTLY_ONCE, Label.VIOLATES, form="input", primary=False, findings=(_STORY, _OTHER)),
    _cell(
        Property.EFFECT_EXACTLY_ONCE,
        Label.DIVERGENT,
        form="no-input",
        facet=Facet.WINDOW,
        findings=(_OTHER,),
        strict=Label.VIOLATES,
    ),
    _cell(Property.RECOVERY_DETERMINISM, Label.NOT_APPLICABLE, reason="Nothing outlives the process."),
    _cell(Property.LIVENESS, Label.INCONCLUSIVE, reason="The worker was lost.", accepted="known since spring"),
    _cell(Property.CONSUME_ONCE_COUNT, Label.HOLDS, note="the gate's effect fired 1 of 2 times"),
    _cell(Property.READ_INERTNESS, Label.HOLDS),
)


def _printed(
    *cells: Cell,
    policy: Policy | None = None,
    drifts: tuple[Drift, ...] | None = None,
    verbose: bool = False,
    width: int = 100,
    encoding: str = "utf-8",
) -> str:
    output = io.TextIOWrapper(io.BytesIO(), encoding=encoding, errors="replace")
    console = Console(file=output, width=width, highlight=False, emoji=False, markup=False)
    view = View(
        receipt=new_receipt(cells, {}, {}),
        policy=policy or Policy(),
        code=ExitCode.FINDINGS,
        citations={"frame": (_PROMISE,)},
        drifts=drifts,
        verbose=verbose,
    )
    print_report(view, console)
    output.flush()
    output.seek(0)
    return output.read()


def test_the_matrix_has_the_primary_forms_with_the_window_beside_them() -> None:
    printed = _printed(*_CELLS)
    assert printed.splitlines()[0].split() == ["plane", "PC", "EO", "FD", "CV", "CO-c", "CO-e", "RD", "FI", "LV"]
    row = [line for line in printed.splitlines() if line.startswith(" frame 1.2.3 graph sqlite")]
    assert row[0].split()[4:] == ["✓", "✓", "(D)", "✓", "–", "?*"]
    assert row[1].split()[4:] == ["✓"], "the obligations have a table of their own"


def test_forms_that_differ_stand_side_by_side_with_the_primary_one_first() -> None:
    assert "EO         recovery  ✓ no-input   ✗ input" in _printed(*_CELLS)


def test_forms_that_agree_are_not_listed() -> None:
    assert "Where resume forms differ" not in _printed(_cell(Property.EFFECT_EXACTLY_ONCE, Label.HOLDS, form="x"))


def test_one_story_is_told_of_a_cell_unless_all_are_asked_for() -> None:
    brief, full = _printed(*_CELLS), _printed(*_CELLS, verbose=True)
    violation = brief.split("✗ EO violates")[1].split("EO window")[0]
    assert "#3    it fired" in violation
    assert "#9    it fired again" in violation
    assert "three times" not in violation
    assert "three times" in full.split("✗ EO violates")[1].split("EO window")[0]


def test_a_statement_is_quoted_once_with_its_place_and_day() -> None:
    printed = " ".join(_printed(*_CELLS).split())
    assert printed.count("“It fires once.") == 1
    assert "read 2026-01-02" in printed


def test_reasons_races_and_acceptances_are_told() -> None:
    printed = " ".join(_printed(*_CELLS).split())
    assert "– not applicable: RD on frame graph sqlite. Nothing outlives the process." in printed
    assert "? inconclusive: LV on frame graph sqlite. The worker was lost." in printed
    assert "the gate's effect fired 1 of 2 times (frame graph sqlite)" in printed
    assert "frame/graph/sqlite/LV inconclusive, accepted because: known since spring" in printed


def test_the_strict_rule_shows_its_labels_and_what_it_moves() -> None:
    printed = " ".join(_printed(*_CELLS, policy=Policy(strict=True)).split())
    assert "✓ ✓ (✗) ✓" in printed
    assert "frame/graph/sqlite/EO/recover/no-input/window divergent to violates" in printed


def test_drift_is_told_by_cell_and_probe() -> None:
    drifts = (
        Drift("a/b/c/EO", "crash/exception", Label.HOLDS, Label.VIOLATES),
        Drift("a/b/c/PC", "crash/exception", None, Label.HOLDS),
        Drift("a/b/c/LV", "crash/exception", Label.DIVERGENT, None),
    )
    printed = " ".join(_printed(*_CELLS, policy=Policy(FailOn.DRIFT), drifts=drifts).split())
    assert "a/b/c/EO crash/exception holds to violates" in printed
    assert "a/b/c/PC crash/exception: new, holds" in printed
    assert "a/b/c/LV crash/exception: gone, was divergent" in printed
    assert "nothing changed" in _printed(*_CELLS, drifts=())
    assert "baseline" not in _printed(*_CELLS)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_text_fits_the_terminal_and_no_line_ends_in_blanks(width: int) -> None:
    lines = _printed(*_CELLS, width=width, verbose=True).splitlines()
    text = lines[2:]  # the matrix itself isn't wrapped
    assert [line for line in text if len(line) > width and not line.startswith((" plane ", " frame 1.2.3"))] == []
    assert [line for line in lines if line != line.rstrip()] == []


def test_a_report_fits_a_hundred_columns() -> None:
    assert max(map(len, _printed(*_CELLS, verbose=True).splitlines())) <= 100


def test_a_terminal_without_the_symbols_gets_letters() -> None:
    printed = _printed(*_CELLS, encoding="ascii")
    assert "+      + (D)" in printed
    assert " X   violates" in printed


def test_every_label_has_a_mark_of_its_own() -> None:
    assert list(MARKS) == list(Label)
    for letters in ([mark.symbol for mark in MARKS.values()], [mark.plain for mark in MARKS.values()]):
        assert len(set(letters)) == len(letters)
        assert all(len(letter) == 1 for letter in letters)
    assert all(mark.plain.isascii() for mark in MARKS.values())


def test_what_a_terminal_would_obey_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    report_console().print("before\x1b[2Jafter\x07", soft_wrap=True)
    printed = capsys.readouterr().out
    assert printed.startswith("before")
    assert "\x1b[2J" not in printed
    assert "\x07" not in printed
