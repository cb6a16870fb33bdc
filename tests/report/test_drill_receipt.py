"""What reports say of a drill: a user's own program, compared with a run without faults."""

from __future__ import annotations

from dataclasses import replace

from receipts import cell, crashed, receipt, told

from resumption.contract.verdicts import Label
from resumption.harness.drill.findings import Breach
from resumption.harness.policy import ExitCode, Policy
from resumption.harness.receipts import Cell, Receipt
from resumption.report.drill import ADVICE, advice
from resumption.report.html import html_page
from resumption.report.junit import junit
from resumption.report.markdown import markdown
from resumption.report.view import View


def _drilled(measured: Cell) -> Cell:
    parts = tuple(replace(part, probe="drill/crash") for part in measured.parts)
    return replace(measured, plane="shop:graph", version="1.2.24", path="stock", parts=parts)


def _receipt() -> Receipt:
    history = crashed()
    breach = cell(label=Label.VIOLATES, findings=(told(history),), histories=("story",), form="map")
    return receipt(_drilled(breach), _drilled(cell(label=Label.HOLDS, form="bare", primary=False)), story=history)


def _view(made: Receipt) -> View:
    return View(receipt=made, policy=Policy(), code=ExitCode.FINDINGS)


def test_the_page_names_the_program_and_gives_the_version_to_the_framework() -> None:
    assert "What “resume” means for shop:graph on langgraph 1.2.24</h1>" in html_page(_view(_receipt()))


def test_the_page_of_a_drill_speaks_of_a_run_without_faults_and_not_of_statements() -> None:
    page = html_page(_view(_receipt()))
    assert "1 of 1 cells are breaches: there the program did otherwise than in a run without faults." in page
    assert "what the framework states" not in page
    plane = html_page(_view(receipt(cell(label=Label.VIOLATES))))
    assert "contradict what the framework states" in plane
    assert "in a run without faults" not in plane
    assert "did otherwise than in a run without faults" in markdown(_view(_receipt()))


def test_what_a_drill_found_is_run_again_by_replay() -> None:
    page = html_page(_view(_receipt()))
    assert page.count("<code>resumption replay RECEIPT</code>") == 1
    assert "resumption check" not in page
    assert "again: resumption replay RECEIPT" in junit(_view(_receipt()))


def test_a_guarded_program_is_not_advised_to_do_what_it_does_already() -> None:
    assert "guard the graph" in advice(Breach.FIRES_AGAIN, guarded=False)
    assert "guard the graph" not in advice(Breach.FIRES_AGAIN, guarded=True)
    assert "Give @effect a key" in advice(Breach.FIRES_AGAIN, guarded=True)
    assert advice(Breach.LOST, guarded=True) == ADVICE[Breach.LOST]
