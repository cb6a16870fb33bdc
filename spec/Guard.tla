------------------------------- MODULE Guard -------------------------------
(* One thread with interrupts that are answered one after the other, executors that race for it, die, stall and are
   replaced, and the guard's rules for who may execute and who consumes.

   An executor takes the lease, reads the position, claims the interrupt there for its decision, runs the gate, and
   makes the result durable. It can die anywhere, and it can be cut off: it loses the lease without knowing, and goes
   on (a zombie). `fork` is left out: a branch has interrupts of its own, so it is another thread to all of this.

   Fault switches, each a mistake known from other shims, each caught by an invariant or by liveness:

     ClaimOnRead       reading the state claims, as the first gate of a published shim did
     NoRelease         a claim made by an executor that died is never taken up again
     ClaimBeforeLease  the decision is claimed by whoever reads, and then the lease is waited for
     CoarseKey         a claim is for the thread, not for an interrupt of it
     Unfenced          a write is stored whoever has the lease by now *)
EXTENDS Naturals, FiniteSets

CONSTANTS Executors, Interrupts, MaxCrashes,
          ClaimOnRead, NoRelease, ClaimBeforeLease, CoarseKey, Unfenced

VARIABLES
    position,   \* interrupts 1 .. position are answered, durably
    claim,      \* interrupt -> the executor whose decision it is, or NONE
    fence,      \* number of grants of the lease
    holder,     \* who has the lease, or NONE
    state,      \* executor -> "idle" | "leased" | "claimed" | "ran" | "refused"
    token,      \* executor -> the fence of its grant
    at,         \* executor -> the interrupt that its decision is for
    consumed,   \* interrupt -> the decisions that its gate received
    landed,     \* whether a write of a replaced executor was stored
    crashes

vars == <<position, claim, fence, holder, state, token, at, consumed, landed, crashes>>

NONE == "none"
Key(i) == IF CoarseKey THEN 1 ELSE i
Pending == position < Interrupts

Init ==
    /\ position = 0
    /\ claim = [i \in 1 .. Interrupts |-> NONE]
    /\ fence = 0
    /\ holder = NONE
    /\ state = [e \in Executors |-> "idle"]
    /\ token = [e \in Executors |-> 0]
    /\ at = [e \in Executors |-> 0]
    /\ consumed = [i \in 1 .. Interrupts |-> {}]
    /\ landed = FALSE
    /\ crashes = 0

\* The mistake of claiming where one only looks.
Look(e) ==
    /\ ClaimOnRead
    /\ Pending
    /\ claim[Key(position + 1)] = NONE
    /\ claim' = [claim EXCEPT ![Key(position + 1)] = "reader"]
    /\ UNCHANGED <<position, fence, holder, state, token, at, consumed, landed, crashes>>

\* The mistake of claiming first, and waiting for the lease afterwards.
ClaimEarly(e) ==
    /\ ClaimBeforeLease
    /\ state[e] = "idle"
    /\ Pending
    /\ claim[Key(position + 1)] \in {NONE, e}
    /\ claim' = [claim EXCEPT ![Key(position + 1)] = e]
    /\ UNCHANGED <<position, fence, holder, state, token, at, consumed, landed, crashes>>

Lease(e) ==
    /\ state[e] = "idle"
    /\ Pending
    /\ holder = NONE
    /\ holder' = e
    /\ fence' = fence + 1
    /\ token' = [token EXCEPT ![e] = fence + 1]
    /\ state' = [state EXCEPT ![e] = "leased"]
    /\ at' = [at EXCEPT ![e] = position + 1]
    /\ UNCHANGED <<position, claim, consumed, landed, crashes>>

\* A claim, or the recovery of one: whoever has the lease knows that the executor of an earlier claim is gone.
Claim(e) ==
    /\ state[e] = "leased"
    /\ Unfenced \/ token[e] = fence
    /\ LET key == Key(at[e]) IN
        IF claim[key] = NONE
        THEN /\ claim' = [claim EXCEPT ![key] = e]
             /\ state' = [state EXCEPT ![e] = "claimed"]
             /\ UNCHANGED holder
        ELSE /\ UNCHANGED claim
             /\ IF NoRelease \/ claim[key] = "reader" \/ (ClaimBeforeLease /\ claim[key] # e)
                THEN /\ state' = [state EXCEPT ![e] = "refused"]
                     /\ holder' = IF holder = e THEN NONE ELSE holder
                ELSE /\ state' = [state EXCEPT ![e] = "claimed"]
                     /\ UNCHANGED holder
    /\ UNCHANGED <<position, fence, token, at, consumed, landed, crashes>>

\* The gate runs with the decision that is recorded, whoever runs it. What it does outside is the effect ledger's.
Run(e) ==
    /\ state[e] = "claimed"
    /\ state' = [state EXCEPT ![e] = "ran"]
    /\ consumed' = [consumed EXCEPT ![at[e]] = @ \cup {claim[Key(at[e])]}]
    /\ UNCHANGED <<position, claim, fence, holder, token, at, landed, crashes>>

\* The durable write carries the fence: a replaced executor's is refused in its own transaction.
Store(e) ==
    /\ state[e] = "ran"
    /\ IF Unfenced \/ token[e] = fence
       THEN /\ position' = IF position < at[e] THEN at[e] ELSE position
            /\ landed' = (landed \/ token[e] # fence)
       ELSE UNCHANGED <<position, landed>>
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = IF holder = e THEN NONE ELSE holder
    /\ UNCHANGED <<claim, fence, token, at, consumed, crashes>>

\* A replaced executor finds out when it writes its claim, and stops.
Stop(e) ==
    /\ state[e] = "leased"
    /\ ~Unfenced
    /\ token[e] # fence
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ UNCHANGED <<position, claim, fence, holder, token, at, consumed, landed, crashes>>

Die(e) ==
    /\ crashes < MaxCrashes
    /\ state[e] # "idle"
    /\ crashes' = crashes + 1
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = IF holder = e THEN NONE ELSE holder
    /\ UNCHANGED <<position, claim, fence, token, at, consumed, landed>>

\* The lease is lost and its holder doesn't know: the server ended its session, or it was stalled past an expiry.
CutOff(e) ==
    /\ crashes < MaxCrashes
    /\ holder = e
    /\ crashes' = crashes + 1
    /\ holder' = NONE
    /\ UNCHANGED <<position, claim, fence, state, token, at, consumed, landed>>

\* A refused client goes away, and may come again with the decision that is on record.
Return(e) ==
    /\ state[e] = "refused"
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ UNCHANGED <<position, claim, fence, holder, token, at, consumed, landed, crashes>>

Step(e) == Look(e) \/ ClaimEarly(e) \/ Lease(e) \/ Claim(e) \/ Run(e) \/ Store(e) \/ Stop(e) \/ Die(e) \/ CutOff(e) \/ Return(e)
Next == \E e \in Executors : Step(e)
Progress(e) == Lease(e) \/ Claim(e) \/ Run(e) \/ Store(e) \/ Stop(e)

Spec == Init /\ [][Next]_vars /\ \A e \in Executors : WF_vars(Progress(e))

----------------------------------------------------------------------------
TypeOK ==
    /\ position \in 0 .. Interrupts
    /\ holder \in Executors \cup {NONE}
    /\ crashes \in 0 .. MaxCrashes

\* At most one decision is ever received by an interrupt's gate, however often the gate runs.
ConsumedOnce == \A i \in 1 .. Interrupts : Cardinality(consumed[i]) <= 1

\* Every decision that a gate received is the one on record for it: none is lost, none is served to another interrupt.
DecisionKept == \A i \in 1 .. Interrupts : \A d \in consumed[i] : claim[i] = d

\* One executor holds the current fence at a time, and nothing of a replaced one is stored.
OneEffective == Cardinality({e \in Executors : holder = e}) <= 1
NoFencedWrite == ~landed

\* Whoever holds a claim had the lease when it was made.
ClaimedUnderLease == \A i \in 1 .. Interrupts : claim[i] \in Executors => fence > 0

\* The dead block nobody: crashes are bounded, so the thread gets to its end.
Finishes == <>(position = Interrupts)
=============================================================================
