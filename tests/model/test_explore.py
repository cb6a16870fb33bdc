"""The packed checker is the plain one in another representation."""

from __future__ import annotations

import numpy as np
import pytest

from resumption.model import explore as packed
from resumption.model.catalogue import CONJUNCTION, R8_BOUNDS
from resumption.model.explore import explore
from resumption.model.packing import Columns, decode, initial_columns, layout_for
from resumption.model.projection import NotIndependent, project
from resumption.model.published import SPACES_AT_R8
from resumption.model.search import eventually_completes, survey
from resumption.model.semantics import Bounds, Fault, Faults, initial_state, resume_contract, type_ok
from resumption.model.vectors import actions_for, claims_for

BOUNDS = [
    Bounds(),
    Bounds(crashes=2),
    Bounds(tasks=4, gate=1, values=2, resumes=3, crashes=2, extras=2),
    Bounds(tasks=3, gate=3, values=1, resumes=1, crashes=3, extras=0),
    Bounds(tasks=1, gate=1, values=2, resumes=2, crashes=1, extras=1),
    Bounds(tasks=4, gate=2, values=2, resumes=2, crashes=0, extras=1),
]
FAULTS: list[Faults] = [
    frozenset(),
    *(frozenset({fault}) for fault in Fault),
    frozenset({Fault.INVALID_PERSIST, Fault.REPLAY}),
    frozenset({Fault.NONDET_RECOVERY, Fault.DOUBLE_CONSUME}),
]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: "+".join(sorted(faults)) or "none")
def test_packed_and_plain_search_agree_on_everything(bounds: Bounds, faults: Faults) -> None:
    machine = resume_contract(bounds, faults)
    plain = survey(machine, {claim: machine.invariants[claim] for claim in CONJUNCTION})
    explored = explore(bounds, faults, stop=False)
    assert (explored.generated, explored.distinct, explored.depth) == (plain.generated, plain.distinct, plain.depth)
    assert explored.broken == plain.broken
    assert explored.always_completes == (eventually_completes(machine) is None)


@pytest.mark.parametrize("faults", FAULTS, ids=lambda faults: "+".join(sorted(faults)) or "none")
def test_decoding_is_one_to_one_onto_the_reachable_states(faults: Faults) -> None:
    bounds = Bounds(crashes=2)
    machine = resume_contract(bounds, faults)
    level, decoded = initial_columns(bounds), set()
    reachable, frontier = {initial_state(bounds)}, [initial_state(bounds)]
    while frontier:
        frontier = [step.state for state in frontier for step in machine.steps(state) if step.state not in reachable]
        reachable.update(frontier)
    columns = 0
    while len(level):
        columns += len(level)
        decoded |= {decode(bounds, faults, level, column) for column in range(len(level))}
        parts, _ = packed.expand(actions_for(bounds, faults), level)
        level = Columns(level.layout, packed.distinct_columns(level.layout.words, [part.words for part in parts]))
    assert decoded == reachable
    assert columns == len(decoded)


@pytest.mark.parametrize(("fault", "claim", "depth"), [("ForkIgnore", "FD", 8), ("DoubleConsume", "CO", 13)])
def test_counterexamples_at_r8_are_minimal_and_true(fault: str, claim: str, depth: int) -> None:
    faults = frozenset({Fault(fault)})
    violation = explore(R8_BOUNDS, faults, [claim]).violation
    assert violation is not None
    assert violation.depth == depth
    machine, state = resume_contract(R8_BOUNDS, faults), violation.start
    assert state == initial_state(R8_BOUNDS)
    for step in violation.steps:
        assert step in list(machine.steps(state))
        assert machine.invariants[claim](state)
        state = step.state
    assert not machine.invariants[claim](state)


def test_duplicates_are_removed_also_where_every_hash_collides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed, "_mix", lambda rows: np.zeros(len(rows), dtype=np.uint64))
    explored = explore(Bounds(), frozenset())
    assert (explored.generated, explored.distinct) == (87, 59)


def test_a_value_that_does_not_fit_raises_instead_of_spilling() -> None:
    states = initial_columns(Bounds())
    with pytest.raises(OverflowError, match="extras"):
        states.add("extras", 2)
    with pytest.raises(OverflowError, match="effects"):
        states.add("effects", 1, entry=3)


def test_bounds_beyond_the_words_are_refused() -> None:
    with pytest.raises(ValueError, match="effects needs"):
        layout_for(Bounds(tasks=40, gate=1))


@pytest.mark.parametrize(
    ("variable", "wrong"),
    [("pc", 0), ("pc", 5), ("durable", 4), ("consumed", 3), ("forks", 1), ("crashes", 1), ("runs", 1), ("pc", 7)],
)
def test_packed_type_ok_refuses_what_is_outside_of_its_type(variable: str, wrong: int) -> None:
    bounds = Bounds()
    states = initial_columns(bounds)
    assert claims_for(bounds)["TypeOK"](states).all()
    states.write(variable, wrong)
    assert not claims_for(bounds)["TypeOK"](states).any()


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize(
    "faults",
    [faults for faults in FAULTS if Fault.DOUBLE_CONSUME not in faults],
    ids=lambda faults: "+".join(sorted(faults)) or "none",
)
def test_product_equals_explicit_search(bounds: Bounds, faults: Faults) -> None:
    product, explicit = project(bounds, faults), explore(bounds, faults, stop=False)
    assert (product.generated, product.distinct, product.depth) == (
        explicit.generated,
        explicit.distinct,
        explicit.depth,
    )
    assert product.broken == explicit.broken
    assert product.always_completes == explicit.always_completes


def test_a_fault_that_couples_the_parts_is_not_projected() -> None:
    with pytest.raises(NotIndependent, match="ExtraResume touches effects"):
        project(Bounds(), frozenset({Fault.DOUBLE_CONSUME}))


@pytest.mark.parametrize("fault", ["Replay", "PrefixReplay", "NondetRecovery"])
def test_replay_spaces_at_r8_have_the_published_size(fault: str) -> None:
    assert project(R8_BOUNDS, frozenset({Fault(fault)})).distinct == SPACES_AT_R8[fault]


def test_decoded_states_pass_the_plain_type_check() -> None:
    bounds = Bounds(tasks=5, gate=3, values=2, resumes=2, crashes=1, extras=1)
    violation = explore(bounds, frozenset({Fault.REPLAY}), ["CO"]).violation
    assert violation is not None
    assert all(type_ok(bounds, step.state) for step in violation.steps)
