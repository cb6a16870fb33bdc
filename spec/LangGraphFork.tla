---------------------------- MODULE LangGraphFork ---------------------------
(***************************************************************************)
(* How a second value reaches an interrupt that was answered.  Path A: a   *)
(* resume at the checkpoint before the answer is served the answer stored  *)
(* there.  Path B: the fork is created without an answer first, and then   *)
(* answered with its own value.                                            *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS NumValues, Path
ASSUME NumValues \in Nat \ {0} /\ Path \in {"A", "B"}

VARIABLES recorded, forked, outcome
vars == <<recorded, forked, outcome>>

NoVal == 0
Values == 1..NumValues

Init == recorded = NoVal /\ forked = NoVal /\ outcome = NoVal

Resume(v) ==
    /\ recorded = NoVal
    /\ recorded' = v
    /\ UNCHANGED <<forked, outcome>>

Fork(v) ==
    /\ recorded # NoVal
    /\ forked = NoVal
    /\ forked' = v
    /\ outcome' = IF Path = "A" THEN recorded ELSE v
    /\ UNCHANGED recorded

Next == \E v \in Values : Resume(v) \/ Fork(v)

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

FD == outcome = forked
=============================================================================
