"""Whether a docstring says what a plane's statements quote."""

from __future__ import annotations

import importlib
import inspect
import re

__all__ = ["is_quoted"]

_LINK = re.compile(r"\[([^\]]*)\](\[[^\]]*\]|\([^)]*\))")


def is_quoted(text: str, place: str) -> bool:
    """Whether a docstring, `module:object`, holds a text word for word."""
    module, _, name = place.partition(":")
    target = importlib.import_module(module)
    for part in name.split("."):
        target = getattr(target, part)
    return _plain(text) in _plain(inspect.getdoc(target) or "")


def _plain(text: str) -> str:
    """The words of a text, without line breaks and marks of emphasis, code and links."""
    return " ".join(_LINK.sub(r"\1", text).replace("*", "").replace("`", "").split())
