"""Each fault's footprint, for all bounds, is that of Table III."""

from __future__ import annotations

import pytest

pytest.importorskip("z3")

from resumption.model import footprints  # needs z3
from resumption.model.footprints import footprint, shortest_refutations
from resumption.model.induction import INVARIANT, prove
from resumption.model.intent import fork_intent_obligations, keyed_responder_obligations
from resumption.model.published import FOOTPRINTS
from resumption.model.semantics import PROPERTIES, Fault
from resumption.model.solvers import Answer, ask_z3


@pytest.mark.parametrize("fault", Fault)
def test_footprint_is_the_published_one_and_complete(fault: Fault) -> None:
    found = footprint(fault)
    assert found.complete
    assert found.refuted == FOOTPRINTS[fault.value]
    assert found.clean == set(PROPERTIES) - set(FOOTPRINTS[fault.value])


def test_cells_are_23_proved_and_13_refuted() -> None:
    refuted = sum(len(footprint) for footprint in FOOTPRINTS.values())
    assert (len(Fault) * len(PROPERTIES) - refuted, refuted) == (23, 13)


def test_a_dirty_cell_can_not_be_proved_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    wishful = {**footprints.FAULT_INVARIANTS, Fault.FORK_IGNORE: INVARIANT}
    monkeypatch.setattr(footprints, "FAULT_INVARIANTS", wishful)
    found = footprint(Fault.FORK_IGNORE, second_opinion=False)
    assert not found.complete
    assert found.clean == frozenset()


def test_a_clean_cell_is_not_refuted() -> None:
    assert shortest_refutations(Fault.FORK_IGNORE, ["RD", "CV"], limit=5) == {}


def test_without_a_discriminator_no_responder_exists() -> None:
    proofs = [prove(obligation) for obligation in fork_intent_obligations()]
    assert [proof.name for proof in proofs if not proof.proved] == []
    assert len(proofs) == 2


def test_with_a_discriminator_the_keyed_responder_satisfies_both() -> None:
    (proof,) = (prove(obligation) for obligation in keyed_responder_obligations())
    assert proof.proved


def test_either_demand_alone_is_satisfiable_without_a_discriminator() -> None:
    import z3

    whole, _ = fork_intent_obligations()
    legal, outcomes, effects = whole.refutation.children()
    for demands in zip(outcomes.children(), effects.children(), strict=True):
        assert ask_z3(z3.And(legal, *demands)) is Answer.SATISFIABLE
