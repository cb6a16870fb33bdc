"""Text that others chose is shown whole or cut visibly, and hides nothing."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from receipts import HOSTILE

from resumption.report.legible import brief, legible, one_line


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ✓ 🦜 שלום\tand\nlines", "plain ✓ 🦜 שלום\tand\nlines"),
        ("\x00\x1b[2J\x7f", "\\x00\\x1b[2J\\x7f"),
        ("a\u202eb", "a\\u202eb"),
        ("\x85\u2028\ufffe", "\\x85\\u2028\\ufffe"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_hides_or_rewrites_text_is_spelled_out(text: str, shown: str) -> None:
    assert legible(text) == shown


def test_anything_can_be_written_as_utf_8_and_as_xml() -> None:
    every = "".join(map(chr, range(0x11000)))
    element = ElementTree.Element("a")
    element.text = legible(every + HOSTILE)
    assert ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8")).text


def test_long_text_is_cut_and_says_how_long_it_was() -> None:
    assert brief("x" * 1_000_000, 10) == "xxxxxxxxxx… (1,000,000 characters)"
    assert brief("x" * 10, 10) == "x" * 10


def test_one_line_has_no_line_breaks() -> None:
    assert one_line("a\nb\r\n c\u2028d") == "a b c d"
