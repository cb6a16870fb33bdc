------------------------ MODULE ResumeContractParked ------------------------
(***************************************************************************)
(* The contract where a parked run may crash too.  Durable parking: the    *)
(* interrupt is in the store, so the recovery comes back parked.  Volatile *)
(* parking: it was in the process, so it is gone, and nobody asks again.   *)
(***************************************************************************)
EXTENDS ResumeContract

CONSTANT VolatileParking
ASSUME VolatileParking \in BOOLEAN

VARIABLE lost

parkedVars == <<vars, lost>>

ParkedInit == Init /\ lost = FALSE

CrashWhileParked ==
    /\ waiting
    /\ crashes < MaxCrashes
    /\ crashes' = crashes + 1
    /\ \E d \in RecoveryPoints :
        /\ pc' = d
        /\ recHist' = Append(recHist, <<dur, d>>)
        /\ waiting' = (d = IP /\ ~VolatileParking)
        /\ lost' = (d = IP /\ VolatileParking)
    /\ UNCHANGED <<effects, log, dur, consumed, forkVals, forkOuts, extras, prefixRegress>>

ParkedNext ==
    \/ ExecTask /\ UNCHANGED lost
    \/ ~lost /\ EmitInterrupt /\ UNCHANGED lost
    \/ \E v \in Values : Consume(v) /\ UNCHANGED lost
    \/ \E v \in Values : ForkResume(v) /\ UNCHANGED lost
    \/ CrashRecover /\ UNCHANGED lost
    \/ CrashWhileParked
    \/ ExtraResume /\ UNCHANGED lost

ParkedSpec == ParkedInit /\ [][ParkedNext]_parkedVars /\ WF_parkedVars(ParkedNext)
=============================================================================
