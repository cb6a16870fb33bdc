"""Every published count, depth and verdict comes out exactly."""

from __future__ import annotations

import pytest

from resumption.model.catalogue import INDUCTION_BOUNDS, named_runs
from resumption.model.checking import check, needs_numpy
from resumption.model.published import FIGURES, Figure
from resumption.model.results import Engine, Result, deviations, disagreements
from resumption.model.semantics import Bounds

RUNS = named_runs()


def test_every_run_has_a_figure_and_every_figure_a_run() -> None:
    assert set(RUNS) == set(FIGURES)


@pytest.mark.parametrize("name", [name for name in RUNS if name != "R8"])
def test_run_gives_the_published_figure(name: str) -> None:
    assert deviations(check(RUNS[name]), FIGURES[name]) == []


@pytest.mark.slow
def test_r8_gives_the_published_figure() -> None:
    assert deviations(check(RUNS["R8"]), FIGURES["R8"]) == []


def test_large_runs_alone_need_numpy() -> None:
    assert [name for name, run in RUNS.items() if needs_numpy(run)] == ["R8", "R8-F", "R8-D"]


@pytest.mark.parametrize(
    ("figure", "word"),
    [
        (Figure(88, 59, 8), "generated"),
        (Figure(87, 60, 8), "distinct"),
        (Figure(87, 59, 9), "depth"),
        (Figure(87, 59, 8, "EO"), "EO"),
    ],
)
def test_a_wrong_figure_deviates(figure: Figure, word: str) -> None:
    (deviation,) = deviations(check(RUNS["R0"]), figure)
    assert word in deviation


def test_checkers_disagree_on_a_verdict_even_where_counts_are_unknown() -> None:
    plain = Result("R0", Engine.SEARCH, 87, 59, 8, None, 0.0)
    other = Result("R0", Engine.TLC, None, None, None, "EO", 0.0)
    assert disagreements(plain, other) == ["R0: broken None by search, EO by TLC"]
    assert disagreements(plain, plain) == []


def test_each_bound_varies_between_the_constants_of_the_inductive_check() -> None:
    for name in Bounds.__slots__:
        assert len({getattr(bounds, name) for bounds in INDUCTION_BOUNDS}) > 1, name


@pytest.mark.parametrize(
    "wrong", [{"gate": 4}, {"gate": 0}, {"values": 0}, {"resumes": 0}, {"crashes": -1}, {"extras": -1}]
)
def test_senseless_bounds_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ValueError, match=r"gate|budget"):
        Bounds(**wrong)
