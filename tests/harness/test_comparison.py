"""What changed between two receipts, as told to people and programs, and as an exit code."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from resumption.cli import main
from resumption.contract.properties import Property
from resumption.contract.verdicts import Finding, Label, Measured, Step, merge, merge_measured
from resumption.errors import ComparisonImpossible
from resumption.harness.comparison import Change, Comparison, changed_probes, compare, confirm
from resumption.harness.receipts import Cell, Part, Receipt, new_receipt, write
from resumption.report.comparison import as_json, as_markdown, print_changes, print_comparison

BREACHES = {Label.VIOLATES, Label.UNDOCUMENTED, Label.DIVERGENT}
STORY = Finding("effect `a` fired twice", (Step(4, "effect `a` fired"), Step(9, "effect `a` fired")))


def part(probe: str, label: Label) -> Part:
    measured = {Label.HOLDS: Measured.CONFORMS, Label.VACUOUS: Measured.UNEXERCISED}.get(label, Measured.UNDETERMINED)
    if label in BREACHES:
        return Part(probe=probe, trials=1, measured=Measured.BREACHES, label=label, findings=(STORY,))
    return Part(probe=probe, trials=1, measured=measured, label=label)


def cell(version: str, property_: Property = Property.EFFECT_EXACTLY_ONCE, **labels: Label) -> Cell:
    parts = tuple(part(probe, label) for probe, label in labels.items())
    label = merge(part.label for part in parts)
    return Cell(
        plane="any",
        version=version,
        path="graph",
        backend="sqlite",
        property=property_,
        measured=merge_measured(part.measured for part in parts),
        label=label,
        strict=label,
        parts=parts,
    )


def receipt(*cells: Cell) -> Receipt:
    version = cells[0].version
    return new_receipt(cells, {}, {"any-graph": {"any": version, "same": "1", f"only-{version}": "1"}})


def compared(before: Cell, after: Cell) -> Comparison:
    return compare(receipt(before), receipt(after), names=("any@1", "any@2"))


@pytest.mark.parametrize("breach", sorted(BREACHES))
def test_a_cell_that_held_and_breaches_is_a_regression_and_the_reverse_a_fix(breach: Label) -> None:
    held, broken = cell("1", crash=Label.HOLDS), cell("2", crash=breach)
    assert [change.change for change in compared(held, broken).changes] == [Change.REGRESSED]
    assert [change.change for change in compared(broken, held).changes] == [Change.FIXED]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (Label.VIOLATES, Label.DIVERGENT),
        (Label.DIVERGENT, Label.VIOLATES),
        (Label.HOLDS, Label.INCONCLUSIVE),
        (Label.VACUOUS, Label.VIOLATES),
        (Label.NOT_RUN, Label.HOLDS),
    ],
)
def test_any_other_change_of_label_is_drift(before: Label, after: Label) -> None:
    assert [change.change for change in compared(cell("1", crash=before), cell("2", crash=after)).changes] == [
        Change.DRIFTED
    ]


def test_a_cell_that_is_what_it_was_is_counted_only() -> None:
    found = compared(cell("1", crash=Label.VIOLATES), cell("2", crash=Label.VIOLATES))
    assert found.changes == ()
    assert [unchanged.version for unchanged in found.unchanged] == ["2"]


def test_a_probe_that_newly_breaks_in_a_broken_cell_is_a_regression() -> None:
    before = cell("1", crash=Label.VIOLATES, race=Label.HOLDS)
    after = cell("2", crash=Label.VIOLATES, race=Label.VIOLATES)
    (change,) = compared(before, after).changes
    assert change.change is Change.REGRESSED
    assert [(probe.probe, probe.change) for probe in change.probes] == [("race", Change.REGRESSED)]


def test_a_probe_that_is_repaired_in_a_cell_still_broken_is_drift() -> None:
    before = cell("1", crash=Label.VIOLATES, race=Label.VIOLATES)
    after = cell("2", crash=Label.VIOLATES, race=Label.HOLDS)
    assert [change.change for change in compared(before, after).changes] == [Change.DRIFTED]


def test_a_breach_that_only_a_newer_suite_looks_for_is_no_regression() -> None:
    before = cell("1", crash=Label.HOLDS)
    after = cell("2", crash=Label.HOLDS, race=Label.VIOLATES)
    assert [change.change for change in compared(before, after).changes] == [Change.DRIFTED]


def test_cells_that_only_one_receipt_has_are_new_or_gone() -> None:
    shared, other = Property.EFFECT_EXACTLY_ONCE, Property.LIVENESS
    both = receipt(cell("1", shared, crash=Label.HOLDS), cell("1", other, crash=Label.HOLDS))
    one = receipt(cell("2", shared, crash=Label.HOLDS))
    assert [change.change for change in compare(both, one, names=("a", "b")).changes] == [Change.GONE]
    assert [change.change for change in compare(one, both, names=("a", "b")).changes] == [Change.NEW]


def test_what_only_one_receipt_has_is_summed_up_and_tells_no_story() -> None:
    shared = cell("1", Property.EFFECT_EXACTLY_ONCE, crash=Label.HOLDS)
    others = [cell("2", property_, crash=Label.VIOLATES) for property_ in (Property.LIVENESS, Property.FORK_INTENT)]
    found = compare(receipt(shared), receipt(shared, *others), names=("a", "b"))
    console = Console(file=io.StringIO(), width=100)
    print_comparison(found, console)
    told = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO given above
    assert "Measured in b only, and so not compared\n ✗ 2 violates: FI, LV on any graph sqlite\n" in told
    assert "fired twice" not in told
    assert "### Measured in b only, and so not compared" in as_markdown(found)


def test_regressions_are_told_first() -> None:
    labels = {Property.EFFECT_EXACTLY_ONCE: (Label.VIOLATES, Label.HOLDS), Property.LIVENESS: (Label.HOLDS,) * 2}
    labels[Property.PREFIX_CONTINUATION] = (Label.HOLDS, Label.VIOLATES)
    before = receipt(*(cell("1", property_, crash=old) for property_, (old, _) in labels.items()))
    after = receipt(*(cell("2", property_, crash=new) for property_, (_, new) in labels.items()))
    found = compare(before, after, names=("a", "b"))
    assert [change.change for change in found.changes] == [Change.REGRESSED, Change.FIXED]


def test_distributions_that_both_environments_have_are_compared() -> None:
    (pin,) = compared(cell("1", crash=Label.HOLDS), cell("2", crash=Label.HOLDS)).pins
    assert (pin.name, pin.before, pin.after) == ("any", "1", "2")


def test_a_change_that_is_not_seen_again_is_unsettled() -> None:
    held, broken = cell("1", crash=Label.HOLDS), cell("2", crash=Label.VIOLATES)
    found = compared(held, broken)
    assert changed_probes(found) == {"crash"}
    assert confirm(found, receipt(held), receipt(broken)) == found
    for again in ((broken, broken), (held, cell("2", crash=Label.HOLDS)), (held, cell("2", other=Label.VIOLATES))):
        unsettled = confirm(found, *map(receipt, again))
        assert [change.change for change in unsettled.changes] == [Change.UNSETTLED]


def test_a_regression_that_is_seen_again_stays_one_beside_a_probe_that_wavers() -> None:
    held = cell("1", crash=Label.HOLDS, race=Label.HOLDS)
    broken = cell("2", crash=Label.VIOLATES, race=Label.VIOLATES)
    found = confirm(compared(held, broken), receipt(held), receipt(cell("2", crash=Label.VIOLATES, race=Label.HOLDS)))
    assert [change.change for change in found.changes] == [Change.REGRESSED]


def test_a_receipt_of_several_versions_is_refused() -> None:
    both = receipt(cell("1", crash=Label.HOLDS), cell("2", crash=Label.HOLDS))
    with pytest.raises(ComparisonImpossible, match="more than one version"):
        compare(both, receipt(cell("2", crash=Label.HOLDS)), names=("both", "one"))


def test_receipts_of_different_planes_are_refused() -> None:
    other = replace(cell("2", crash=Label.HOLDS), plane="other")
    with pytest.raises(ComparisonImpossible, match="no cell in common"):
        compare(receipt(cell("1", crash=Label.HOLDS)), receipt(other), names=("a", "b"))


def test_json_holds_the_whole_comparison() -> None:
    found = compared(cell("1", crash=Label.HOLDS), cell("2", crash=Label.VIOLATES))
    assert msgspec.json.decode(as_json(found), type=Comparison) == found


def test_the_terminal_report_tells_the_stories_of_both_sides() -> None:
    console = Console(file=io.StringIO(), width=100)
    print_comparison(compared(cell("1", crash=Label.HOLDS), cell("2", crash=Label.VIOLATES)), console)
    told = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO given above
    assert "1 regressed, 0 fixed, 0 drifted, 0 unsettled, 0 new, 0 gone, 0 unchanged" in told
    assert "EO holds to violates" in told
    assert "any@1: holds on sqlite" in told
    assert "any@2: crash on sqlite: effect `a` fired twice" in told
    assert "#9" in told


def test_stories_in_markdown_cannot_break_out_of_their_fence() -> None:
    broken = cell("2", crash=Label.VIOLATES)
    told = Finding('value "```" <img src=x> was stored', (Step(1, "it was stored"),))
    broken = replace(broken, parts=tuple(replace(part, findings=(told,)) for part in broken.parts))
    text = as_markdown(compared(cell("1", crash=Label.HOLDS), broken))
    assert "| `any/graph/sqlite/EO` | ✓ holds | ✗ violates |" in text
    opening = text.index("````text\n")
    assert opening < text.index("<img") < text.index("\n````\n", opening)


@pytest.mark.parametrize(
    ("before", "after", "options", "code"),
    [
        (Label.HOLDS, Label.VIOLATES, [], 1),
        (Label.HOLDS, Label.VIOLATES, ["--fail-on", "never"], 0),
        (Label.VIOLATES, Label.HOLDS, [], 0),
        (Label.VIOLATES, Label.HOLDS, ["--fail-on", "drift"], 1),
        (Label.VIOLATES, Label.VIOLATES, ["--fail-on", "drift"], 0),
        (Label.HOLDS, Label.INCONCLUSIVE, [], 3),
        (Label.INCONCLUSIVE, Label.INCONCLUSIVE, [], 0),
    ],
)
def test_the_exit_code_says_whether_it_got_worse(
    before: Label, after: Label, options: list[str], code: int, tmp_path: Path
) -> None:
    files = [tmp_path / "before.json", tmp_path / "after.json"]
    for file, version, label in zip(files, "12", (before, after), strict=True):
        write(receipt(cell(version, crash=label)), file)
    done = CliRunner().invoke(main, ["compare", *map(str, files), *options, "--json", str(tmp_path / "out.json")])
    assert done.exit_code == code, done.output
    assert msgspec.json.decode((tmp_path / "out.json").read_bytes(), type=Comparison).before.name == str(files[0])


@pytest.mark.parametrize("arguments", [["missing.json", "langgraph"], ["langgraph@1,2", "langgraph"]])
def test_a_side_that_is_no_receipt_and_no_single_release_is_a_mistake(arguments: list[str]) -> None:
    assert CliRunner().invoke(main, ["compare", *arguments]).exit_code == 2


def test_a_sweep_tells_changes_without_stories() -> None:
    console = Console(file=io.StringIO(), width=100)
    print_changes(compared(cell("1", crash=Label.HOLDS), cell("2", crash=Label.VIOLATES)), console)
    told = console.file.getvalue()  # type: ignore[attr-defined]  # it is the StringIO given above
    assert "any@1 → any@2: 1 regressed" in told
    assert "EO holds to violates" in told
    assert "#9" not in told
