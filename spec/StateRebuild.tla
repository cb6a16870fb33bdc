---------------------------- MODULE StateRebuild ----------------------------
(***************************************************************************)
(* The contract with the process's own state, `memory`: the results of the *)
(* tasks, in the order in which it got them.  A conforming recovery runs   *)
(* from the start and is served every recorded result (memoised replay);   *)
(* a forgetful one continues behind the frontier with empty hands.         *)
(***************************************************************************)
EXTENDS ResumeContract

CONSTANT Forgetful
ASSUME Forgetful \in BOOLEAN

VARIABLE memory

rebuildVars == <<vars, memory>>

Result(t) == IF t = IP THEN consumed ELSE t

RebuildInit == Init /\ memory = <<>>

(* "Prefix code may run again if every prefix effect is served."            *)
ServeTask ==
    /\ pc <= dur
    /\ pc' = pc + 1
    /\ memory' = Append(memory, Result(pc))
    /\ UNCHANGED <<effects, log, dur, waiting, consumed, forkVals, forkOuts, crashes, recHist, extras, prefixRegress>>

RebuildExecTask ==
    /\ pc > dur
    /\ ExecTask
    /\ memory' = Append(memory, Result(pc))

RebuildCrashRecover ==
    /\ ~waiting
    /\ 1 < pc
    /\ pc <= N
    /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ recHist' = Append(recHist, <<dur, dur + 1>>)
    /\ pc' = IF Forgetful THEN dur + 1 ELSE 1
    /\ memory' = <<>>
    /\ UNCHANGED <<effects, log, dur, waiting, consumed, forkVals, forkOuts, extras, prefixRegress>>

RebuildNext ==
    \/ ServeTask
    \/ RebuildExecTask
    \/ EmitInterrupt /\ UNCHANGED memory
    \/ \E v \in Values : Consume(v) /\ memory' = Append(memory, v)
    \/ \E v \in Values : ForkResume(v) /\ UNCHANGED memory
    \/ RebuildCrashRecover
    \/ ExtraResume /\ UNCHANGED memory

RebuildSpec == RebuildInit /\ [][RebuildNext]_rebuildVars /\ WF_rebuildVars(RebuildNext)

(* A process that executes knows exactly what the durable log says.         *)
StateRebuilt == pc > dur => memory = [i \in 1..Len(log) |-> Result(log[i].task)]
=============================================================================
