---------------------------- MODULE GuardEffects ----------------------------
(* Effects: what a gate does to the world, recorded in a ledger before and after.

   An effect begins if its executor counts on its lease and the ledger has no record, or one that is proven over and did
   not fire. Begin writes the record, Fire is the world's part, Settle writes the end. An executor can die or stall
   between any two, and then nobody can tell from the record whether the effect fired. Whether its owner is dead can be
   told where the kernel frees leases (then the world is asked: Verify), and not where they only expire. Then the effect
   is in doubt and surfaces, until somebody who has looked says what happened (Resolve).

     Unchecked         an effect begins without a look at the lease
     EarlyTakeover     who waits counts a shorter time to live than who holds
     DoubtIgnored      a record without an end counts as one that did not fire
     ExpiryIsDeath     who lost the lease counts as dead
     SharedEffectKey   an effect is recorded for the interrupt, whichever attempt it is for *)
EXTENDS GuardFork

CONSTANTS Unchecked, EarlyTakeover, DoubtIgnored, ExpiryIsDeath, SharedEffectKey

VARIABLES
    record,     \* effect key -> "open" | "running" | "done"
    owner,      \* effect key -> the executor whose attempt the record is about, and the fence it had; or NOBODY
    fired,      \* gate -> how often its effect happened
    stage,      \* executor -> "none" | "begun" | "fired" | "settled"
    strayed     \* whether a replaced executor began an effect

effects == <<record, owner, fired, stage, strayed>>
effectVars == <<forkVars, effects>>

NOBODY == <<NONE, 0>>
EffectKey(gate) == IF SharedEffectKey THEN <<1, gate[2]>> ELSE gate
Me(e) == <<e, token[e]>>

EffectInit ==
    /\ ForkInit
    /\ record = [gate \in Gates |-> "open"]
    /\ owner = [gate \in Gates |-> NOBODY]
    /\ fired = [gate \in Gates |-> 0]
    /\ stage = [e \in Executors |-> "none"]
    /\ strayed = FALSE

\* What an executor finds when it looks at its lease: at its own clock where a lease expires, else at the lock.
Holds(e) == IF Expiring THEN sure[e] ELSE holder[ThreadOf(e)] = e

\* Whether an attempt at an effect may still do something; and whether that it may not can be proven.
Under(k) == \E e \in Executors : Me(e) = owner[k] /\ stage[e] \in {"begun", "fired"} /\ EffectKey(at[e]) = k
ProvenOver(k) == IF Expiring THEN ExpiryIsDeath ELSE ~Under(k)

Beginning(e, k) ==
    /\ record' = [record EXCEPT ![k] = "running"]
    /\ owner' = [owner EXCEPT ![k] = Me(e)]
    /\ stage' = [stage EXCEPT ![e] = "begun"]
    /\ strayed' = (strayed \/ ~Current(e))
    /\ UNCHANGED <<forkVars, fired>>

AtEffect(e) == state[e] = "ran" /\ stage[e] = "none"

Begin(e) ==
    LET k == EffectKey(at[e]) IN
    /\ AtEffect(e)
    /\ Unchecked \/ Holds(e)
    /\ record[k] = "open" \/ (record[k] = "running" /\ DoubtIgnored)
    /\ Beginning(e, k)

\* The world is asked about an attempt that is proven over: it fired, and is settled; or it didn't, and begins again.
Verify(e) ==
    LET k == EffectKey(at[e]) IN
    /\ AtEffect(e)
    /\ Unchecked \/ Holds(e)
    /\ record[k] = "running" /\ ProvenOver(k)
    /\ IF fired[k] > 0
       THEN /\ record' = [record EXCEPT ![k] = "done"]
            /\ stage' = [stage EXCEPT ![e] = "settled"]
            /\ UNCHANGED <<forkVars, owner, fired, strayed>>
       ELSE Beginning(e, k)

\* A completed effect is served from its record.
Serve(e) ==
    /\ AtEffect(e)
    /\ record[EffectKey(at[e])] = "done"
    /\ stage' = [stage EXCEPT ![e] = "settled"]
    /\ UNCHANGED <<forkVars, record, owner, fired, strayed>>

Fire(e) ==
    /\ stage[e] = "begun"
    /\ fired' = [fired EXCEPT ![at[e]] = @ + 1]
    /\ stage' = [stage EXCEPT ![e] = "fired"]
    /\ UNCHANGED <<forkVars, record, owner, strayed>>

\* The end is recorded by the owner of the record, and by nobody else.
Settle(e) ==
    LET k == EffectKey(at[e]) IN
    /\ stage[e] = "fired"
    /\ record' = IF owner[k] = Me(e) THEN [record EXCEPT ![k] = "done"] ELSE record
    /\ stage' = [stage EXCEPT ![e] = "settled"]
    /\ UNCHANGED <<forkVars, owner, fired, strayed>>

\* The effect is refused since the lease was lost, and the node raises. One in doubt is refused too, again at each
\* recovery until it is resolved: as that changes nothing but the number of grants, whoever meets a doubt waits here.
Raise(e) ==
    /\ AtEffect(e)
    /\ ~Holds(e)
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = Released(e)
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed, faults, forks, effects>>

\* Somebody has looked, which includes that the attempt is over.
Resolve(k) ==
    /\ record[k] = "running" /\ ~Under(k)
    /\ record' = [record EXCEPT ![k] = IF fired[k] > 0 THEN "done" ELSE "open"]
    /\ UNCHANGED <<forkVars, owner, fired, stage, strayed>>

\* The mistake of taking an expired lease over while its holder still counts on it.
TakeEarly(e, t) ==
    /\ EarlyTakeover /\ Expiring
    /\ state[e] = "idle"
    /\ Pending(t) /\ holder[t] # NONE
    /\ Grant(e, t)
    /\ state' = [state EXCEPT ![e] = "leased"]
    /\ at' = [at EXCEPT ![e] = Next_(t)]
    /\ faults < MaxFaults /\ faults' = faults + 1
    /\ UNCHANGED <<durable, consumed, landed>>

----------------------------------------------------------------------------
Still(e) == Leases(e) \/ TakeUp(e) \/ Claim(e) \/ Run(e) \/ Renew(e) \/ Doubt(e) \/ CutOff(e) \/ End(e) \/ Stop(e) \/ Look(e)
            \/ ClaimEarly(e) \/ Return(e) \/ \E t \in 1 .. Threads : TakeEarly(e, t)
Stores(e) == Store(e) /\ stage[e] = "settled"
Leaves(e) == (Stores(e) \/ Die(e) \/ Fail(e)) /\ stage' = [stage EXCEPT ![e] = "none"]
Acts(e) == Begin(e) \/ Verify(e) \/ Serve(e) \/ Fire(e) \/ Settle(e) \/ Raise(e)

EffectNext ==
    \/ Expires /\ UNCHANGED <<forks, effects>>
    \/ \E k \in Gates : Resolve(k)
    \/ \E e \in Executors :
        \/ Still(e) /\ UNCHANGED <<forks, effects>>
        \/ Leaves(e) /\ UNCHANGED <<forks, record, owner, fired, strayed>>
        \/ Acts(e)
        \/ (Forks(e) \/ Decide(e)) /\ UNCHANGED effects

EffectFair ==
    /\ WF_effectVars(Expires /\ UNCHANGED <<forks, effects>>)
    /\ \A k \in Gates : WF_effectVars(Resolve(k))
    /\ \A e \in Executors : WF_effectVars(
        \/ (Leases(e) \/ TakeUp(e) \/ Claim(e) \/ Run(e) \/ Renew(e) \/ End(e) \/ Stop(e)) /\ UNCHANGED <<forks, effects>>
        \/ Stores(e) /\ Leaves(e) /\ UNCHANGED <<forks, record, owner, fired, strayed>>
        \/ Acts(e)
        \/ Decide(e) /\ UNCHANGED effects)
EffectSpec == EffectInit /\ [][EffectNext]_effectVars /\ EffectFair

----------------------------------------------------------------------------
\* On one attempt, an effect happens once at most.
FiredOnce == \A gate \in Gates : fired[gate] <= 1

\* A result that is durable has its effect in the world, on each attempt its own.
ResultEarned ==
    \A a \in Open_ : \A i \in 1 .. Interrupts : (i >= origin[a] /\ i <= position[a]) => fired[<<a, i>>] = 1

\* No effect begins for an executor that was replaced.
CheckedEffect == ~strayed
=============================================================================
