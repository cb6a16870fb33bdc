"""The classification rule, over every combination of its inputs, and how labels merge."""

from itertools import permutations, product

import pytest

from resumption.contract.classification import Evidence, classify
from resumption.contract.properties import CONTRACT, OBLIGATIONS, STATEMENTS, Property
from resumption.contract.verdicts import Facet, Finding, Judgement, Label, Measured, Step, merge, merge_measured

BOOLS = (False, True)
V, U, D = Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT

# promised, weaker, silent corruption -> label under the rule
BREACH = {
    (False, False, False): U,
    (False, False, True): V,
    (False, True, False): D,
    (False, True, True): V,
    (True, False, False): V,
    (True, False, True): V,
    (True, True, False): V,
    (True, True, True): V,
}
OTHER = {
    Measured.CONFORMS: Label.HOLDS,
    Measured.UNEXERCISED: Label.VACUOUS,
    Measured.UNDETERMINED: Label.INCONCLUSIVE,
}
MERGE_ORDER = [
    Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT, Label.INCONCLUSIVE,
    Label.NOT_RUN, Label.HOLDS, Label.VACUOUS, Label.NOT_APPLICABLE,
]  # fmt: skip


def expected(measured: Measured, found: tuple[bool, bool, bool], *, documented: bool, strict: bool) -> Label:
    if measured in OTHER:
        return OTHER[measured]
    label = V if strict else BREACH[found]
    return label if documented or label is not V else U


@pytest.mark.parametrize("strict", BOOLS)
@pytest.mark.parametrize("documented", BOOLS)
@pytest.mark.parametrize("measured", list(Measured))
def test_rule_over_every_combination(measured: Measured, documented: bool, strict: bool) -> None:
    for promised, weaker, silent in product(BOOLS, repeat=3):
        evidence = Evidence(measured, promised, weaker, silent, documented)
        wanted = expected(measured, (promised, weaker, silent), documented=documented, strict=strict)
        assert classify(evidence, strict=strict) is wanted, (evidence, strict)


def test_rule_can_give_no_label_that_needs_no_measurement() -> None:
    given = {
        classify(Evidence(measured, *flags), strict=strict)
        for measured in Measured
        for flags in product(BOOLS, repeat=4)
        for strict in BOOLS
    }
    assert set(Label) - given == {Label.NOT_RUN, Label.NOT_APPLICABLE}


def test_strict_only_ever_turns_a_breach_into_a_violation() -> None:
    for flags in product(BOOLS, repeat=4):
        evidence = Evidence(Measured.BREACHES, *flags)
        lax, strict = classify(evidence), classify(evidence, strict=True)
        assert strict is lax or (lax, strict) in {(U, V), (D, V), (D, U)}


def test_merge_order_is_the_documented_one() -> None:
    assert list(Label) == MERGE_ORDER
    for place, first in enumerate(MERGE_ORDER):
        for later in MERGE_ORDER[place:]:
            assert merge([first, later]) is merge([later, first]) is first


def test_merge_does_not_depend_on_grouping() -> None:
    for one, two, three in permutations(Label, 3):
        assert merge([merge([one, two]), three]) is merge([one, merge([two, three])]) is merge([one, two, three])


def test_merge_of_nothing_is_never_a_pass() -> None:
    assert merge([]) is Label.INCONCLUSIVE
    assert merge_measured([]) is Measured.UNDETERMINED


def test_measurements_merge_breaches_first_and_unexercised_last() -> None:
    order = [Measured.BREACHES, Measured.UNDETERMINED, Measured.CONFORMS, Measured.UNEXERCISED]
    for place, first in enumerate(order):
        for later in order[place:]:
            assert merge_measured([later, first]) is first


def test_judgement_that_conforms_without_a_witness_cannot_be_built() -> None:
    with pytest.raises(ValueError, match="must name its witnesses"):
        Judgement(Property.LIVENESS, Measured.CONFORMS)


@pytest.mark.parametrize("measured", [Measured.UNEXERCISED, Measured.UNDETERMINED])
def test_judgement_without_a_result_must_say_why(measured: Measured) -> None:
    with pytest.raises(ValueError, match="must say why"):
        Judgement(Property.LIVENESS, measured)


def test_judgement_has_findings_exactly_if_it_breaches() -> None:
    finding = Finding("it broke", (Step(3, "here"),))
    with pytest.raises(ValueError, match="exactly if it says breaches"):
        Judgement(Property.LIVENESS, Measured.BREACHES)
    with pytest.raises(ValueError, match="exactly if it says breaches"):
        Judgement(Property.LIVENESS, Measured.CONFORMS, witnesses=(1,), findings=(finding,))
    assert str(Judgement(Property.LIVENESS, Measured.BREACHES, findings=(finding,)).findings[0]) == (
        "it broke\n  #3 here"
    )


def test_facet_of_a_judgement_is_the_cell_unless_said_otherwise() -> None:
    assert Judgement(Property.LIVENESS, Measured.UNEXERCISED, reason="nothing").facet is Facet.CELL


def test_every_property_has_its_sentence_and_is_a_column_or_an_obligation() -> None:
    assert set(STATEMENTS) == set(Property) == {*CONTRACT, *OBLIGATIONS}
    assert [p.value for p in CONTRACT] == ["PC", "EO", "FD", "CV", "CO-c", "CO-e", "RD", "FI", "LV"]
    assert [p.value for p in OBLIGATIONS] == ["RL", "RI", "LA", "LW", "TD", "VL"]
    for statement in STATEMENTS.values():
        assert all((statement.name, statement.question.endswith("?"), statement.statement, statement.source))
