"""What separates two planes, and what only seems to."""

from itertools import product

import pytest

from resumption.contract.profiles import Profile, Separation, separate, separations
from resumption.contract.properties import Property
from resumption.contract.verdicts import Label

EO, FD = Property.EFFECT_EXACTLY_ONCE, Property.FORK_DETERMINISM


def one(label: Label) -> Profile:
    return Profile(label, {EO: label})


@pytest.mark.parametrize("breach", [Label.VIOLATES, Label.DIVERGENT])
def test_what_holds_on_one_and_is_breached_on_the_other_by_its_own_word_separates(breach: Label) -> None:
    assert separate(one(Label.HOLDS), one(breach)) == Separation(behavioural=(EO,))
    assert separate(one(breach), one(Label.HOLDS)) == Separation(behavioural=(EO,))


@pytest.mark.parametrize("silent", [Label.UNDOCUMENTED, Label.VACUOUS, Label.INCONCLUSIVE, Label.NOT_RUN])
@pytest.mark.parametrize("other", list(Label))
def test_what_is_undocumented_vacuous_or_untold_separates_nothing(silent: Label, other: Label) -> None:
    assert separate(one(silent), one(other)) == Separation()


def test_every_other_difference_is_structural() -> None:
    telling = {Label.HOLDS, Label.VIOLATES, Label.DIVERGENT, Label.NOT_APPLICABLE}
    for left, right in product(telling, telling):
        found = separate(one(left), one(right))
        assert bool(found.behavioural or found.structural) is (left is not right)
        assert found.behavioural == ((EO,) if {left, right} in _BEHAVIOURAL else ())


_BEHAVIOURAL = [{Label.HOLDS, Label.VIOLATES}, {Label.HOLDS, Label.DIVERGENT}]


def test_obligations_and_what_only_one_plane_has_measured_tell_nothing_apart() -> None:
    left = Profile("left", {Property.LOUD_ADDRESSING: Label.HOLDS, FD: Label.HOLDS})
    right = Profile("right", {Property.LOUD_ADDRESSING: Label.VIOLATES, EO: Label.VIOLATES})
    assert separate(left, right) == Separation()


def test_each_pair_is_compared_once() -> None:
    found = separations([one(Label.HOLDS), one(Label.VIOLATES), one(Label.VACUOUS)])
    assert list(found) == [("holds", "violates"), ("holds", "vacuous"), ("violates", "vacuous")]
