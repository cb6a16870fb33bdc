"""Files are checked before anything is measured, and left as they were."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumption.errors import OutputUnwritable
from resumption.report.output import check_writable, writing


def test_a_file_that_can_be_written_is_left_as_it_was(tmp_path: Path) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    old.write_text("kept")
    check_writable(old)
    check_writable(new)
    assert old.read_text() == "kept"
    assert not new.exists()


@pytest.mark.parametrize("name", ["", "missing/file"])
def test_a_path_that_can_not_be_written_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(OutputUnwritable, match="can't be written"):
        check_writable(tmp_path / name)


def test_a_disk_that_fills_up_is_told_with_the_file() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("there is no /dev/full here")
    with pytest.raises(OutputUnwritable, match="/dev/full"), writing(full):
        full.write_bytes(b"x")
