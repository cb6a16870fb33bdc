---------------------------- MODULE ConsumeCount ----------------------------
(***************************************************************************)
(* Consume-once in two halves: how many resumes consumed the interrupt     *)
(* (CO-c), and how often its effect fired (CO-e).  The race lets a second  *)
(* resume win the interrupt, with an idempotent or with a firing effect.   *)
(***************************************************************************)
EXTENDS ResumeContract

CONSTANT Arm
ASSUME Arm \in {"reference", "race", "firing", "extra"}

VARIABLE consumeCount

countVars == <<vars, consumeCount>>

CountInit == Init /\ consumeCount = 0

RaceConsume(v) ==
    /\ Arm \in {"race", "firing"}
    /\ consumed # NoVal
    /\ pc = IP + 1
    /\ consumeCount = 1
    /\ Len(forkVals) < MaxResumes - 1
    /\ forkVals' = Append(forkVals, v)
    /\ forkOuts' = Append(forkOuts, v)
    /\ consumeCount' = 2
    /\ effects' = IF Arm = "firing" THEN Fire(IP) ELSE effects
    /\ UNCHANGED <<pc, log, dur, waiting, consumed, crashes, recHist, extras, prefixRegress>>

CountNext ==
    \/ ExecTask /\ UNCHANGED consumeCount
    \/ EmitInterrupt /\ UNCHANGED consumeCount
    \/ \E v \in Values : Consume(v) /\ consumeCount' = consumeCount + 1
    \/ \E v \in Values : ForkResume(v) /\ UNCHANGED consumeCount
    \/ CrashRecover /\ UNCHANGED consumeCount
    \/ ExtraResume /\ UNCHANGED consumeCount
    \/ \E v \in Values : RaceConsume(v)

CountSpec == CountInit /\ [][CountNext]_countVars /\ WF_countVars(CountNext)

COc == consumeCount <= 1
COe == CO
=============================================================================
