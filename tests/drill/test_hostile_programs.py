"""What programs do beside their work keeps no drill from telling the truth, and no drill calls an effect for real."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from resumption.errors import DecisionMissing, KeyArgumentMissing
from resumption.harness.drill.decisions import Decisions
from resumption.harness.drill.findings import Breach
from resumption.harness.drill.protocols import Action, Protocol

_KEY = {"keys": {"charge": "key"}}


def _around_effects(protocol: Protocol) -> bool:
    return protocol.at.startswith("effect:") and protocol.form.name == "no-input"


def _nothing(_: Protocol) -> bool:
    return False


def _breaches(drilled: Any) -> set[Breach]:
    return {one.breach for outcome in drilled.outcomes for one in outcome.found}


def _problems(drilled: Any) -> list[str]:
    return [outcome.problem for outcome in drilled.outcomes if outcome.problem]


@pytest.mark.parametrize("guarded", [False, True])
def test_an_effect_that_is_called_while_the_program_is_made_is_on_record_and_told(
    run_drill: Any, guarded: bool
) -> None:
    drilled = run_drill("hostile:charging_factory", "charge", guarded=guarded, only=_nothing)
    (found,) = drilled.in_twin
    assert (found.breach, found.subject) == (Breach.FIRES_AGAIN, "charge in (outside)")
    assert "fires when the program is imported or made, so with every process" in found.finding.summary


def test_effects_of_every_kind_are_found_by_their_names(run_drill: Any) -> None:
    names = ("Client.charge", "client.__call__", "Client.of_the_class", "client.of_nothing", "charge_one")
    drilled = run_drill("hostile:every_kind", *names, only=_nothing)
    fired = {effect.name for effect in drilled.twin.observed.effects}
    assert fired >= {"__call__", "of_the_class", "of_nothing"}
    assert len(drilled.twin.observed.effects) == 6


def test_noise_children_and_threads_change_nothing(run_drill: Any) -> None:
    drilled = run_drill("hostile:noisy", "charge", only=_around_effects)
    assert _problems(drilled) == []
    assert _breaches(drilled) == {Breach.FIRES_AGAIN}


def test_a_child_that_outlives_its_process_hides_no_death(run_drill: Any, tmp_path: Path) -> None:
    end = tmp_path / "end"
    try:
        drilled = run_drill("hostile:outlived", "charge", input={"file": str(end)}, only=_around_effects)
    finally:
        end.touch()
    assert _problems(drilled) == []
    assert _breaches(drilled) == {Breach.FIRES_AGAIN}


def test_arguments_that_json_cannot_say_are_the_same_in_every_process(run_drill: Any) -> None:
    drilled = run_drill("hostile:opaque", "charge", only=_around_effects, **_KEY)
    assert drilled.unsteady == ()
    assert len(drilled.outcomes) == 8
    assert (_problems(drilled), _breaches(drilled)) == ([], set())


def test_a_program_that_was_alike_twice_by_chance_is_told_as_unsteady_and_not_as_broken(
    run_drill: Any, tmp_path: Path
) -> None:
    options = {"input": {"file": str(tmp_path / "runs")}, **_KEY}
    drilled = run_drill("hostile:counts_its_runs", "charge", only=_around_effects, **options)
    assert drilled.unsteady == ("the final state differs in done",)
    assert drilled.outcomes == ()


def test_a_full_disk_is_no_finding(run_drill: Any) -> None:
    drilled = run_drill("hostile:without_room", "charge", only=_around_effects, **_KEY)
    assert _breaches(drilled) == set()
    assert len(_problems(drilled)) == len(drilled.outcomes) > 0
    assert all("database or disk is full" in problem for problem in _problems(drilled))


def test_a_key_that_is_no_argument_is_refused(run_drill: Any) -> None:
    with pytest.raises(KeyArgumentMissing, match=r"no argument 'kez'.*It is called with what, key"):
        run_drill("hostile:simple", "charge", keys={"charge": "kez"})


@pytest.mark.parametrize(
    "decisions",
    [
        Decisions(everywhere="yes", named={"pya": "no"}),
        Decisions(everywhere="yes", otherwise={"pya": "no"}),
    ],
)
def test_a_decision_for_a_gate_that_never_asks_is_refused(run_drill: Any, decisions: Decisions) -> None:
    with pytest.raises(DecisionMissing, match=r"given for pya, which never asks. These ask: pay"):
        run_drill("hostile:simple", "charge", decisions=decisions)


@pytest.mark.parametrize("answer", [0, "", [], {}, False, 2**60, "\x00\u202e😀", {"a": [{"b": None}]}])
def test_odd_answers_are_handed_over_as_they_are(run_drill: Any, answer: Any) -> None:
    drilled = run_drill(
        "hostile:simple",
        "charge",
        decisions=Decisions(everywhere=answer),
        only=lambda protocol: protocol.action is Action.HANDOVER,
    )
    assert drilled.twin.observed.values["done"] == [answer]
    assert (_problems(drilled), _breaches(drilled)) == ([], set())


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_generated_program_whose_effects_have_keys_is_clean(run_drill: Any, seed: int) -> None:
    drilled = run_drill(
        f"generated:seed_{seed}",
        "send",
        keys={"send": "idempotency_key"},
        only=lambda protocol: protocol.form.name in ("no-input", "map", "replay"),
    )
    undocumented = [one for outcome in drilled.outcomes for one in outcome.found if not one.documented]
    assert (_problems(drilled), undocumented, drilled.in_twin) == ([], [], ())


def test_a_later_question_of_a_node_has_no_second_answer_of_its_own_and_that_is_told(run_drill: Any) -> None:
    # A repeated answer for the node's first question, even by its id, is taken by the second.
    drilled = run_drill(
        "generated:seed_6",
        "send",
        keys={"send": "idempotency_key"},
        only=lambda protocol: protocol.action in (Action.FORK, Action.REDELIVER),
    )
    assert [one.protocol.at for one in drilled.outcomes if one.protocol.action is Action.FORK] == ["task-1@1"]
    assert "no second answer at task-1@2: LangGraph asks a task's first question again" in drilled.notes
    found = {(outcome.protocol.name, one.breach) for outcome in drilled.outcomes for one in outcome.found}
    assert ("redeliver/task-1@1/map", Breach.TAKEN) in found
    assert {breach for _, breach in found} == {Breach.TAKEN}
