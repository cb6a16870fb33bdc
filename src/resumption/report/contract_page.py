"""The contract as a page of the documentation, made from the same data that judges and reports use."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from resumption.contract.properties import CONTRACT, OBLIGATIONS, STATEMENTS, Property
from resumption.report.marks import MARKS

__all__ = ["contract_page"]

_INTRODUCTION = """\
<!-- Made by `make docs` from the contract's data; a test compares. Change the data, not this page. -->

# The contract

What "resume" has to mean, as nine properties after "Resume Means Resume" (arXiv 2608.03836), and obligations to users
beyond it. Each is judged from recorded histories alone: see [receipts](receipts.md).
`resumption explain CODE` names the probes that decide a property.
"""

_AXES = """\
## Labels

A judge measures: a history *conforms*, *breaches*, leaves the property *unexercised*, or leaves it *undetermined*. One
rule then labels, by what the framework states of itself: a breach that contradicts a citable statement, or that stores
corrupt state in silence, *violates*; one that a citable weaker statement covers is *divergent*; one with neither is
*undocumented*. A resume form that nobody documents is *undocumented* at worst. Under `--strict`, any breach of a
documented form violates. Labels win in this order when the parts of a cell are merged:
"""


def contract_page() -> str:
    """The page, as Markdown."""
    parts = [
        _INTRODUCTION,
        "## The nine columns\n",
        *_sections(CONTRACT),
        "## User obligations\n",
        *_sections(OBLIGATIONS),
        _AXES,
        "\n".join(_labels()),
    ]
    return "\n".join(parts) + "\n"


def _sections(properties: Iterable[Property]) -> Iterator[str]:
    for property_ in properties:
        said = STATEMENTS[property_]
        yield f"### {property_}: {said.name}\n"
        yield f"*{said.question}* {said.statement}\n"
        yield f"Source: {said.source}.\n"


def _labels() -> Iterator[str]:
    yield "| | label | means |"
    yield "|---|---|---|"
    for mark in MARKS.values():
        yield f"| {mark.symbol} | {mark.word} | {mark.meaning} |"
