"""What is said of the guarded planes: every stock form is there, and every sentence stands where it is said to."""

from __future__ import annotations

import importlib
import inspect
from dataclasses import replace
from pathlib import Path

import pytest

from resumption.contract.properties import Property
from resumption.contract.verdicts import Label
from resumption.harness.probes import PROBES
from resumption.harness.runner import run_suite
from resumption.planes.interface import Backend, PlaneSpec
from resumption.planes.langgraph import spec as stock
from resumption.planes.langgraph_guarded.spec import AGENT, AGENT_TYPED_DICTS, SPECS
from resumption.planes.statements import Bears, Citation, cited_by, load

pytest.importorskip("langgraph")

ROOT = Path(__file__).parents[2]
STOCK = {"agent-typed-dicts": stock.AGENT, **{spec.path: spec for spec in stock.SPECS}}
OWN = {"bare-delivery-id", "map-delivery-id", "input-delivery-id", "fork"}
CORRUPTING = ("validity/terminal/null-item", "validity/terminal/null", "validity/middle/null")
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


def test_an_agents_state_is_kept_valid_if_its_typed_dict_is_enforced_and_by_default_it_is_not():
    pytest.importorskip("langchain")
    planes = [replace(spec, backends=_on_sqlite(spec)) for spec in (AGENT, AGENT_TYPED_DICTS)]
    receipt = run_suite(planes, [probe for probe in PROBES if probe.address in CORRUPTING], jobs=2)
    said = {cell.path: cell.label for cell in receipt.cells if cell.property is Property.CHECKPOINT_VALIDITY}
    assert said == {"agent": Label.VIOLATES, "agent-typed-dicts": Label.HOLDS}


def _on_sqlite(spec: PlaneSpec) -> tuple[Backend, ...]:
    return tuple(backend for backend in spec.backends if backend.name == "sqlite")
