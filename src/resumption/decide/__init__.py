"""The decisions behind "resume": pure, total functions that the guard, the ledger and the reference plane share.

| module | question |
|---|---|
| `admit` | may this effect fire? |
| `branch` | does this delivery continue a branch, or open a new one? |
| `claim` | which interrupt is this delivery for, and may it consume it? |
| `commit` | may this write become durable, and where is the frontier after it? |
| `lease` | who may execute this thread? |
| `recover` | does this task run, park, or is its record served? |
| `view` | may this execution see that recorded decision? |

Rules of the package:

* A function sees ints, bools, strings and optionals. Time, ids and fences are arguments. Collections arrive as an
  answer about a *set* of records (is it in there, how many, the highest), never as a sequence, so no decision can
  depend on the order in which records were written.
* Every branch returns a member of its own, so a log that prints the result names the branch that was taken.
* A caller decides between taking a lock and a conditional write. Nothing here reads a clock, a file or a database.
* These files are translated to SMT and proved as they are shipped (`docs/proof.md`), so they stay within the small
  subset of Python that the translator accepts: enums of strings, and functions made of `if`, `return` and expressions.

Arguments must be what their annotations say: `True` where an int is asked for, or an object with an `__eq__` of its
own, is outside what was proved.
"""
