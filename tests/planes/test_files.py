"""A run's JSON files: replaced whole by their caller, altered in place from outside."""

from __future__ import annotations

from pathlib import Path

import pytest

from resumption.planes.files import altered, file_of, read, replace
from resumption.planes.interface import Store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = file_of(Store("json-file", tmp_path, "run"))
    replace(path, '{"trail": []}')
    return path


def test_a_fork_has_a_file_of_its_own(tmp_path: Path) -> None:
    store = Store("json-file", tmp_path, "run")
    assert file_of(store) != file_of(store, "-fork")


def test_what_is_replaced_is_read_and_leaves_nothing_beside(file: Path) -> None:
    assert read(file) == {"trail": []}
    assert list(file.parent.iterdir()) == [file]


def test_a_file_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "none.json") is None


def test_who_reads_while_a_file_is_replaced_keeps_the_old_one(file: Path) -> None:
    with file.open() as reading:
        replace(file, "[1]")
        assert reading.read() == '{"trail": []}'
    assert read(file) == [1]


def test_a_file_is_altered_in_its_place_and_not_at_all_if_that_fails(file: Path) -> None:
    inode = file.stat().st_ino
    with altered(file) as held:
        held["trail"] = 7
    assert (read(file), file.stat().st_ino) == ({"trail": 7}, inode)
    with pytest.raises(KeyError), altered(file) as held:
        held.pop("nothing")
    assert read(file) == {"trail": 7}
