"""Pages that are made from data, or that must speak of all of it."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from snippets import PAGES, ROOT

import resumption
from resumption.cli.explain import error_classes
from resumption.cli.reference_page import reference_page
from resumption.errors import ResumptionError
from resumption.planes.registry import families, specs
from resumption.report.contract_page import contract_page


def test_the_contract_page_is_what_the_data_says() -> None:
    assert (ROOT / "docs" / "contract.md").read_text(encoding="utf-8") == contract_page()


def test_the_command_line_page_is_what_the_commands_say() -> None:
    assert (ROOT / "docs" / "reference" / "cli.md").read_text(encoding="utf-8") == reference_page()


def test_the_site_s_navigation_has_every_page_and_no_other() -> None:
    site = tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]
    pages = {str(page.relative_to("docs")) for page in PAGES if page.parts[0] == "docs"}
    findings = {page for page in pages if page.startswith("findings/")} - {"findings/README.md"}
    assert sorted(_named(site["nav"])) == sorted(pages - findings)
    overview = (ROOT / "docs" / "findings" / "README.md").read_text(encoding="utf-8")
    assert [page for page in findings if Path(page).name not in overview] == []


def _named(entry: object) -> Iterator[str]:
    """The pages that a part of the navigation names."""
    if isinstance(entry, str):
        yield entry
    elif isinstance(entry, dict | list):
        for part in entry.values() if isinstance(entry, dict) else entry:
            yield from _named(part)


def test_every_error_has_a_section_under_its_code_and_name_and_every_section_an_error() -> None:
    page = (ROOT / "docs" / "errors.md").read_text(encoding="utf-8")
    named = [f"{error.code} {error.__name__}" for error in error_classes()]
    assert sorted(re.findall(r"^### (RSM-.+)$", page, re.MULTILINE)) == named


def test_no_two_errors_share_a_code() -> None:
    codes = [error.code for error in error_classes()]
    assert codes == sorted(set(codes))


_FRAMEWORKS = {spec.adapter.rpartition(".")[0] for family in families() for spec in specs(family) if spec.package}
_NOT_EVERYWHERE = (*(f"{package}." for package in _FRAMEWORKS), "resumption.model.", "resumption.planes.drill.")
"""Modules that need what isn't installed beside the harness, or not for every user."""


def test_every_error_class_is_known_to_explain() -> None:
    for module in pkgutil.walk_packages(resumption.__path__, "resumption."):
        if not module.name.startswith(_NOT_EVERYWHERE) or module.name.endswith(".spec"):
            importlib.import_module(module.name)
    classes: list[type[ResumptionError]] = [ResumptionError]
    for error in classes:
        classes.extend(error.__subclasses__())
    own = {error for error in classes if error.__module__.startswith("resumption.")}
    assert own == set(error_classes())


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_links_within_the_documentation_lead_somewhere(page: object) -> None:
    source = ROOT / str(page)
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", source.read_text(encoding="utf-8"))
    assert [target for target in targets if not (source.parent / target).exists()] == []
