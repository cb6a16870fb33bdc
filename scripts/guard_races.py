"""Write what the guard's long tests saw to a page: `python scripts/guard_races.py REPORT.xml ...`.

Reports are what `pytest -m slow --junitxml=REPORT.xml tests/guard/langgraph` writes; several are taken together. What
they have nothing of stays on the page as it was measured before: each section says when that was.
"""

from __future__ import annotations

import json
import os
import platform
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

PAGE = Path(__file__).parents[1] / "benchmarks" / "guard-races.md"
PACKAGES = ("langgraph", "langgraph-checkpoint-sqlite", "langgraph-checkpoint-postgres", "psycopg", "aiosqlite")
REFUSALS = ("AlreadyConsumed", "DecisionPending")
DATABASES = {
    "sqlite": "SQLite",
    "aiosqlite": "SQLite, asynchronous",
    "postgres": "PostgreSQL",
    "aiopostgres": "PostgreSQL, asynchronous",
}
SOAKED = ("sqlite", "postgres")
TITLES = (
    "Races",
    "Executors that are cut off",
    "Kills at every boundary of a statement",
    *(f"Protocols under fire, on {DATABASES[kind]}" for kind in SOAKED),
)
"""The sections, in their order."""


def main(reports: Sequence[str], page: Path = PAGE) -> int:
    """Write the page, and return 1 if a report has a test that didn't pass, or none at all."""
    cases = [case for report in reports for case in ET.parse(report).iter("testcase")]
    if not cases:
        sys.stderr.write(f"{__doc__}\n")
        return 1
    wrong = [case for case in cases if any(child.tag in ("failure", "error") for child in case)]
    stamp = _stamp(len(cases), len(wrong))
    made = [list(section(cases, stamp)) for section in (_races, _cuts, _sweeps)]
    made += [list(_soak(cases, stamp, kind)) for kind in SOAKED]
    sections = _sections(page.read_text(encoding="utf-8").splitlines()) if page.exists() else {}
    sections |= {lines[1]: lines for lines in made if lines}
    known = [line for title in TITLES for line in sections.get(f"## {title}", ())]
    page.write_text("\n".join([*_head(), *known]) + "\n", encoding="utf-8")
    return 1 if wrong else 0


def _sections(lines: Sequence[str]) -> dict[str, list[str]]:
    """The sections of a page, by their headings, each with the empty line in front."""
    at = [number for number, line in enumerate(lines) if line.startswith("## ")]
    ends = [number - 1 for number in at[1:]] + [len(lines)]
    return {lines[begin]: list(lines[begin - 1 : end]) for begin, end in zip(at, ends, strict=True)}


def _head() -> Iterator[str]:
    yield "# The guard under races, kills and cuts"
    yield ""
    yield "Written by `python scripts/guard_races.py` from reports of"
    yield "`pytest -m slow --junitxml=REPORT.xml tests/guard/langgraph`, with the tests that those have. What an effect"
    yield "did is one line in a file outside of the framework."


def _stamp(tests: int, wrong: int) -> tuple[str, ...]:
    """When, where and with what a section was measured, and how the tests of its reports ended."""
    versions = ", ".join(f"{name}=={version(name)}" for name in PACKAGES)
    passed = f"**{wrong} of {tests} tests did not pass.**" if wrong else f"All {tests} tests passed."
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores shared with other work, Python"
        f" {platform.python_version()}, {versions}.",
        passed,
        "",
    )


def _properties(cases: Iterable[ET.Element], name: str) -> Iterator[tuple[ET.Element, Any]]:
    for case in cases:
        for found in case.iter("property"):
            if found.get("name") == name:
                yield case, json.loads(found.get("value", ""))


def _races(cases: Sequence[ET.Element], stamp: Sequence[str]) -> Iterator[str]:
    heats: dict[tuple[str, str, int], list[dict[str, Any]]] = defaultdict(list)
    for _, heat in _properties(cases, "race"):
        heats[heat["database"], heat["means"], sum(heat["told"].values())].append(heat)
    if not heats:
        return
    yield from ("", "## Races", "", *stamp)
    yield "Each heat is one parked run that k racers answer at the same time, differently or alike, or one failed run"
    yield "that they answer, contradict and recover. *Served* were told the outcome of the one that executed."
    yield from ("", "| database | racers | k | heats | fires in each | served | refused | slowest answer, s |")
    yield "|---|---|---:|---:|---:|---:|---:|---:|"
    for (database, means, racers), group in sorted(heats.items(), key=_order):
        fires = Counter(len(heat["fired"]) for heat in group)
        refused = sum(heat["told"].get(name, 0) for heat in group for name in REFUSALS)
        served = sum(heat["told"].get(heat["fired"][0], 0) for heat in group if heat["fired"])
        counts = ", ".join(f"{fire}" for fire in sorted(fires))
        slowest = max(heat["slowest"] for heat in group)
        yield (
            f"| {DATABASES[database]} | {means} | {racers} | {len(group)} | {counts} | {served} | {refused}"
            f" | {slowest:.1f} |"
        )


def _order(item: tuple[tuple[str, str, int], Any]) -> tuple[int, str, int]:
    database, means, racers = item[0]
    return list(DATABASES).index(database), means, racers


def _cuts(cases: Sequence[ET.Element], stamp: Sequence[str]) -> Iterator[str]:
    found = [cut for _, cut in _properties(cases, "cut")]
    if not found:
        return
    yield from ("", "## Executors that are cut off", "", *stamp)
    yield "On a host (a network namespace) 50 ms from the server, one way, until the network is healed. A rival that"
    yield "doesn't wait brings the same decision meanwhile. Each effect fired once, and the same decision got the"
    yield "outcome at last."
    yield from ("", "| database | cut off | meanwhile | the rival was told | the one that was cut off was told |")
    yield "|---|---|---|---|---|"
    for cut in found:
        told = " | ".join("the outcome" if "," in cut[who] else f"`{cut[who]}`" for who in ("near", "far"))
        yield f"| {DATABASES[cut['database']]} | {cut['point']} | {cut['ending']} | {told} |"


def _sweeps(cases: Sequence[ET.Element], stamp: Sequence[str]) -> Iterator[str]:
    found = [(case.get("name", ""), passed) for case, passed in _properties(cases, "boundaries")]
    if not found:
        return
    yield from ("", "## Kills at every boundary of a statement", "", *stamp)
    yield "The executor is killed (SIGKILL) before each statement, and behind it; another goes on. On PostgreSQL a"
    yield "boundary is before what is sent together goes out, and when its answer is there."
    yield from (
        "",
        "| database | who is killed | boundaries, each with one effect and a whole state |",
        "|---|---|---:|",
    )
    for name, passed in found:
        database, _, role = name.partition("[")[2].rstrip("]").split("-")
        yield f"| {DATABASES[database]} | {role} | {passed} |"


def _soak(cases: Sequence[ET.Element], stamp: Sequence[str], kind: str) -> Iterator[str]:
    counts: Counter[str] = Counter()
    for _, tally in _properties(cases, "soak"):
        if tally["database"] != kind:
            continue
        harmed = {f"harmed: {name}": count for name, count in tally.pop("harmed").items()}
        figures = {name: value for name, value in tally.items() if isinstance(value, int)}
        counts.update({**figures, **harmed})
    if not counts:
        return
    yield from ("", f"## Protocols under fire, on {DATABASES[kind]}", "", *stamp)
    yield "A draft, a gate whose payment is an effect, and a notification, on a thread each. Who answers, who is killed"
    yield "or stopped where, and whose sessions the server gives up while it is stopped, is drawn from one seed."
    columns = ("protocols", "executors", *(f"harmed: {harm}" for harm in ("kill", "stop", "cut lease", "cut")))
    faults = ("duplicates", "stuck", "lost", "forged")
    names = " | ".join(name.removeprefix("harmed: ") for name in (*columns, *faults))
    yield from ("", f"| database | {names} |", f"|---|{'---:|' * (len(columns) + len(faults))}")
    yield f"| {DATABASES[kind]} | {' | '.join(str(counts[name]) for name in (*columns, *faults))} |"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
