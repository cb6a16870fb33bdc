"""The unbounded proof: complete, not vacuous, about the same relation as the semantics, and broken by every change."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

z3 = pytest.importorskip("z3")

from resumption.model.induction import (  # noqa: E402  # needs z3
    GOALS,
    INVARIANT,
    liveness_obligations,
    obligations,
    prove,
    unestablished,
    vacuous_actions,
)
from resumption.model.search import search  # noqa: E402  # needs z3, which is asked for above
from resumption.model.semantics import Bounds, Fault, Faults, Record, Recovery, State, resume_contract  # noqa: E402  # needs z3, which is asked for above
from resumption.model.solvers import Answer, ask_cvc5, ask_z3  # noqa: E402  # needs z3, which is asked for above
from resumption.model.symbolic import (  # noqa: E402  # needs z3, which is asked for above
    REFERENCE_HOOKS,
    Constants,
    Hooks,
    SymbolicState,
    Transition,
    initially,
    transitions,
)


def failing(**overrides: Any) -> set[str]:
    """The obligations that z3 alone can't discharge under these overrides."""
    proofs = [prove(obligation, second_opinion=False) for obligation in obligations(**overrides)]
    assert all(proof.z3 is not Answer.UNKNOWN for proof in proofs)
    return {proof.name for proof in proofs if not proof.proved}


def test_all_obligations_are_proved_by_both_solvers() -> None:
    proofs = [prove(obligation) for obligation in obligations()]
    assert len(proofs) == 84
    assert [proof.name for proof in proofs if not proof.proved] == []
    assert {proof.cvc5 for proof in proofs} == {Answer.UNSATISFIABLE}


def test_every_action_is_possible_under_the_invariant() -> None:
    assert vacuous_actions() == {}


def test_an_action_that_is_never_enabled_would_be_reported() -> None:
    nowhere = Hooks(recover=lambda _: [], serve=REFERENCE_HOOKS.serve)
    assert set(vacuous_actions(hooks=nowhere)) == {"CrashRecover"}


def test_liveness_premises_are_proved_by_both_solvers() -> None:
    proofs = [prove(obligation) for obligation in liveness_obligations()]
    assert len(proofs) == 8
    assert all(proof.proved for proof in proofs)


@pytest.mark.parametrize("dropped", INVARIANT)
def test_no_conjunct_can_be_dropped(dropped: str) -> None:
    rest = {name: conjunct for name, conjunct in INVARIANT.items() if name != dropped}
    assert (dropped in unestablished(rest)) == (dropped in GOALS)
    if dropped not in GOALS:
        assert failing(invariant=rest)


def test_serving_that_ignores_fork_intent_fails_at_fork_determinism_alone() -> None:
    ignoring = Hooks(recover=REFERENCE_HOOKS.recover, serve=lambda _is_fork, recorded, _value: recorded)
    assert failing(hooks=ignoring) == {"ForkResume/FD"}


def test_recovery_that_starts_over_fails_at_the_crash() -> None:
    from_start = Hooks(recover=lambda _: [z3.IntVal(1)], serve=REFERENCE_HOOKS.serve)
    failed = failing(hooks=from_start)
    assert {"CrashRecover/Frontier", "CrashRecover/RD"} <= failed
    assert {name.partition("/")[0] for name in failed} == {"CrashRecover"}


@pytest.mark.parametrize(
    ("fault", "action"),
    [
        (Fault.REPLAY, "CrashRecover"),
        (Fault.PREFIX_REPLAY, "CrashRecover"),
        (Fault.FORK_IGNORE, "ForkResume"),
        (Fault.INVALID_PERSIST, "ExecTask"),
        (Fault.DOUBLE_CONSUME, "ExtraResume"),
        (Fault.NONDET_RECOVERY, "CrashRecover"),
    ],
)
def test_each_fault_fails_at_its_action_with_a_counterexample(fault: Fault, action: str) -> None:
    proofs = [prove(each, second_opinion=False) for each in obligations(faults=frozenset({fault}))]
    failed = [proof for proof in proofs if not proof.proved]
    assert action in {proof.name.partition("/")[0] for proof in failed}
    assert all(proof.z3 is Answer.SATISFIABLE and proof.model for proof in failed)


def test_cvc5_refutes_what_z3_refutes() -> None:
    broken = next(o for o in obligations(faults=frozenset({Fault.INVALID_PERSIST})) if o.name == "ExecTask/CV")
    assert ask_z3(broken.refutation) is Answer.SATISFIABLE
    assert ask_cvc5(broken.refutation) is not Answer.UNSATISFIABLE


# --- the symbolic relation is the semantics ---


def concrete(bounds: Bounds, state: State) -> SymbolicState:
    """The state as constant terms."""

    def array(entries: tuple[Any, ...], default: Any, lift: Any) -> Any:
        term = z3.K(z3.IntSort(), lift(default))
        for position, entry in enumerate(entries, start=1):
            term = z3.Store(term, position, lift(entry))
        return term

    return SymbolicState(
        pc=z3.IntVal(state.pc),
        effects=array(state.effects, 0, z3.IntVal),
        log_length=z3.IntVal(len(state.log)),
        log_task=array(tuple(record.task for record in state.log), 0, z3.IntVal),
        log_valid=array(tuple(record.valid for record in state.log), True, z3.BoolVal),
        durable=z3.IntVal(state.durable),
        waiting=z3.BoolVal(state.waiting),
        consumed=z3.IntVal(state.consumed),
        forks=z3.IntVal(len(state.fork_values)),
        fork_values=array(state.fork_values, 0, z3.IntVal),
        fork_outcomes=array(state.fork_outcomes, 0, z3.IntVal),
        crashes=z3.IntVal(state.crashes),
        recoveries=z3.IntVal(len(state.recoveries)),
        recovered_from=array(tuple(recovery.durable for recovery in state.recoveries), 0, z3.IntVal),
        resumed_at=array(tuple(recovery.resumed_at for recovery in state.recoveries), 0, z3.IntVal),
        extras=z3.IntVal(state.extras),
        prefix_regress=z3.BoolVal(state.prefix_regress),
    )


def read_back(bounds: Bounds, symbolic: SymbolicState) -> State:
    """The state that constant terms denote."""

    def number(term: Any) -> int:
        return int(z3.simplify(term).as_long())

    def truth(term: Any) -> bool:
        return bool(z3.is_true(z3.simplify(term)))

    def entries(array: Any, length: Any) -> list[int]:
        return [number(array[position]) for position in range(1, number(length) + 1)]

    length, recoveries = symbolic.log_length, symbolic.recoveries
    valid = [truth(symbolic.log_valid[position]) for position in range(1, number(length) + 1)]
    decisions = zip(entries(symbolic.recovered_from, recoveries), entries(symbolic.resumed_at, recoveries), strict=True)
    return State(
        pc=number(symbolic.pc),
        effects=tuple(entries(symbolic.effects, z3.IntVal(bounds.tasks))),
        log=tuple(map(Record, entries(symbolic.log_task, length), valid)),
        durable=number(symbolic.durable),
        waiting=truth(symbolic.waiting),
        consumed=number(symbolic.consumed),
        fork_values=tuple(entries(symbolic.fork_values, symbolic.forks)),
        fork_outcomes=tuple(entries(symbolic.fork_outcomes, symbolic.forks)),
        crashes=number(symbolic.crashes),
        recoveries=tuple(Recovery(found, resumed) for found, resumed in decisions),
        extras=number(symbolic.extras),
        prefix_regress=truth(symbolic.prefix_regress),
    )


def constants_of(bounds: Bounds) -> Constants:
    return Constants(*(z3.IntVal(getattr(bounds, name)) for name in Bounds.__slots__))


def successors(bounds: Bounds, transition: Transition) -> set[State]:
    """What a transition out of a constant state leads to, over every choice of value and decision."""
    choices = [
        [(z3.Int("value"), z3.IntVal(value)), (z3.Int("decision"), z3.IntVal(decision))]
        for value in range(1, bounds.values + 1)
        for decision in range(1, bounds.tasks + 1)
    ]
    found = set()
    for choice in choices:
        if z3.is_true(z3.simplify(z3.substitute(transition.enabled, *choice))):
            fields = {name: getattr(transition.after, name) for name in SymbolicState.__slots__}
            chosen = {name: z3.substitute(term, *choice) for name, term in fields.items()}
            found.add(read_back(bounds, SymbolicState(**chosen)))
    return found


def reachable(bounds: Bounds, faults: Faults) -> Iterator[State]:
    machine = resume_contract(bounds, faults)
    seen: set[State] = set(machine.initial)
    queue = list(seen)
    while queue:
        state = queue.pop()
        yield state
        fresh = {step.state for step in machine.steps(state)} - seen
        seen |= fresh
        queue += sorted(fresh, key=repr)


@pytest.mark.parametrize("faults", [frozenset(), *(frozenset({fault}) for fault in Fault)], ids=lambda f: "".join(f))
def test_symbolic_relation_equals_the_semantics(faults: Faults) -> None:
    bounds, every = (Bounds(), 1) if not faults else (Bounds(crashes=2), 7)
    machine = resume_contract(bounds, faults)
    for state in list(reachable(bounds, faults))[::every]:
        symbolic = transitions(constants_of(bounds), concrete(bounds, state), faults)
        for action, transition in symbolic.items():
            assert successors(bounds, transition) == set(machine.actions[action](state)), (action, state)


def test_symbolic_initial_state_is_that_of_the_semantics() -> None:
    bounds = Bounds()
    assert (read_back(bounds, initially()),) == resume_contract(bounds).initial


def test_no_guard_can_be_flipped_unnoticed() -> None:
    bounds = Bounds()
    machine, states = resume_contract(bounds), list(reachable(bounds, frozenset()))
    unnoticed = []
    for action in machine.actions:
        for guard in transitions(constants_of(bounds), concrete(bounds, states[0]))[action].guard:
            if not any(_flip_shows(bounds, action, guard, state) for state in states):
                unnoticed.append(f"{action}: {guard}")
    assert unnoticed == []


def _flip_shows(bounds: Bounds, action: str, flipped: str, state: State) -> bool:
    """Whether negating one conjunct of the guard makes the action enabled where it isn't, or the reverse."""
    guard = dict(transitions(constants_of(bounds), concrete(bounds, state))[action].guard)
    choice = [(z3.Int("value"), z3.IntVal(1)), (z3.Int("decision"), z3.IntVal(state.durable + 1))]
    mutated = {name: z3.Not(term) if name == flipped else term for name, term in guard.items()}
    original = z3.simplify(z3.substitute(z3.And(list(guard.values())), *choice))
    changed = z3.simplify(z3.substitute(z3.And(list(mutated.values())), *choice))
    return not z3.eq(original, changed)


def test_reference_satisfies_the_invariant_in_every_reachable_state() -> None:
    bounds = Bounds()
    constants = constants_of(bounds)
    assert search(resume_contract(bounds), ["TypeOK"]).violation is None
    for state in reachable(bounds, frozenset()):
        symbolic = concrete(bounds, state)
        holds = z3.And([conjunct(constants, symbolic) for conjunct in INVARIANT.values()])
        assert ask_z3(z3.Not(holds)) is Answer.UNSATISFIABLE
