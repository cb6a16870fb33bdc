"""VL: what becomes of state that was altered from outside, once it is loaded."""

import pytest
from histories import Protocol, cell, story

from resumption.contract.judges import judge
from resumption.contract.properties import Property
from resumption.contract.verdicts import Measured
from resumption.history.events import Json

VL = Property.LOAD_VALIDITY


def altered() -> Protocol:
    """The run is parked behind `a`, and its durable trail is a number."""
    p = Protocol()
    p.to_the_gate()
    p.is_tampered_with()
    return p


def test_an_error_before_anything_ran_conforms() -> None:
    p = altered()
    p.inspect()
    looked = p.raises("ValidationError")
    p.deliver(True)
    refused = p.raises("ValidationError")
    found = cell(p, VL)
    assert found.measured is Measured.CONFORMS
    assert {looked, refused} <= set(found.witnesses)


@pytest.mark.parametrize("entry", [7, None])
def test_an_inspection_that_shows_broken_state_breaches(entry: Json) -> None:
    p = altered()
    p.inspect()
    p.shows(entry)
    assert "was loaded without an error: the run showed" in story(cell(p, VL))


def test_a_task_that_runs_on_broken_state_breaches_though_it_raises_later() -> None:
    p = altered()
    p.deliver(True)
    p.begins("approve", sees=7)
    p.raises("TypeError")
    assert "the run ran on 7" in story(cell(p, VL))


def test_an_error_behind_an_effect_does_not_refuse() -> None:
    p = altered()
    p.deliver(True)
    p.fires("pay")
    p.raises("TypeError")
    assert "raised only after effect `pay` had fired" in story(cell(p, VL))


def test_a_sound_state_in_place_of_the_broken_one_breaches() -> None:
    p = altered()
    p.inspect()
    p.shows()
    assert "the run showed []" in story(cell(p, VL))


def test_a_plane_that_never_reads_what_was_altered_shows_nothing() -> None:
    p = altered()
    p.inspect()
    p.shows("a")
    p.deliver(True)
    p.passes_the_gate(True)
    assert cell(p, VL).measured is Measured.UNEXERCISED


def test_a_history_with_altered_state_says_nothing_of_other_properties() -> None:
    p = altered()
    p.deliver(True)
    p.passes_the_gate(True)
    others = [found for property_ in Property if property_ is not VL for found in judge(p.history(), property_)]
    assert {found.measured for found in others} == {Measured.UNDETERMINED}
