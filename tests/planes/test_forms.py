"""What an adapter does for a resume form, and that it refuses those which its plane doesn't have."""

from __future__ import annotations

import pytest

from resumption.planes.forms import by_form

CHOICES = {"bare": None, "map": 2}


def test_a_form_is_served_whatever_there_is_for_it() -> None:
    assert by_form(CHOICES, "bare") is None
    assert by_form(CHOICES, "map", {"map"}) == 2


@pytest.mark.parametrize(("form", "listed"), [("other", None), ("other", {"other"}), ("map", {"bare"})])
def test_a_form_that_the_plane_does_not_have_is_refused(form: str, listed: set[str] | None) -> None:
    with pytest.raises(ValueError, match=f"no resume form '{form}'"):
        by_form(CHOICES, form, listed)
