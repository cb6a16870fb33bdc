--------------------------- MODULE ResumeContract ---------------------------
(***************************************************************************)
(* What "resume" means, for one run of N tasks in a row on one thread.     *)
(* Task IP is the gate: its effect fires only after a decision.  Source:   *)
(* "Resume Means Resume" (arXiv 2608.03836).  The bounds make the state    *)
(* space finite; the fault switches break one sentence of the contract     *)
(* each.  All switches FALSE is the reference.                             *)
(***************************************************************************)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS
    N,             \* number of tasks
    IP,            \* position of the gate
    NumValues,     \* decisions are 1 .. NumValues
    MaxResumes,    \* resumes at the gate: the one that consumes, then forks
    MaxCrashes,
    MaxExtra,      \* resumes of the completed run without fork intent
    FaultReplay,           \* recovery starts over, every effect fires again
    FaultPrefixReplay,     \* recovery starts over, only the gate is served from its record
    FaultForkIgnore,       \* a fork gets the outcome of the decision recorded first
    FaultInvalidPersist,   \* the last task's invalid write is stored
    FaultDoubleConsume,    \* an extra resume fires the gate's effect again
    FaultNondetRecovery    \* recovery chooses between the frontier and the start

ASSUME
    /\ N \in Nat \ {0} /\ IP \in 1..N /\ NumValues \in Nat \ {0} /\ MaxResumes \in Nat \ {0}
    /\ MaxCrashes \in Nat /\ MaxExtra \in Nat
    /\ {FaultReplay, FaultPrefixReplay, FaultForkIgnore, FaultInvalidPersist,
        FaultDoubleConsume, FaultNondetRecovery} \subseteq BOOLEAN

VARIABLES
    pc,            \* the task that executes next; N + 1 when completed
    effects,       \* how often each task's effect has fired on this branch
    log,           \* the durable log: one record per finished task
    dur,           \* the durable frontier: the last task made durable
    waiting,       \* the gate is parked
    consumed,      \* the decision that the gate consumed, or NoVal
    forkVals,      \* the values that forks carried ...
    forkOuts,      \* ... and the outcomes that they had
    crashes,
    recHist,       \* recovery decisions: <<frontier found, task continued at>>
    extras,
    prefixRegress  \* a task at or before the frontier has executed again

vars == <<pc, effects, log, dur, waiting, consumed, forkVals, forkOuts, crashes, recHist, extras, prefixRegress>>

NoVal  == 0
Values == 1..NumValues
Tasks  == 1..N
Completed == pc = N + 1

Fire(t) == [effects EXCEPT ![t] = @ + 1]
Rec(t, ok) == [task |-> t, valid |-> ok]

Init ==
    /\ pc = 1
    /\ effects = [t \in Tasks |-> 0]
    /\ log = <<>>
    /\ dur = 0
    /\ waiting = FALSE
    /\ consumed = NoVal
    /\ forkVals = <<>>
    /\ forkOuts = <<>>
    /\ crashes = 0
    /\ recHist = <<>>
    /\ extras = 0
    /\ prefixRegress = FALSE

(* "A task runs, its effect fires, its record becomes durable."  A gate     *)
(* passes here only in a replay, when its decision is on record already.    *)
ExecTask ==
    /\ pc <= N
    /\ ~waiting
    /\ pc = IP => consumed # NoVal
    /\ effects' = IF FaultPrefixReplay /\ pc = IP THEN effects ELSE Fire(pc)
    /\ log' = Append(log, Rec(pc, ~(FaultInvalidPersist /\ pc = N)))
    /\ dur' = pc
    /\ prefixRegress' = (prefixRegress \/ pc <= dur)
    /\ pc' = pc + 1
    /\ UNCHANGED <<waiting, consumed, forkVals, forkOuts, crashes, recHist, extras>>

(* "A gate parks, and asks once."                                           *)
EmitInterrupt ==
    /\ pc = IP
    /\ ~waiting
    /\ consumed = NoVal
    /\ waiting' = TRUE
    /\ UNCHANGED <<pc, effects, log, dur, consumed, forkVals, forkOuts, crashes, recHist, extras, prefixRegress>>

(* "One resume consumes the interrupt": decision, effect and record are one *)
(* atomic step.                                                             *)
Consume(v) ==
    /\ waiting
    /\ waiting' = FALSE
    /\ consumed' = v
    /\ effects' = Fire(IP)
    /\ log' = Append(log, Rec(IP, TRUE))
    /\ dur' = IP
    /\ pc' = IP + 1
    /\ UNCHANGED <<forkVals, forkOuts, crashes, recHist, extras, prefixRegress>>

(* "A resume with fork intent has the outcome of its own value."  The       *)
(* consuming resume uses one of the budget.  A fork is legal at any time    *)
(* after it; its branch is its own, so nothing else changes here.           *)
ForkResume(v) ==
    /\ consumed # NoVal
    /\ Len(forkVals) < MaxResumes - 1
    /\ forkVals' = Append(forkVals, v)
    /\ forkOuts' = Append(forkOuts, IF FaultForkIgnore THEN consumed ELSE v)
    /\ UNCHANGED <<pc, effects, log, dur, waiting, consumed, crashes, recHist, extras, prefixRegress>>

RecoveryPoints ==
    IF FaultReplay \/ FaultPrefixReplay THEN {1}
    ELSE IF FaultNondetRecovery THEN {1, dur + 1}
    ELSE {dur + 1}

(* "A recovery continues behind the durable frontier", and what it decides  *)
(* follows from the durable log alone.                                      *)
CrashRecover ==
    /\ ~waiting
    /\ 1 < pc
    /\ pc <= N
    /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ \E d \in RecoveryPoints :
        /\ pc' = d
        /\ recHist' = Append(recHist, <<dur, d>>)
    /\ UNCHANGED <<effects, log, dur, waiting, consumed, forkVals, forkOuts, extras, prefixRegress>>

(* "A resume without fork intent of a finished run fires nothing."          *)
ExtraResume ==
    /\ Completed
    /\ extras < MaxExtra
    /\ extras' = extras + 1
    /\ effects' = IF FaultDoubleConsume THEN Fire(IP) ELSE effects
    /\ UNCHANGED <<pc, log, dur, waiting, consumed, forkVals, forkOuts, crashes, recHist, prefixRegress>>

Next ==
    \/ ExecTask
    \/ EmitInterrupt
    \/ \E v \in Values : Consume(v)
    \/ \E v \in Values : ForkResume(v)
    \/ CrashRecover
    \/ ExtraResume

Spec == Init /\ [][Next]_vars /\ WF_vars(Next)

-----------------------------------------------------------------------------
(* The six properties.                                                      *)

EO == \A t \in Tasks : effects[t] <= 1
PC == ~prefixRegress
FD == forkOuts = forkVals
CV == \A i \in 1..Len(log) : log[i].valid
CO == effects[IP] <= 1
RD == \A i, j \in 1..Len(recHist) : recHist[i][1] = recHist[j][1] => recHist[i][2] = recHist[j][2]

TypeOK ==
    /\ pc \in 1..(N + 1)
    /\ effects \in [Tasks -> Nat]
    /\ \A i \in 1..Len(log) : log[i] \in [task : Tasks, valid : BOOLEAN]
    /\ dur \in 0..N
    /\ waiting \in BOOLEAN
    /\ consumed \in Values \cup {NoVal}
    /\ Len(forkVals) = Len(forkOuts)
    /\ Len(forkVals) <= MaxResumes - 1
    /\ \A i \in 1..Len(forkVals) : forkVals[i] \in Values /\ forkOuts[i] \in Values
    /\ crashes \in 0..MaxCrashes
    /\ Len(recHist) = crashes
    /\ \A i \in 1..Len(recHist) : recHist[i] \in (0..N) \X Tasks
    /\ extras \in 0..MaxExtra
    /\ prefixRegress \in BOOLEAN

EventuallyCompletes == <>Completed

(* Not a property: its violation is the damage of a prefix replay across an *)
(* answered gate.  The decision was honoured, what came before it happened  *)
(* twice.                                                                   *)
NoPrefixEffectAfterGate ==
    ~ /\ \E i \in 1..Len(recHist) : recHist[i][1] >= IP
      /\ effects[1] >= 2
      /\ pc = IP + 1
      /\ effects[IP] = 1
=============================================================================
