"""Which names a store can hold: one rule for keys, threads, deliveries and addresses, whatever the store."""

from __future__ import annotations

__all__ = ["LONGEST", "printable", "unstorable"]

LONGEST = 1024
"""In bytes. PostgreSQL can index about 2,700: two such names, or a key made from a name and two identities."""


def unstorable(name: str, *, longest: int | None = LONGEST) -> str | None:
    """Why a store can't hold this name, or None. A lone surrogate is no text, and PostgreSQL's text has no NUL."""
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        return "is not valid Unicode"
    if "\0" in name:
        return "has a NUL character"
    if longest is not None and size > longest:
        return f"takes {size} bytes, of at most {longest}"
    return None


def printable(text: str) -> str:
    """Text for people, such as the message of an error, in a form that a store can hold."""
    return text.encode(errors="backslashreplace").decode().replace("\0", "\\0")
