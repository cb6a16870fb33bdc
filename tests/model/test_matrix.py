"""The matrices are whole, and equal to what is published, cell by cell."""

from __future__ import annotations

import pytest

from resumption.model import matrix as matrices
from resumption.model.catalogue import MATRIX_BOUNDS, matrix_cells
from resumption.model.independence import IMPLIED, SPLIT_PROPERTIES, derive, gather
from resumption.model.matrix import MatrixKind, matrix
from resumption.model.published import FOOTPRINTS
from resumption.model.semantics import Bounds

CELLS = {
    MatrixKind.CONTRACT: 39,
    MatrixKind.SEPARATIONS: 21,
    MatrixKind.CONSUME: 32,
    MatrixKind.CONSUME_WIDE: 32,
    MatrixKind.PARKED_DURABLE: 39,
    MatrixKind.PARKED_VOLATILE: 39,
}


@pytest.mark.parametrize("kind", MatrixKind)
def test_every_cell_is_as_expected(kind: MatrixKind) -> None:
    found = matrix(kind)
    wrong = [(row.name, cell) for row in found.rows for cell in row.cells if not cell.agrees]
    assert wrong == []
    assert found.agrees
    assert found.cells == CELLS[kind]


@pytest.mark.slow
def test_every_cell_at_the_constants_of_r8_is_as_expected() -> None:
    found = matrix(MatrixKind.CONTRACT, large=True)
    assert found.agrees
    assert found.cells == 39
    assert {row.name: row.method for row in found.rows if row.method == "product"}.keys() == {
        "Replay",
        "PrefixReplay",
        "NondetRecovery",
    }


def test_each_separation_breaks_exactly_one_property() -> None:
    for row in matrix(MatrixKind.SEPARATIONS).rows:
        assert sum(cell.obtained is not None for cell in row.cells) == 1, row.name


def test_a_wrong_footprint_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "FOOTPRINTS", {**FOOTPRINTS, "ForkIgnore": {"FD": 6}})
    found = matrix(MatrixKind.CONTRACT)
    assert [row.name for row in found.rows if not row.agrees] == ["ForkIgnore"]


def test_a_wrong_size_of_a_space_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "SPACES", {"PrefixReplay": (287, 184)})
    assert not matrix(MatrixKind.CONTRACT).agrees


def test_only_the_contract_has_a_matrix_at_r8() -> None:
    with pytest.raises(ValueError, match="only the contract"):
        matrix(MatrixKind.SEPARATIONS, large=True)


def test_cell_names_are_unique() -> None:
    names = [run.name for run in matrix_cells()]
    assert len(names) == len(set(names)) == 39


# --- Proposition 2 ---


def test_every_pair_but_the_implied_one_has_a_witness() -> None:
    relations = derive(gather())
    assert len(relations) == len(SPLIT_PROPERTIES) * (len(SPLIT_PROPERTIES) - 1)
    assert {(r.premise, r.conclusion) for r in relations if r.witness is None} == set(IMPLIED)
    assert all(relation.decided for relation in relations)


def test_witnesses_keep_the_premise_and_break_the_conclusion() -> None:
    evidence = {each.system: each for each in gather()}
    for relation in derive(list(evidence.values())):
        if relation.witness:
            assert relation.premise in evidence[relation.witness].kept
            assert relation.conclusion in evidence[relation.witness].broken


@pytest.mark.parametrize(
    ("bounds", "unexercised"),
    [(Bounds(crashes=1), "RD"), (Bounds(crashes=2, resumes=1), "FD"), (Bounds(crashes=2, extras=0), "CO-e")],
)
def test_what_is_not_exercised_witnesses_nothing(bounds: Bounds, unexercised: str) -> None:
    evidence = gather(bounds)
    assert all(unexercised not in each.kept for each in evidence)
    assert any(unexercised in each.vacuous for each in evidence)
    witnesses = [relation.witness for relation in derive(evidence) if relation.premise == unexercised]
    assert set(witnesses) == {None}


def test_the_bounds_of_the_matrix_exercise_everything() -> None:
    assert [each.system for each in gather(MATRIX_BOUNDS) if each.vacuous] == []
