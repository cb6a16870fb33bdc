"""Write the pages of the documentation that are made from data: `python scripts/pages.py`, or `make docs`."""

from __future__ import annotations

from pathlib import Path

from resumption.harness.receipts import Receipt, read_receipt
from resumption.report.contract_page import contract_page
from resumption.report.matrix_page import matrix_page

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
RESULTS = ROOT / "results"


def results() -> dict[str, Receipt]:
    """The committed receipts, by the names of their files."""
    return {file.name: read_receipt(file) for file in sorted(RESULTS.glob("*.json"))}


def main() -> None:
    """Rewrite `docs/contract.md` and `docs/matrix.md`."""
    (DOCS / "contract.md").write_text(contract_page(), encoding="utf-8")
    (DOCS / "matrix.md").write_text(matrix_page(results()), encoding="utf-8")


if __name__ == "__main__":
    main()
