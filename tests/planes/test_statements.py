"""The statements that planes quote: they load, they are where they say they are, and a bad file is one clear error."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from datetime import date
from importlib import metadata

import pytest
from packaging.specifiers import SpecifierSet

from resumption.contract.properties import Property
from resumption.contract.verdicts import Facet
from resumption.errors import StatementsUnreadable
from resumption.planes.langgraph.spec import GRAPH, SPECS
from resumption.planes.statements import Bears, Citation, bearing, cited_by, load, parse

ENTRY = """
[[statement]]
id = "one"
bears = "promise"
property = "EO"
text = "We never run it twice."
place = "somewhere"
versions = ">=1.0,<2"
read = 2026-11-30
"""
NEWEST = "1.2.24"


def _quoted() -> list[Citation]:
    return list(dict.fromkeys(found for spec in SPECS for found in load(spec)))


def citation(**changes: object) -> Citation:
    return replace(parse(ENTRY, "a test")[0], **changes)


# What LangGraph's file says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_each_form_resolves_to_a_statement_that_documents_it(spec):
    citations = load(spec)
    documented = {form.name: cited_by(citations, form) for form in spec.forms}
    undocumented = {name for name, found in documented.items() if found is None}
    assert undocumented - {"direct-inner"} == {"input", "command", "command-checkpoint", "two-call"}
    assert all(name in found.forms for name, found in documented.items() if found)


def test_each_form_and_each_path_that_a_statement_names_exists():
    citations = {found for spec in SPECS for found in load(spec)}
    assert {form for found in citations for form in found.forms} <= {form.name for spec in SPECS for form in spec.forms}
    assert {path for found in citations for path in found.paths} <= {spec.path for spec in SPECS}


def test_a_statement_on_one_path_is_not_one_on_another():
    ids = {spec.path: {found.id for found in load(spec)} for spec in SPECS}
    assert "eo-tasks-not-repeated" in ids["functional"] - ids["graph"]
    assert "eo-successful-nodes" in ids["graph"] - ids["functional"]


@pytest.mark.parametrize(
    "found",
    [found for found in _quoted() if found.place.startswith(("langgraph.", "langchain."))],
    ids=lambda found: found.id,
)
def test_a_docstring_is_quoted_word_for_word(found):
    module, _, name = found.place.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    assert plain(found.text) in plain(inspect.getdoc(target))


@pytest.mark.parametrize(
    "found", [found for found in load(GRAPH) if found.place.startswith("README of ")], ids=lambda found: found.id
)
def test_a_readme_is_quoted_word_for_word(found):
    text = metadata.metadata(found.place.removeprefix("README of ")).get_payload()
    assert plain(found.text) in plain(text)


def plain(text: str) -> str:
    """The words of a text, without line breaks and marks of emphasis and code."""
    return " ".join(text.replace("*", "").replace("`", "").split())


# Looking up ---------------------------------------------------------------------------------------------------------


def test_a_fork_at_the_old_checkpoint_contradicts_a_promise_and_is_covered_by_a_weaker_statement():
    found = bearing(load(GRAPH), Property.FORK_DETERMINISM, facet=Facet.CELL, form="direct", version=NEWEST)
    assert {statement.bears for statement in found} == {Bears.PROMISE, Bears.WEAKER}


def test_running_an_unfinished_task_again_is_documented_for_the_window_only():
    def bears(facet: Facet) -> set[Bears]:
        found = bearing(load(GRAPH), Property.EFFECT_EXACTLY_ONCE, facet=facet, form="no-input", version=NEWEST)
        return {statement.bears for statement in found}

    assert bears(Facet.CELL) == {Bears.PROMISE}
    assert bears(Facet.WINDOW) == {Bears.WEAKER}


def test_nothing_is_stated_of_effects_when_the_original_input_is_given_again():
    found = bearing(load(GRAPH), Property.EFFECT_EXACTLY_ONCE, facet=Facet.CELL, form="input", version=NEWEST)
    assert found == ()


def test_a_statement_bears_on_its_own_property_forms_facet_and_versions():
    one = citation(forms=("bare",), facet=Facet.WINDOW)

    def found(property: Property, facet: Facet, form: str, version: str) -> bool:
        return bearing([one], property, facet=facet, form=form, version=version) == (one,)

    assert found(Property.EFFECT_EXACTLY_ONCE, Facet.WINDOW, "bare", "1.2.9")
    assert not found(Property.LIVENESS, Facet.WINDOW, "bare", "1.2.9")
    assert not found(Property.EFFECT_EXACTLY_ONCE, Facet.CELL, "bare", "1.2.9")
    assert not found(Property.EFFECT_EXACTLY_ONCE, Facet.WINDOW, "map", "1.2.9")
    assert not found(Property.EFFECT_EXACTLY_ONCE, Facet.WINDOW, "bare", "2.0")


def test_a_statement_of_some_situations_bears_on_no_other():
    one = citation(probes=("interrupt/", "fork/two"))

    def found(probe: str) -> bool:
        return one.bears_on(Property.EFFECT_EXACTLY_ONCE, Facet.CELL, "bare", probe)

    assert found("interrupt/code-before")
    assert found("fork/two-values")
    assert found("")
    assert not found("consume/while-live")


@pytest.mark.parametrize(
    ("versions", "version", "covered"),
    [
        (">=1.0,<2", "1.0", True),
        (">=1.0,<2", "1.0.5", True),
        (">=1.0,<2", "0.9.9", False),
        (">=1.0,<2", "2", False),
        (">=1.2.10", "1.2.9", False),
        ("==1.2", "1.2.0", True),
        ("==1.2", "1.2.1", False),
        (">=1.2", "1.2.0rc1", False),
        (">=1.2", "1.3.0rc1", True),
    ],
)
def test_versions_compare_by_number(versions, version, covered):
    assert citation(versions=SpecifierSet(versions)).covers(version) is covered


def test_a_plane_of_this_package_quotes_nothing():
    assert load(replace(GRAPH, package="")) == ()


def test_a_form_that_names_no_statement_is_documented_by_none():
    form = replace(GRAPH.forms[0], statement="")
    assert cited_by(load(GRAPH), form) is None


def test_a_form_that_names_an_unknown_statement_is_an_error():
    with pytest.raises(KeyError, match="nobody"):
        cited_by(load(GRAPH), replace(GRAPH.forms[0], statement="nobody"))


# Bad files ----------------------------------------------------------------------------------------------------------


def test_a_plane_whose_form_names_an_unknown_statement_is_refused():
    misspelt = replace(GRAPH, forms=(replace(GRAPH.forms[0], statement="nobody"), *GRAPH.forms[1:]))
    with pytest.raises(StatementsUnreadable, match=f"the form '{GRAPH.forms[0].name}' names the statement 'nobody'"):
        load(misspelt)


def test_an_entry_becomes_a_citation():
    assert parse(ENTRY, "a test") == (
        Citation(
            id="one",
            bears=Bears.PROMISE,
            property=Property.EFFECT_EXACTLY_ONCE,
            text="We never run it twice.",
            place="somewhere",
            versions=SpecifierSet(">=1.0,<2"),
            read=date(2026, 11, 30),
        ),
    )


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("not toml", "it is no TOML"),
        ("", r"it is not a list of \[\[statement\]\] tables"),
        ("statement = 3", r"it is not a list of \[\[statement\]\] tables"),
        ("statement = [3]", r"it is not a list of \[\[statement\]\] tables"),
        ("more = 1" + ENTRY, r"it is not a list of \[\[statement\]\] tables"),
        (ENTRY + ENTRY, "two statements have the id 'one'"),
        (ENTRY + 'colour = "red"', r"statement 1 \(one\): there is no field 'colour'"),
        (ENTRY.replace('place = "somewhere"', ""), r"statement 1 \(one\): the field 'place' is missing"),
        (ENTRY.replace('id = "one"', ""), r"statement 1 \(without id\): the field 'id' is missing"),
        (ENTRY.replace("promise", "hint"), "'hint' is none of promise, weaker, form"),
        (ENTRY.replace("EO", "XX"), "'XX' is none of PC, EO, FD"),
        (ENTRY.replace("2026-11-30", '"today"'), "a date is expected, not 'today'"),
        (ENTRY.replace("2026-11-30", "2026-11-30T10:00:00"), "a date is expected"),
        (ENTRY.replace(">=1.0,<2", "new ones"), "'new ones' is no comparison of versions"),
        (ENTRY.replace("We never run it twice.", " "), "a text is expected, not ' '"),
        (ENTRY + 'forms = "bare"', "a list of texts is expected, not 'bare'"),
        (ENTRY.replace('property = "EO"', ""), "a promise or a weaker statement has a property"),
        (ENTRY.replace("promise", "form"), "and a form has none"),
    ],
)
def test_a_malformed_file_is_refused_with_its_place(text, why):
    with pytest.raises(StatementsUnreadable, match=why) as caught:
        parse(text, "planes.test")
    assert "statements.toml of planes.test" in str(caught.value)
    assert caught.value.advice


def test_a_missing_file_is_refused():
    with pytest.raises(StatementsUnreadable, match=r"resumption\.history"):
        load(replace(GRAPH, adapter="resumption.history.graph"))
