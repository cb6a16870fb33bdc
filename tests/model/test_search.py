"""The plain checker counts, stops and judges liveness as it says, shown on machines small enough to see through."""

from __future__ import annotations

import pytest

from resumption.model.machine import Machine
from resumption.model.search import eventually_completes, search, survey


def graph(edges: dict[int, list[int]], completed: set[int]) -> Machine[int]:
    return Machine(
        initial=(0,),
        actions={"Go": lambda state: edges.get(state, [])},
        invariants={"below three": lambda state: state < 3, "below two": lambda state: state < 2},
        completed=lambda state: state in completed,
    )


DIAMOND = graph({0: [1, 2], 1: [3], 2: [3]}, {3})


def test_whole_space_is_counted_with_duplicates_generated_and_not_distinct() -> None:
    outcome = search(DIAMOND, [])
    assert (outcome.generated, outcome.distinct, outcome.depth, outcome.violation) == (5, 4, 3, None)


def test_search_stops_at_the_violating_state_with_a_shortest_trace() -> None:
    outcome = search(DIAMOND, ["below three"])
    assert outcome.violation is not None
    assert [step.state for step in outcome.violation.steps] == [1, 3]
    assert (outcome.violation.start, outcome.violation.depth, outcome.generated) == (0, 3, 4)


def test_an_initial_state_can_be_the_violation() -> None:
    bad = Machine((5,), {}, {"below three": lambda state: state < 3}, lambda _: True)
    outcome = search(bad, ["below three"])
    assert outcome.violation is not None
    assert outcome.violation.depth == 1


def test_an_unknown_claim_is_an_error_and_not_a_pass() -> None:
    with pytest.raises(KeyError):
        search(DIAMOND, ["no such claim"])


def test_survey_goes_on_behind_violations_and_notes_each_at_its_depth() -> None:
    surveyed = survey(DIAMOND, DIAMOND.invariants)
    assert surveyed.broken == {"below two": 2, "below three": 3}
    assert (surveyed.generated, surveyed.distinct, surveyed.depth) == (5, 4, 3)


def test_liveness_holds_where_every_path_completes() -> None:
    assert eventually_completes(DIAMOND) is None


def test_a_shortest_dead_end_refutes_liveness() -> None:
    violation = eventually_completes(graph({0: [1, 4], 1: [2], 4: [3]}, {3}))
    assert violation is not None
    assert [step.state for step in violation.steps] == [1, 2]


def test_a_cycle_refutes_liveness_and_the_trace_closes_it() -> None:
    violation = eventually_completes(graph({0: [1], 1: [2, 3], 2: [1]}, {3}))
    assert violation is not None
    assert [step.state for step in violation.steps] == [1, 2, 1]


def test_what_happens_after_completion_is_no_matter_for_liveness() -> None:
    assert eventually_completes(graph({0: [3], 3: [4], 4: [4]}, {3, 4})) is None
