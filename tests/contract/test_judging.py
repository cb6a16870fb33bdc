"""What holds for every judge: whole histories only, no crash on any history, no pass without evidence."""

from dataclasses import replace

import pytest
from histories import GATED, INVALID, TWO_QUESTIONS, Protocol, cell
from hypothesis import given, settings
from hypothesis import strategies as st

from resumption.contract.judges import JUDGES, facets, judge
from resumption.contract.properties import CONTRACT, OBLIGATIONS, Property
from resumption.contract.verdicts import Facet, Measured
from resumption.history.events import Deliver, Exit, Intent, Oracle
from resumption.history.history import History
from resumption.history.workload import Workload


def finished() -> Protocol:
    p = Protocol()
    p.to_the_end()
    p.fork(False)
    p.passes_the_gate(False)
    return p


def measured(history: History) -> set[Measured]:
    return {judgement.measured for property_ in Property for judgement in judge(history, property_)}


def test_every_property_has_a_judge() -> None:
    assert set(JUDGES) == {*CONTRACT, *OBLIGATIONS}


@pytest.mark.parametrize("property_", list(Property))
def test_a_judge_gives_one_judgement_for_each_facet(property_: Property) -> None:
    found = judge(finished().history(), property_)
    assert [judgement.facet for judgement in found] == list(facets(property_))
    assert {judgement.property for judgement in found} == {property_}


def test_only_exactly_once_is_measured_in_two_facets() -> None:
    assert facets(Property.EFFECT_EXACTLY_ONCE) == (Facet.CELL, Facet.WINDOW)
    assert all(facets(p) == (Facet.CELL,) for p in Property if p is not Property.EFFECT_EXACTLY_ONCE)


def test_empty_history_passes_no_judge() -> None:
    empty = replace(finished().history(), events=())
    assert measured(empty) == {Measured.UNDETERMINED}
    assert judge(empty, Property.LIVENESS)[0].reason == "the history is empty"


def test_history_without_the_effect_record_passes_no_judge() -> None:
    assert measured(finished().history(oracle=False)) == {Measured.UNDETERMINED}


def test_history_with_nothing_but_the_effect_record_is_unexercised() -> None:
    assert {found.measured for p in JUDGES for found in judge(Protocol().history(), p)} == {Measured.UNEXERCISED}


def test_process_that_was_never_reaped_makes_a_history_undetermined() -> None:
    whole = finished().history()
    events = tuple(e for e in whole.events if not (isinstance(e, Exit) and e.who == 2))
    renumbered = tuple(replace(event, number=number) for number, event in enumerate(events, 1))
    (found,) = judge(replace(whole, events=renumbered), Property.LIVENESS)
    assert found.reason == "process 2 was never reaped"


@pytest.mark.parametrize(
    ("fired", "reason"),
    [
        ((), "but the effect record lacks it"),
        (("charge-2", "pay-13", "ship-19", "x"), "the effect record has call x, which nobody began"),
        (("charge-2", "charge-2"), "the effect record holds one call twice"),
    ],
)
def test_effect_record_that_disagrees_makes_a_history_undetermined(fired: tuple[str, ...], reason: str) -> None:
    whole = finished().history()
    events = (*whole.events[:-1], replace(whole.events[-1], fired=fired))
    assert reason in "; ".join(replace(whole, events=events).problems())
    assert measured(replace(whole, events=events)) == {Measured.UNDETERMINED}


def test_effect_after_the_record_was_read_makes_a_history_undetermined() -> None:
    p = finished()
    p.recover()
    number = p.fires("ship", fired=False)
    p.dies()
    events = list(p.history().events)
    oracle = events.pop()
    events.insert(number - 1, oracle)
    renumbered = tuple(replace(event, number=place) for place, event in enumerate(events, 1))
    found = judge(replace(p.history(), events=renumbered), Property.LIVENESS)
    assert "after the effect record was read" in found[0].reason


@pytest.mark.parametrize("what", ["task `elsewhere`", "effect `ship` in task `a`", "interrupt `ok?` in task `a`"])
def test_history_of_another_program_is_undetermined(what: str) -> None:
    p = finished()
    p.recover()
    if "elsewhere" in what:
        p.begins("elsewhere", sees=[])
    elif "ship" in what:
        p.fires("ship", task="a")
    else:
        number = p.consumes(True)
        p.events[number - 1] = replace(p.events[number - 1], task="a")
    p.dies()
    assert f"the program has no {what}" in cell(p, Property.LIVENESS).reason


# Arbitrary histories -------------------------------------------------------------------------------------------------

PROGRAMS = [GATED, TWO_QUESTIONS, INVALID, Workload(())]
TRAILS = st.sampled_from(
    [[], ["a"], ["a", "approve=True"], ["a", "approve=True", "c"], ["a", None], None, 7, {"x": []}]
)
VALUES = st.sampled_from([True, False, 1, None, "yes", [1], {"k": 1.5}])
BRANCHES = st.sampled_from(["b0", "b0.1", "b0.1.2", "b0.7", "copy1", "copy2", "odd", "..", "b0."])
ENDS = st.sampled_from(["parks", "returns", "raises", "shows", "dies"])


@st.composite
def protocols(draw: st.DrawFn) -> Protocol:
    """A well-formed history of any content: reaped processes and an honest effect record, all else at random."""
    p = Protocol(draw(st.sampled_from(PROGRAMS)))
    names = [interrupt.name for task in p.workload.tasks for interrupt in task.interrupts]
    for _ in range(draw(st.integers(0, 6))):
        request = draw(st.sampled_from(["start", "deliver", "deliver", "recover", "inspect"]))
        branch = draw(BRANCHES)
        if request == "deliver":
            p.deliver(
                draw(VALUES),
                to=draw(st.sampled_from([*names, "", "nobody"])),
                intent=draw(st.sampled_from(Intent)),
                name=draw(st.sampled_from(["", "d1", "d2"])),
                branch=branch,
            )
        elif request == "start":
            p.start()
        else:
            getattr(p, request)(branch)
        for _ in range(draw(st.integers(0, 6)) if p.workload.tasks else 0):
            acts_at_random(draw, p)
        end = draw(ENDS)
        if end == "parks":
            p.parks(*draw(st.lists(st.sampled_from([*names, "", "nobody"]))))
        elif end in {"returns", "shows"}:
            trail = draw(TRAILS)
            number = getattr(p, end)()
            p.events[number - 1] = replace(p.events[number - 1], trail=trail)
        else:
            getattr(p, end)()
    return p


def acts_at_random(draw: st.DrawFn, p: Protocol) -> None:
    task = draw(st.sampled_from(p.workload.tasks))
    match draw(st.sampled_from(["begins", "fires", "consumes", "ends", "stores"])):
        case "begins":
            p.begins(task.name, sees=draw(TRAILS))
        case "fires" if task.effects:
            fired = draw(st.booleans())
            p.fires(task.effects[0].name, task=task.name, fired=fired, returned=draw(st.booleans()))
        case "consumes" if task.interrupts:
            p.consumes(draw(VALUES), interrupt=draw(st.sampled_from(task.interrupts)).name)
        case "ends":
            p.ends(task.name, write=draw(TRAILS))
        case "stores":
            p.stores(*draw(st.lists(st.sampled_from([task.name, "__start__"]))))


@settings(max_examples=400, deadline=None)
@given(protocols())
def test_judges_say_something_of_every_well_formed_history(p: Protocol) -> None:
    history = p.history()
    assert history.problems() == ()
    for property_ in JUDGES:
        for found in judge(history, property_):
            numbers = {*found.witnesses, *(step.number for finding in found.findings for step in finding.story)}
            assert numbers <= set(range(1, len(history.events) + 1))
            assert all(finding.story for finding in found.findings)


@settings(max_examples=100, deadline=None)
@given(protocols(), st.data())
def test_history_cut_anywhere_before_the_effect_record_is_undetermined(p: Protocol, data: st.DataObject) -> None:
    whole = p.history()
    kept = data.draw(st.integers(0, len(whole.events) - 1))
    cut = replace(whole, events=whole.events[:kept])
    assert not any(cut.of(Oracle))
    assert measured(cut) == {Measured.UNDETERMINED}


@settings(max_examples=100, deadline=None)
@given(protocols())
def test_judging_is_a_function_of_the_history_alone(p: Protocol) -> None:
    history = p.history()
    assert [judge(history, property_) for property_ in Property] == [
        judge(history, property_) for property_ in Property
    ]


def test_delivery_on_a_branch_that_is_its_own_parent_ends() -> None:
    p = Protocol()
    p.to_the_gate()
    p.deliver(True, branch="copy1.1")
    p.parks()
    history = p.history()
    assert {e.branch for e in history.of(Deliver)} == {"copy1.1"}
    assert Measured.BREACHES in measured(history)
