"""Text that others chose (states, decisions, messages of errors), made fit for a page or a file of any format.

What a reader could not see, or what would rewrite the text around it, is spelled out as an escape: control characters,
and marks that turn the direction of writing. What is long is cut, and its length told.
"""

from __future__ import annotations

import re

__all__ = ["brief", "legible", "one_line"]

_BYTE = 0x100
# Controls but tab and newline, the C1 controls, marks and overrides of direction, lone surrogates, and noncharacters:
# XML 1.0 forbids many of them, and the others make a line read as something that it isn't.
_HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff]"
)


def legible(text: str) -> str:
    """The text with everything hidden in it spelled out; it can be encoded as UTF-8 and put into XML."""
    return _HIDDEN.sub(_spelled, text)


def brief(text: str, longest: int) -> str:
    """The legible text, cut to about `longest` characters if it has more."""
    if len(text) <= longest:
        return legible(text)
    return f"{legible(text[:longest])}… ({len(text):,} characters)"


def one_line(text: str) -> str:
    """The legible text without line breaks, for formats in which a line break ends something."""
    return legible(" ".join(text.split()))


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < _BYTE else f"\\u{code:04x}"
