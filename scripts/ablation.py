"""Measure what falls without each protection of the guard: `python scripts/ablation.py [PROTECTION ...]`.

Each protection is taken out alone, and the guarded planes are measured by every probe. What breaches then is kept in
`tests/guard/ablation/breaches.json`, and `docs/ablation.md` is made from that. Without a name, all are measured.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from resumption.contract.properties import CONTRACT, OBLIGATIONS

__all__ = ["BREACHES", "ablation_page"]

_FOLDER = Path(__file__).parent.parent / "tests" / "guard" / "ablation"
BREACHES = _FOLDER / "breaches.json"
"""What breaches, by path and missing protection; "" where none is missing."""

_HEAD = """<!-- Made by `make docs` from tests/guard/ablation/breaches.json; a test compares. Measure again
(`python scripts/ablation.py`), don't edit. -->

# What each protection of the guard is for

Each protection is taken out of [the guard](guard.md) alone, what stock LangGraph does takes its place, and the guarded
planes are measured again on SQLite, by every probe. ✗ is a cell that holds with all protections and breaches without
this one; what an empty field stands for is as before. Where one protection stands behind another, it is taken out with
that one out already. The tests repeat a part of it each time, and all of it with `make soak`. Effects between their
firing and their record are left out: there the policy of the effect decides.

"""

_FOOT = """
The *lease* keeps racing recoveries and inputs apart (racing decisions are stopped by the claim too); where the effects
are in the ledger, that stops most of them as well. The *fence* stops an executor that was replaced, so it shows where
a lease was lost: here the file of locks is deleted under an executor that lives, and on PostgreSQL the server gives
its session up (`recovery/lease-lost`). Without the lease there is none to lose, so those probes are passed by. The
memory of *answers* matters where a node fails between two of its questions: the second decision is lost, and its
question can neither be answered again nor recovered. A scenario for each protection is played too, with it and without
it: [`test_ablation.py`](../tests/guard/langgraph/test_ablation.py).

*Claims at the write* and *fork at the write* are no protections of the guard: they are what arXiv 2608.03836 tried
first, the same decisions taken where the saver writes. They have to fail, since LangGraph has read what it runs on
before it writes.

## Which probe sees it
"""


def main(names: list[str]) -> None:
    """Measure, keep what breaches, and write the page."""
    sys.path.append(str(_FOLDER))
    from ablated.measuring import TAKEN_OUT, breaches, measured, untold

    known: dict[str, dict[str, list[str]]] = json.loads(BREACHES.read_text()) if BREACHES.exists() else {}
    for path, protections in TAKEN_OUT.items():
        for missing in ("", *protections):
            if names and missing not in names:
                continue
            receipt = measured(path, missing)
            if missed := untold(receipt):
                raise SystemExit(f"{path} without {missing or 'nothing'}: {', '.join(sorted(missed))} can't be told")
            known.setdefault(path, {})[missing] = sorted(breaches(receipt))
            BREACHES.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8")
            sys.stderr.write(f"{path} without {missing or 'nothing'}: {len(known[path][missing])} breaches\n")


def ablation_page() -> str:
    """The page, as Markdown."""
    found = json.loads(BREACHES.read_text(encoding="utf-8"))
    fallen = {path: _fallen(by_protection) for path, by_protection in found.items()}
    return _HEAD + "\n".join(_table(fallen)) + "\n" + _FOOT + "\n".join(_details(fallen)) + "\n"


def _fallen(found: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """What breaches without each protection, and holds with all but those that are out already."""
    return {
        missing: sorted(set(parts) - set(found[missing.rpartition(",")[0]]))
        for missing, parts in found.items()
        if missing
    }


def _shown(missing: str) -> str:
    already, _, protection = missing.rpartition(",")
    return f"{protection}, the {already} being out" if already else protection


def _table(fallen: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    columns = [*CONTRACT, *OBLIGATIONS]
    yield f"| path | without | {' | '.join(columns)} |"
    yield "|---" * (len(columns) + 2) + "|"
    for path, by_protection in fallen.items():
        for missing, parts in by_protection.items():
            down = {part.partition(" ")[0].partition("/")[0] for part in parts}
            marks = ("✗" if column in down else "" for column in columns)
            yield f"| {path} | {_shown(missing)} | {' | '.join(marks)} |"


def _details(fallen: Mapping[str, Mapping[str, list[str]]]) -> Iterator[str]:
    for path, by_protection in fallen.items():
        for missing, parts in by_protection.items():
            if parts:
                yield f"\n### {path}, without {_shown(missing)}\n"
                yield from _by_cell(parts)


def _by_cell(parts: list[str]) -> Iterator[str]:
    cells: dict[str, list[str]] = {}
    for part in parts:
        cell, _, probe = part.partition(" ")
        cells.setdefault(cell, []).append(f"`{probe}`")
    for cell, probes in cells.items():
        yield f"- {cell}: {', '.join(probes)}"


if __name__ == "__main__":
    main(sys.argv[1:])
