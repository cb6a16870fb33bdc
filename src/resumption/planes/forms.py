"""How an adapter finds what to do for the resume form that it is asked for."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import TypeVar

from resumption.planes.interface import unknown_form

__all__ = ["by_form"]

T = TypeVar("T")


def by_form(choices: Mapping[str, T], form: str, listed: Container[str] | None = None) -> T:
    """What an adapter has for a form. With `listed`, the plane has those of the adapter's forms only.

    Raises `ValueError` for a form that the plane doesn't have.
    """
    if form not in choices or (listed is not None and form not in listed):
        raise unknown_form(form)
    return choices[form]
