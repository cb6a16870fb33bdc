"""What is said of the guarded planes: every stock form is there, and every sentence stands where it is said to."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from resumption.planes.langgraph import spec as stock
from resumption.planes.langgraph_guarded.spec import SPECS
from resumption.planes.statements import Bears, Citation, cited_by, load

pytest.importorskip("langgraph")

ROOT = Path(__file__).parents[2]
STOCK = {spec.path: spec for spec in stock.SPECS}
OWN = {"bare-delivery-id", "map-delivery-id", "input-delivery-id", "fork"}
QUOTED = list(dict.fromkeys(found for spec in SPECS for found in load(spec)))


def plain(text: str) -> str:
    """The words of a text, without line breaks and marks of emphasis and code."""
    return " ".join(text.replace("*", "").replace("`", "").split())


def source_of(found: Citation) -> str:
    """The text that a statement says it is from."""
    place = found.place.partition(", ")[0]
    if place.startswith("docs/"):
        return (ROOT / place).read_text(encoding="utf-8")
    module, _, name = place.partition(":")
    return inspect.getdoc(getattr(importlib.import_module(module), name)) or ""


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_a_guarded_plane_is_resumed_in_every_form_of_the_stock_one_and_in_the_guards_own(spec):
    assert {form.name for form in spec.forms} == OWN | {form.name for form in STOCK[spec.path].forms}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.path)
def test_each_form_that_anybody_documents_resolves_to_a_statement_of_it(spec):
    citations = load(spec)
    documented = {form.name: cited_by(citations, form) for form in spec.forms}
    assert {name for name, found in documented.items() if found is None} - {"direct-inner"} == {
        "input",
        "command",
        "command-checkpoint",
        "two-call",
    }
    assert all(name in found.forms for name, found in documented.items() if found)


def test_each_form_and_each_path_that_a_statement_names_exists():
    assert {form for found in QUOTED for form in found.forms} <= {form.name for spec in SPECS for form in spec.forms}
    assert {path for found in QUOTED for path in found.paths} <= {spec.path for spec in SPECS}


@pytest.mark.parametrize(
    "found", [found for found in QUOTED if found.place.startswith(("docs/", "resumption."))], ids=lambda found: found.id
)
def test_the_guards_own_words_are_quoted_word_for_word(found):
    assert plain(found.text) in plain(source_of(found))


def test_what_langgraph_says_is_quoted_as_beside_its_own_planes():
    theirs = {found.id: found.text for spec in stock.SPECS for found in load(spec)}
    quoted = [found for found in QUOTED if not found.place.startswith(("docs/", "resumption."))]
    assert quoted
    assert all(found.bears is Bears.FORM and found.text == theirs[found.id] for found in quoted)
