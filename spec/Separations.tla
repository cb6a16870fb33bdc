---------------------------- MODULE Separations -----------------------------
(***************************************************************************)
(* The contract with one deviation that breaks exactly one property, each  *)
(* of a kind that the six faults break only together with others.          *)
(***************************************************************************)
EXTENDS ResumeContract

CONSTANT Separation
ASSUME Separation \in {"Regate", "Rebuild", "Redeliver"}

(* Rebuild: the durable prefix runs again, every effect from the record.    *)
SepExecTask ==
    IF Separation = "Rebuild" /\ pc <= dur
    THEN /\ pc' = pc + 1
         /\ prefixRegress' = TRUE
         /\ UNCHANGED <<effects, log, dur, waiting, consumed, forkVals, forkOuts, crashes, recHist, extras>>
    ELSE ExecTask

(* Regate: a question put again is answered again, and the record counts.   *)
SepConsume(v) ==
    IF consumed = NoVal
    THEN Consume(v)
    ELSE /\ waiting
         /\ waiting' = FALSE
         /\ pc' = IP + 1
         /\ UNCHANGED <<effects, log, dur, consumed, forkVals, forkOuts, crashes, recHist, extras, prefixRegress>>

SepRecoveryPoints ==
    CASE Separation = "Rebuild" -> {1}
      [] Separation = "Regate" /\ dur >= IP -> {IP, dur + 1}
      [] OTHER -> {dur + 1}

(* Redeliver: the frontier task's effect is delivered again, the gate's not.*)
SepCrashRecover ==
    /\ ~waiting
    /\ 1 < pc
    /\ pc <= N
    /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ \E d \in SepRecoveryPoints :
        /\ pc' = d
        /\ recHist' = Append(recHist, <<dur, d>>)
        /\ waiting' = (Separation = "Regate" /\ dur >= IP /\ d = IP)
    /\ effects' = IF Separation = "Redeliver" /\ dur \notin {0, IP} THEN Fire(dur) ELSE effects
    /\ UNCHANGED <<log, dur, consumed, forkVals, forkOuts, extras, prefixRegress>>

SepNext ==
    \/ SepExecTask
    \/ EmitInterrupt
    \/ \E v \in Values : SepConsume(v)
    \/ \E v \in Values : ForkResume(v)
    \/ SepCrashRecover
    \/ ExtraResume

SepSpec == Init /\ [][SepNext]_vars /\ WF_vars(SepNext)
=============================================================================
