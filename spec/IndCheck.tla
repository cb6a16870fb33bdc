------------------------------ MODULE IndCheck ------------------------------
(***************************************************************************)
(* The inductive invariant of the contract, checked as such: the initial   *)
(* states are ALL states that satisfy it, reachable or not, and every      *)
(* action must lead back into it.  If it is inductive, the search finds no *)
(* state beyond the initial ones.  The bounds are finite here; the same    *)
(* invariant is proved for all bounds by SMT (docs/model.md).              *)
(***************************************************************************)
EXTENDS ResumeContract

SeqsUpTo(S, n) == UNION {[1..k -> S] : k \in 0..n}

Frontier   == dur = pc - 1
Effects    == effects = [t \in Tasks |-> IF t < pc THEN 1 ELSE 0]
Parked     == waiting => pc = IP /\ consumed = NoVal
Recoveries == \A i \in 1..Len(recHist) : recHist[i][2] = recHist[i][1] + 1
LogIsPrefix == Len(log) = dur /\ \A i \in 1..Len(log) : log[i].task = i

IndInv ==
    /\ TypeOK /\ Frontier /\ Effects /\ Parked /\ Recoveries /\ LogIsPrefix
    /\ EO /\ PC /\ FD /\ CV /\ CO /\ RD

(* The same set of states, written so that TLC can enumerate it.            *)
IndInit ==
    /\ pc \in 1..(N + 1)
    /\ dur = pc - 1
    /\ effects = [t \in Tasks |-> IF t < pc THEN 1 ELSE 0]
    /\ log = [i \in 1..dur |-> Rec(i, TRUE)]
    /\ consumed \in Values \cup {NoVal}
    /\ waiting \in {w \in BOOLEAN : w => pc = IP /\ consumed = NoVal}
    /\ forkVals \in SeqsUpTo(Values, MaxResumes - 1)
    /\ forkOuts = forkVals
    /\ crashes \in 0..MaxCrashes
    /\ recHist \in [1..crashes -> {<<d, d + 1>> : d \in 0..(N - 1)}]
    /\ extras \in 0..MaxExtra
    /\ prefixRegress = FALSE

IndSpec == IndInit /\ [][Next]_vars
=============================================================================
