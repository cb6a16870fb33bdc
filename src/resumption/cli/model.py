"""`resumption model`: re-derive every figure of the contract's model, and say where one differs.

Exit codes: 0 everything asked for ran and agrees, 1 something deviates, 2 usage, 3 nothing deviates but a part could
not run here (a missing tool or extra), which is said and is no pass.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from resumption.errors import ToolMissing, UnknownName
from resumption.model import checking, independence, proofs
from resumption.model.catalogue import Run, named_runs
from resumption.model.matrix import Matrix, MatrixKind, Row, matrix
from resumption.model.published import FIGURES, Figure
from resumption.model.results import Result, deviations, disagreements
from resumption.model.story import tell

__all__ = ["model"]

DEVIATES, SKIPPED = 1, 3

as_json = click.option("--json", "json_wanted", is_flag=True, help="Print one JSON document instead of tables.")


@dataclass(slots=True)
class Report:
    """What a command found: a JSON document in the making, and the lines that decide its exit code."""

    document: dict[str, Any]
    deviations: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)

    def finish(self, json_wanted: bool, tables: Iterable[Table]) -> None:
        """Print the report and exit with the code that it calls for."""
        if json_wanted:
            document = {**self.document, "deviations": self.deviations, "skipped": self.skipped}
            click.echo(json.dumps(document, indent=2))
        else:
            console = Console(width=None if sys.stdout.isatty() else 160, highlight=False)
            for table in tables:
                console.print(table)
            for line in self.deviations:
                console.print(f"DEVIATES  {line}", markup=False, soft_wrap=True)
            for line in self.skipped:
                console.print(f"SKIPPED   {line}", markup=False, soft_wrap=True)
            if not self.deviations and not self.skipped:
                console.print("Everything agrees.")
        sys.exit(DEVIATES if self.deviations else SKIPPED if self.skipped else 0)


@click.group(short_help="Check the contract's model, and prove it.")
def model() -> None:
    """The contract's model: check it, prove it, and compare with the published figures."""


# --- check ---


@model.command()
@click.argument("runs", nargs=-1, metavar="[RUN]...")
@click.option("--tlc", "with_tlc", is_flag=True, help="Check each run with TLC too (needs Java), and compare.")
@click.option("--jar", type=click.Path(path_type=Path), help="The tla2tools.jar to use instead of the installed one.")
@as_json
def check(runs: Sequence[str], with_tlc: bool, jar: Path | None, json_wanted: bool) -> None:
    """Check runs (all, if none is named) and compare with the published figures of Table II.

    The large runs, R8 and its kin, take TLC minutes and gigabytes: it checks them only if they are named.
    """
    report = Report({"runs": []})
    table = Table(title="Table II: published and obtained", title_justify="left")
    for heading in ("run", "what is checked", "published", "obtained", "by", "TLC", ""):
        table.add_column(heading, overflow="fold")
    notes = []
    for run in _named(runs):
        entry, figure = _check_one(run, report, jar if with_tlc else None, with_tlc and _fit_for_tlc(run, runs))
        report.document["runs"].append(entry)
        table.add_row(*_check_row(run, figure, entry))
        if figure and figure.note:
            notes.append(f"{run.name}: {figure.note}")
    table.caption = "\n".join(["source 'here': our own figure, none is printed", *notes])
    table.caption_justify = "left"
    if with_tlc and (left := [run.name for run in _named(runs) if not _fit_for_tlc(run, runs)]):
        report.skipped.append(f"TLC on {', '.join(left)}: takes minutes and gigabytes; name the run to ask for it.")
    report.finish(json_wanted, [table])


def _named(names: Sequence[str]) -> list[Run]:
    known = named_runs()
    for name in names:
        if name not in known:
            raise UnknownName(f"No run is called {name}.", advice=f"Known: {', '.join(known)}.")
    return [known[name] for name in names] if names else list(known.values())


def _fit_for_tlc(run: Run, named: Sequence[str]) -> bool:
    return not checking.needs_numpy(run) or run.name in named


def _check_one(run: Run, report: Report, jar: Path | None, with_tlc: bool) -> tuple[dict[str, Any], Figure | None]:
    from resumption.model.tlc import tlc

    figure = FIGURES.get(run.name)
    entry: dict[str, Any] = {"run": run.name, "about": run.about, "published": _figure(figure), "agrees": None}
    obtained = _attempt(report, lambda: checking.check(run))
    by_tlc = _attempt(report, lambda: tlc(run, jar=jar, heap="12g")) if with_tlc else None
    found: list[str] = []
    for result in (obtained, by_tlc):
        if result is not None and figure is not None:
            found += deviations(result, figure)
    if obtained is not None and by_tlc is not None:
        found += disagreements(obtained, by_tlc)
    report.deviations.extend(found)
    entry["obtained"], entry["tlc"] = _result(obtained), _result(by_tlc)
    if obtained is not None or by_tlc is not None:
        entry["agrees"] = not found
    return entry, figure


def _attempt(report: Report, action: Callable[[], Result]) -> Result | None:
    try:
        return action()
    except ToolMissing as missing:
        if str(missing) not in report.skipped:
            report.skipped.append(str(missing))
        return None


def _figure(figure: Figure | None) -> dict[str, Any] | None:
    if figure is None:
        return None
    counts = {"generated": figure.generated, "distinct": figure.distinct, "depth": figure.depth}
    return {**counts, "broken": figure.broken, "source": figure.source.value, "note": figure.note}


def _result(result: Result | None) -> dict[str, Any] | None:
    if result is None:
        return None
    return {**result.figures(), "by": result.engine.value, "seconds": round(result.seconds, 3)}


def _check_row(run: Run, figure: Figure | None, entry: dict[str, Any]) -> list[str]:
    source = f" ({figure.source.value})" if figure and figure.source.value == "here" else ""
    obtained = entry["obtained"]
    by_tlc = "-" if entry["tlc"] is None else _counts(entry["tlc"])
    verdict = {True: "agrees", False: "DEVIATES", None: "SKIPPED"}[entry["agrees"]]
    engine = f"{obtained['by']} {obtained['seconds']:.1f} s" if obtained else "-"
    return [run.name, run.about, _counts(entry["published"]) + source, _counts(obtained), engine, by_tlc, verdict]


def _counts(figures: dict[str, Any] | None) -> str:
    if figures is None:
        return "-"

    def shown(name: str) -> str:
        return "?" if figures[name] is None else f"{figures[name]:,}"

    verdict = f"{figures['broken']} breaks" if figures["broken"] else "holds"
    return f"{shown('generated')} / {shown('distinct')}; {shown('depth')}; {verdict}"


# --- matrix ---


@model.command("matrix")
@click.option("--bounds", type=click.Choice(["R0", "R8"]), default="R0", show_default=True)
@click.option(
    "--which",
    type=click.Choice([*(kind.value for kind in MatrixKind), "all"]),
    default=MatrixKind.CONTRACT.value,
    show_default=True,
    help="Table III, or one of its relatives.",
)
@as_json
def matrix_command(bounds: str, which: str, json_wanted: bool) -> None:
    """Print faults against properties: the depth of the shortest counterexample, or that the property holds."""
    kinds = list(MatrixKind) if which == "all" else [MatrixKind(which)]
    if bounds == "R8" and kinds != [MatrixKind.CONTRACT]:
        raise click.UsageError("Only the contract's matrix is defined at the constants of R8.")
    report = Report({"matrices": []})
    tables = []
    for kind in kinds:
        try:
            found = matrix(kind, large=bounds == "R8")
        except ToolMissing as missing:
            report.skipped.append(str(missing))
            continue
        report.document["matrices"].append(_matrix_document(found))
        report.deviations += [f"{found.title}: {row.name}" for row in found.rows if not row.agrees]
        tables.append(_matrix_table(found))
    report.finish(json_wanted, tables)


def _matrix_document(found: Matrix) -> dict[str, Any]:
    def row(row: Row) -> dict[str, Any]:
        cells = [{"claim": cell.claim, "obtained": cell.obtained, "expected": cell.expected} for cell in row.cells]
        space = {"generated": row.generated, "distinct": row.distinct, "method": row.method}
        return {"row": row.name, "cells": cells, **space, "agrees": row.agrees}

    return {"title": found.title, "cells": found.cells, "rows": [row(each) for each in found.rows]}


def _matrix_table(found: Matrix) -> Table:
    caption = (
        "each cell: expected, then obtained; ✓ holds, a number is the depth of the shortest counterexample\n"
        "product: counted as control states × forks × extras, the parts' independence being checked"
    )
    title = f"{found.title} ({found.cells} cells)"
    table = Table(title=title, title_justify="left", caption=caption, caption_justify="left")
    for heading in ("row", "cells", "distinct states", "by", ""):
        table.add_column(heading, overflow="fold", justify="right" if heading == "distinct states" else "left")
    for row in found.rows:
        shown = "  ".join(f"{cell.claim} {_depth(cell.expected)}|{_depth(cell.obtained)}" for cell in row.cells)
        table.add_row(row.name, shown, f"{row.distinct:,}", row.method, "agrees" if row.agrees else "DEVIATES")
    return table


def _depth(depth: int | None) -> str:
    return "✓" if depth is None else str(depth)


# --- prove ---


@model.command()
@click.option("--cvc5/--no-cvc5", "second_opinion", default=True, help="Ask cvc5 too (default), or z3 alone.")
@as_json
def prove(second_opinion: bool, json_wanted: bool) -> None:
    """Prove the contract, completion, every fault's footprint and Proposition 1 for all bounds (extra `prove`)."""
    report = Report({"sections": []})
    try:
        found = proofs.prove_all(second_opinion=second_opinion)
    except ToolMissing as missing:
        report.skipped.append(str(missing))
        report.finish(json_wanted, [])
        return
    table = Table(title="Proved for all tasks, values and budgets", title_justify="left")
    for heading in ("what", "obligations", "by", "seconds", ""):
        table.add_column(heading, overflow="fold")
    for section in found:
        report.document["sections"].append(section.document())
        report.deviations += [f"{section.title}: {line}" for line in section.failures]
        solvers = " and ".join(section.solvers)
        verdict = "FAILS" if section.failures else "proved"
        table.add_row(section.title, str(section.obligations), solvers, f"{section.seconds:.1f}", verdict)
    if second_opinion and all("cvc5" not in section.solvers for section in found):
        report.skipped.append(proofs.CVC5_MISSING)
    report.finish(json_wanted, [table])


# --- independence ---


@model.command("independence")
@as_json
def independence_command(json_wanted: bool) -> None:
    """Derive Proposition 2: which property implies which, with a witness for every non-implication."""
    evidence = independence.gather()
    relations = independence.derive(evidence)
    report = Report(
        {
            "evidence": [
                {"system": e.system, "breaks": dict(e.broken), "keeps": sorted(e.kept), "vacuous": sorted(e.vacuous)}
                for e in evidence
            ],
            "relations": [
                {"premise": r.premise, "conclusion": r.conclusion, "witness": r.witness, "reason": r.reason}
                for r in relations
            ],
        }
    )
    report.deviations = [f"{r.premise} and {r.conclusion}: undecided" for r in relations if not r.decided]
    witnesses = {(r.premise, r.conclusion): r.witness or "implied" for r in relations}
    table = Table(title="Keeping the row's property doesn't keep the column's: the witness", title_justify="left")
    for heading in ("", *independence.SPLIT_PROPERTIES):
        table.add_column(heading, overflow="fold")
    for premise in independence.SPLIT_PROPERTIES:
        row = [witnesses.get((premise, conclusion), "") for conclusion in independence.SPLIT_PROPERTIES]
        table.add_row(premise, *row)
    table.caption = "\n".join(f"{p} implies {c}: {reason}" for (p, c), reason in independence.IMPLIED.items())
    table.caption_justify = "left"
    report.finish(json_wanted, [table])


# --- explain ---


@model.command()
@click.argument("run")
@as_json
def explain(run: str, json_wanted: bool) -> None:
    """Tell the shortest counterexample of RUN as a numbered story."""
    (chosen,) = _named([run])
    try:
        result = checking.check(chosen)
    except ToolMissing as missing:
        click.echo(str(missing), err=True)
        sys.exit(SKIPPED)
    story = tell(result.violation) if result.violation else []
    if json_wanted:
        click.echo(json.dumps({"run": run, "broken": result.broken, "story": story}, indent=2))
    elif story:
        click.echo(f"{run}: {chosen.about}")
        click.echo("\n".join(story))
    else:
        click.echo(f"{run}: {chosen.about}. All claims hold in {result.distinct:,} states; there is nothing to tell.")
