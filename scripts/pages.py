"""Write the pages of the documentation that are made from data: `python scripts/pages.py`, or `make docs`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ablation import ablation_page

from resumption.cli.reference_page import reference_page
from resumption.harness.receipts import Receipt, read_receipt
from resumption.report.contract_page import contract_page
from resumption.report.matrix_page import matrix_page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"


def results() -> dict[str, Receipt]:
    """The committed receipts, by the names of their files."""
    return {file.name: read_receipt(file) for file in sorted(RESULTS.glob("*.json"))}


PAGES: dict[str, Callable[[], str]] = {
    "ablation.md": ablation_page,
    "contract.md": contract_page,
    "matrix.md": lambda: matrix_page(results()),
    "reference/cli.md": reference_page,
}


def main() -> None:
    """Rewrite each of them."""
    for name, page in PAGES.items():
        (DOCS / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
