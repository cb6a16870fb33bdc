"""Backends are compared cell by cell and probe by probe, on nothing but verdicts."""

from __future__ import annotations

from dataclasses import replace

from resumption.contract.properties import Property
from resumption.contract.verdicts import Label, Measured
from resumption.harness.invariance import backend_invariance
from resumption.harness.receipts import Cell, Part


def _cell(backend: str, **said: Label) -> Cell:
    parts = tuple(Part(probe=probe, trials=1, measured=Measured.CONFORMS, label=label) for probe, label in said.items())
    return Cell(
        plane="p",
        version="1",
        path="run",
        backend=backend,
        property=Property.FORK_DETERMINISM,
        measured=Measured.CONFORMS,
        label=Label.HOLDS,
        strict=Label.HOLDS,
        parts=parts,
    )


def test_a_cell_that_says_the_same_on_every_backend_is_invariant() -> None:
    found = backend_invariance([_cell("memory", fork=Label.VIOLATES), _cell("sqlite", fork=Label.VIOLATES)])
    assert (found.compared, found.varying) == (1, 0)


def test_a_probe_that_says_otherwise_on_one_backend_is_told_with_the_cell() -> None:
    found = backend_invariance(
        [
            _cell("memory", fork=Label.HOLDS, copy=Label.HOLDS),
            _cell("sqlite", fork=Label.VIOLATES, copy=Label.HOLDS),
        ]
    )
    assert (found.compared, found.varying) == (1, 1)
    (variance,) = found.variances
    assert variance.cell == "p/run/*/FD@1"
    assert variance.probe == "fork"
    assert variance.labels == {"memory": Label.HOLDS, "sqlite": Label.VIOLATES}


def test_what_says_nothing_of_the_plane_is_not_compared() -> None:
    nothing = (Label.NOT_APPLICABLE, Label.NOT_RUN, Label.VACUOUS, Label.INCONCLUSIVE)
    for label in nothing:
        assert backend_invariance([_cell("memory", fork=label), _cell("sqlite", fork=Label.VIOLATES)]).compared == 0


def test_releases_are_compared_each_with_itself() -> None:
    newer = replace(_cell("sqlite", fork=Label.HOLDS), version="2")
    assert backend_invariance([_cell("memory", fork=Label.VIOLATES), newer]).compared == 0
