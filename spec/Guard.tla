------------------------------- MODULE Guard -------------------------------
(* Threads with interrupts that are answered one after the other, executors that race for them, die, stall and are
   replaced, and the guard's rules for who may execute and who consumes.

   An executor takes a thread's lease, claims the interrupt at which the thread stands for its decision (which is its
   own name here), runs the gate, and makes the result durable. It can die anywhere, its node can raise, and it can be
   replaced without knowing, and go on (a zombie): nothing of that is stored, since each write carries its fence.

   A lease ends in one of two ways. The kernel or the server frees it when its holder is gone; a server may also give
   up the session of a holder that lives (CutOff). Where neither frees it (Expiring) its holder renews it. One that could
   not for the time to live no longer counts on it (Doubt), and whoever waits has then seen no renewal for as long
   (Expire), be the holder dead or only stalled.

   Interrupts are answered on an attempt; the first is 1. `GuardFork` opens others, `GuardDelivery` adds delivery ids,
   `GuardEffects` the effect ledger, and `GuardTrace` follows what real executors did.

   Fault switches, mistakes known from other shims or one step away, each caught by an invariant or by liveness:

     ClaimOnRead       reading the state claims, as the first gate of a published shim did
     NoRelease         a claim made by an executor that died is never taken up again
     ClaimBeforeLease  the decision is claimed by whoever reads, and then the lease is waited for
     CoarseKey         a claim is for the thread, not for an interrupt of it
     SharedKey         a claim is for the interrupt, whichever attempt answers it
     Unfenced          a write is stored whoever has the lease by now: with Expiring, the clock alone decides
     LateFence         the lease gets its fence with the first write under it, not before the gate runs *)
EXTENDS Naturals, FiniteSets

CONSTANTS Executors, Threads, Attempts, Interrupts, MaxFaults, Expiring,
          ClaimOnRead, NoRelease, ClaimBeforeLease, CoarseKey, SharedKey, Unfenced, LateFence

VARIABLES
    home,       \* attempt -> its thread; 0 if it isn't open
    head,       \* thread -> the attempt that it goes on with; 0 if there is no such thread yet
    position,   \* attempt -> its interrupts up to this one are answered, durably
    claim,      \* gate, that is <<attempt, interrupt>> -> the executor whose decision it is, or NONE
    fence,      \* thread -> number of grants of its lease
    holder,     \* thread -> who has the lease, or NONE
    over,       \* thread -> whether the holder was seen not to renew for the time to live
    state,      \* executor -> "idle" | "leased" | "claimed" | "ran" | "stored" | "refused" | "opening" (GuardFork)
    token,      \* executor -> the fence of its grant
    sure,       \* executor -> whether it has renewed within the time to live
    at,         \* executor -> the gate that it executes
    consumed,   \* gate -> the decisions that it received
    landed,     \* whether a write of a replaced executor was stored
    faults      \* how many executors died, failed, stalled or were cut off

durable == <<home, head, position, claim>>
lease == <<fence, holder, over>>
local == <<state, token, sure, at>>
vars == <<durable, lease, local, consumed, landed, faults>>

NONE == "none"
Gates == (1 .. Attempts) \X (1 .. Interrupts)
Key(gate) == <<IF SharedKey THEN 1 ELSE gate[1], IF CoarseKey THEN 1 ELSE gate[2]>>
ThreadOf(e) == home[at[e][1]]

Exists(t) == head[t] # 0
Pending(t) == Exists(t) /\ position[head[t]] < Interrupts
Next_(t) == <<head[t], position[head[t]] + 1>>   \* the gate at which the thread stands

\* Whether an executor is at work on a thread, as far as it knows itself; and whether the thread's fence agrees.
Working(e, t) == state[e] \in {"leased", "claimed", "ran", "stored", "opening"} /\ ThreadOf(e) = t
Current(e) == token[e] \in {0, fence[ThreadOf(e)]}   \* 0: LateFence
Effective(e, t) == Working(e, t) /\ Current(e)

Init ==
    /\ home = [a \in 1 .. Attempts |-> IF a = 1 THEN 1 ELSE 0]
    /\ head = [t \in 1 .. Threads |-> IF t = 1 THEN 1 ELSE 0]
    /\ position = [a \in 1 .. Attempts |-> 0]
    /\ claim = [gate \in Gates |-> NONE]
    /\ fence = [t \in 1 .. Threads |-> 0]
    /\ holder = [t \in 1 .. Threads |-> NONE]
    /\ over = [t \in 1 .. Threads |-> FALSE]
    /\ state = [e \in Executors |-> "idle"]
    /\ token = [e \in Executors |-> 0]
    /\ sure = [e \in Executors |-> FALSE]
    /\ at = [e \in Executors |-> <<1, 1>>]
    /\ consumed = [gate \in Gates |-> {}]
    /\ landed = FALSE
    /\ faults = 0

----------------------------------------------------------------------------
(* The lease *)

Free(t) == holder[t] = NONE \/ (Expiring /\ over[t])

\* What a grant changes. A new fence for each, so that writes under an older one can be told apart.
Grant(e, t) ==
    /\ holder' = [holder EXCEPT ![t] = e]
    /\ over' = [over EXCEPT ![t] = FALSE]
    /\ fence' = IF LateFence THEN fence ELSE [fence EXCEPT ![t] = @ + 1]
    /\ token' = [token EXCEPT ![e] = IF LateFence THEN 0 ELSE fence[t] + 1]
    /\ sure' = [sure EXCEPT ![e] = TRUE]

Lease(e, t) ==
    /\ state[e] = "idle"
    /\ Pending(t)
    /\ Free(t)
    /\ Grant(e, t)
    /\ state' = [state EXCEPT ![e] = "leased"]
    /\ at' = [at EXCEPT ![e] = Next_(t)]
    /\ UNCHANGED <<durable, consumed, landed, faults>>

\* What an executor gives up at its end: only what is still its own.
Released(e) == IF holder[ThreadOf(e)] = e THEN [holder EXCEPT ![ThreadOf(e)] = NONE] ELSE holder

Renew(e) ==
    /\ Expiring
    /\ \E t \in 1 .. Threads : Working(e, t) /\ Current(e) /\ holder[t] = e /\ (over[t] \/ ~sure[e])
    /\ over' = [over EXCEPT ![ThreadOf(e)] = FALSE]
    /\ sure' = [sure EXCEPT ![e] = TRUE]
    /\ UNCHANGED <<durable, fence, holder, state, token, at, consumed, landed, faults>>

\* The time to live went by without a renewal: on the holder's clock, which began to count first, and for the others.
Doubt(e) ==
    /\ Expiring
    /\ faults < MaxFaults
    /\ sure[e] /\ state[e] \notin {"idle", "refused"}
    /\ faults' = faults + 1
    /\ sure' = [sure EXCEPT ![e] = FALSE]
    /\ UNCHANGED <<durable, lease, state, token, at, consumed, landed>>

Expire(t) ==
    /\ Expiring
    /\ holder[t] # NONE /\ ~over[t]
    /\ Working(holder[t], t) => ~sure[holder[t]]
    /\ over' = [over EXCEPT ![t] = TRUE]
    /\ UNCHANGED <<durable, fence, holder, local, consumed, landed, faults>>

\* The lease is lost and its holder doesn't know: the server ended its session.
CutOff(e) ==
    /\ ~Expiring
    /\ faults < MaxFaults
    /\ \E t \in 1 .. Threads : holder[t] = e /\ holder' = [holder EXCEPT ![t] = NONE]
    /\ faults' = faults + 1
    /\ UNCHANGED <<durable, fence, over, local, consumed, landed>>

----------------------------------------------------------------------------
(* Claim, gate, durable result *)

\* Under LateFence the first write makes the grant. Otherwise a write changes nothing about it.
Fencing(e) ==
    /\ fence' = IF token[e] = 0 THEN [fence EXCEPT ![ThreadOf(e)] = @ + 1] ELSE fence
    /\ token' = IF token[e] = 0 THEN [token EXCEPT ![e] = fence[ThreadOf(e)] + 1] ELSE token

\* The mistake of claiming where one only looks.
Look(e) ==
    /\ ClaimOnRead
    /\ \E t \in 1 .. Threads :
        /\ Pending(t)
        /\ claim[Key(Next_(t))] = NONE
        /\ claim' = [claim EXCEPT ![Key(Next_(t))] = "reader"]
    /\ UNCHANGED <<home, head, position, lease, local, consumed, landed, faults>>

\* The mistake of claiming first, and waiting for the lease afterwards.
ClaimEarly(e) ==
    /\ ClaimBeforeLease
    /\ state[e] = "idle"
    /\ \E t \in 1 .. Threads :
        /\ Pending(t)
        /\ claim[Key(Next_(t))] = NONE
        /\ claim' = [claim EXCEPT ![Key(Next_(t))] = e]
    /\ UNCHANGED <<home, head, position, lease, local, consumed, landed, faults>>

\* Nobody's decision yet: it becomes this executor's, in one transaction that carries the fence.
Claim(e) ==
    /\ state[e] = "leased"
    /\ Unfenced \/ Current(e)
    /\ claim[Key(at[e])] = NONE
    /\ claim' = [claim EXCEPT ![Key(at[e])] = e]
    /\ state' = [state EXCEPT ![e] = "claimed"]
    /\ Fencing(e)
    /\ UNCHANGED <<home, head, position, holder, over, sure, at, consumed, landed, faults>>

\* The recovery of a claim: whoever has the lease knows that the executor who made it is gone, or fenced.
TakeUp(e) ==
    /\ state[e] = "leased"
    /\ Unfenced \/ Current(e)
    /\ LET by == claim[Key(at[e])]
           shut == NoRelease \/ by = "reader" \/ (ClaimBeforeLease /\ by # e)
       IN  /\ by # NONE
           /\ state' = [state EXCEPT ![e] = IF shut THEN "refused" ELSE "claimed"]
           /\ holder' = IF shut THEN Released(e) ELSE holder
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed, faults>>

\* The gate runs with the decision that is on record, whoever runs it.
Run(e) ==
    /\ state[e] = "claimed"
    /\ state' = [state EXCEPT ![e] = "ran"]
    /\ consumed' = [consumed EXCEPT ![at[e]] = @ \cup {claim[Key(at[e])]}]
    /\ UNCHANGED <<durable, lease, token, sure, at, landed, faults>>

\* The durable write: a replaced executor's is refused inside its own transaction, and that is how it learns of it.
Store(e) ==
    /\ state[e] = "ran"
    /\ LET a == at[e][1]
           kept == Unfenced \/ Current(e)
       IN  /\ position' = IF kept /\ position[a] < at[e][2] THEN [position EXCEPT ![a] = at[e][2]] ELSE position
           /\ landed' = (landed \/ (kept /\ ~Current(e)))
           /\ state' = [state EXCEPT ![e] = IF kept THEN "stored" ELSE "idle"]
           /\ holder' = IF kept THEN holder ELSE Released(e)
           /\ IF kept THEN Fencing(e) ELSE UNCHANGED <<fence, token>>
    /\ UNCHANGED <<home, head, claim, over, sure, at, consumed, faults>>

\* The run is over: parked at the next interrupt, or completed.
End(e) ==
    /\ state[e] = "stored"
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = Released(e)
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed, faults>>

\* A replaced executor that has not come to its gate finds out when it writes its claim, and stops.
Stop(e) ==
    /\ state[e] \in {"leased", "opening"}
    /\ ~Unfenced /\ ~Current(e)
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ UNCHANGED <<durable, lease, token, sure, at, consumed, landed, faults>>

----------------------------------------------------------------------------
(* What goes wrong *)

\* What only expires outlives its holder.
Die(e) ==
    /\ faults < MaxFaults
    /\ state[e] # "idle"
    /\ faults' = faults + 1
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = IF Expiring THEN holder ELSE Released(e)
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed>>

\* The node raised: to all others its executor is gone, but it lives to give the lease back.
Fail(e) ==
    /\ faults < MaxFaults
    /\ state[e] \in {"claimed", "ran"}
    /\ faults' = faults + 1
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = Released(e)
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed>>

\* A refused client goes away, and may come again with the decision that is on record.
Return(e) ==
    /\ state[e] = "refused"
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ UNCHANGED <<durable, lease, token, sure, at, consumed, landed, faults>>

----------------------------------------------------------------------------
Leases(e) == \E t \in 1 .. Threads : Lease(e, t)
Works(e) == Claim(e) \/ TakeUp(e) \/ Run(e) \/ Store(e) \/ End(e) \/ Stop(e)
Errs(e) == Look(e) \/ ClaimEarly(e) \/ Doubt(e) \/ CutOff(e) \/ Die(e) \/ Fail(e)
Expires == \E t \in 1 .. Threads : Expire(t)

Next == Expires \/ \E e \in Executors : Leases(e) \/ Renew(e) \/ Works(e) \/ Errs(e) \/ Return(e)

\* Executors go on with what they do, somebody always wants the thread, and time passes.
Fair == WF_vars(Expires) /\ \A e \in Executors : WF_vars(Leases(e) \/ Works(e))
Spec == Init /\ [][Next]_vars /\ Fair

----------------------------------------------------------------------------
TypeOK ==
    /\ position \in [1 .. Attempts -> 0 .. Interrupts]
    /\ holder \in [1 .. Threads -> Executors \cup {NONE}]
    /\ faults \in 0 .. MaxFaults

\* At most one decision is ever received by an interrupt's gate on one attempt, however often the gate runs.
ConsumedOnce == \A gate \in Gates : Cardinality(consumed[gate]) <= 1

\* Every decision that a gate received is the one on record for it: none is lost, none is served to another gate.
DecisionKept == \A gate \in Gates : \A d \in consumed[gate] : claim[gate] = d

\* At most one executor of a thread can make anything durable.
OneEffective == \A t \in 1 .. Threads : Cardinality({e \in Executors : Effective(e, t)}) <= 1

\* Nothing of a replaced executor is stored.
NoFencedWrite == ~landed

\* Whoever holds a claim had the lease when it was made.
ClaimedUnderLease == \A gate \in Gates : claim[gate] \in Executors => fence[home[gate[1]]] > 0

\* A grant never takes a fence that was there, and no fence is taken back.
FenceGrows == [][\A t \in 1 .. Threads : fence'[t] \in {fence[t], fence[t] + 1}]_vars

\* A decision that is on record stays there.
DecisionStays == [][\A gate \in Gates : claim[gate] # NONE => claim'[gate] = claim[gate]]_vars

\* The dead block nobody: faults are bounded, so each thread gets to its end.
Finishes == <>[](\A t \in 1 .. Threads : ~Pending(t))
=============================================================================
