"""The published matrix is what the committed receipts say, and those say what their histories say."""

from __future__ import annotations

from pathlib import Path

import pytest
from snippets import ROOT

from resumption.harness.locks import read_recipe
from resumption.harness.receipts import read_receipt
from resumption.harness.rejudging import disagreements
from resumption.planes.registry import specs
from resumption.report.matrix_page import matrix_page

RECEIPTS = sorted((ROOT / "results").glob("*.json"))


def test_the_page_is_what_the_receipts_say() -> None:
    assert RECEIPTS
    page = (ROOT / "docs" / "matrix.md").read_text(encoding="utf-8")
    assert page == matrix_page({file.name: read_receipt(file) for file in RECEIPTS})


@pytest.mark.parametrize("file", RECEIPTS, ids=lambda file: file.stem)
def test_a_committed_receipt_says_what_its_histories_say(file: Path) -> None:
    assert [str(found) for found in disagreements(read_receipt(file))] == []


@pytest.mark.parametrize("file", RECEIPTS, ids=lambda file: file.stem)
def test_a_committed_receipt_tells_no_folder_of_the_machine(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert [root for root in ("/root/", "/home/", "/tmp/", "/dev/shm/", "site-packages/") if root in text] == []


@pytest.mark.parametrize("file", RECEIPTS, ids=lambda file: file.stem)
def test_a_committed_receipt_is_of_a_release_with_a_committed_lock(file: Path) -> None:
    for cell in read_receipt(file).cells:
        assert cell.version in read_recipe(specs(cell.plane)[0]).releases
