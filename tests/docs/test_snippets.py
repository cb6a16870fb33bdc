"""The comparison of what is shown with what is printed must be able to fail."""

from __future__ import annotations

import pytest
from snippets import PAGES, blocks, missing


@pytest.mark.parametrize(
    ("shown", "printed", "first"),
    [
        (("a", "b"), "a\nb\n", ""),
        (("a", "c"), "a\nb\nc\n", "c"),
        (("a", "…", "c"), "a\nb\nc\n", ""),
        (("…", "b", "a"), "a\nb\n", "a"),
        (("…", "a", "…", "a"), "x\na\n", "a"),
        (("a",), "", "a"),
        ((), "anything", ""),
        (("langgraph 1.2.9  ✓", "#7 fired"), "langgraph 1.2.24 ✓\n#12 fired", ""),
        (("langgraph 1.2.9  ✓",), "langgraph 1.2.24 ✗", "langgraph 1.2.9  ✓"),
    ],
)
def test_a_line_that_was_not_printed_in_its_place_is_found(shown: tuple[str, ...], printed: str, first: str) -> None:
    assert missing(shown, printed) == first


def test_every_block_says_what_it_is_in() -> None:
    assert [page for page in PAGES if list(blocks(page, ""))] == []


def test_the_pages_are_found() -> None:
    assert {"README.md", "ARCHITECTURE.md", "docs/receipts.md"} <= {str(page) for page in PAGES}
