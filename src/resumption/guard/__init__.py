"""What makes a program keep the contract: the effect ledger, and the guards of single frameworks."""
