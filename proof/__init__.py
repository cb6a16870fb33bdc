"""Proof of the decision core, about the files that ship. Run it with `python -m proof`; see `docs/proof.md`."""
