--------------------------- MODULE GuardDelivery ---------------------------
(* Delivery ids: what a client sends with a decision (or an input) so that sending it again does nothing more.

   An id is looked up before anything is claimed. What is on record says what the delivery is: a first one, a repetition
   whose outcome is known, one whose executor is at it (it waits: nothing happens here), one that came to no outcome, of
   which it is the recovery, or a mismatch, if it brings another payload. An id is accepted in the transaction that
   claims, and its outcome is recorded after the run; a run that failed doesn't get there.

   A payload is the name of the executor that brings it, as its decision is; executors may bring none, under no id.

     ClaimFirst        the id is looked up once the interrupt was claimed
     PayloadIgnored    the id alone says what is repeated
     FailureRecorded   a run that failed is recorded as the outcome too *)
EXTENDS GuardFork

CONSTANTS Ids, ClaimFirst, PayloadIgnored, FailureRecorded

VARIABLES
    delivery,   \* <<thread, id>> -> [payload, gate, ended]: the payload that came first, and what it was claimed for
    carried,    \* executor -> the id that its call carries, or NONE
    took,       \* <<thread, id>> -> the gates that were claimed under it
    served      \* <<thread, id>> -> the payloads to whose bringers an outcome was returned, or for which a gate ran

deliveries == <<delivery, carried, took, served>>
deliveryVars == <<forkVars, deliveries>>

Names == (1 .. Threads) \X Ids
Name(e) == <<ThreadOf(e), carried[e]>>
UNSEEN == [payload |-> NONE, gate |-> <<1, 1>>, ended |-> FALSE]

DeliveryInit ==
    /\ ForkInit
    /\ delivery = [name \in Names |-> UNSEEN]
    /\ carried = [e \in Executors |-> NONE]
    /\ took = [name \in Names |-> {}]
    /\ served = [name \in Names |-> {}]

\* What is on record of an id; nothing, for none.
Record(t, id) == IF id = NONE THEN UNSEEN ELSE delivery[<<t, id>>]
Own(e) == Record(ThreadOf(e), carried[e])

Durable(gate) == position[gate[1]] >= gate[2]
Serves(name, payload) == served' = [served EXCEPT ![name] = @ \cup {payload}]

----------------------------------------------------------------------------
\* The first delivery under an id, or one under none, takes the lease as ever. If another decision than its own is on
\* record it is refused, which changes nothing: a fence is granted with the first write, and there is none.
First(e, t, id) ==
    /\ ClaimFirst \/ Record(t, id).payload = NONE
    /\ Lease(e, t)
    /\ id # NONE => claim[Key(Next_(t))] \in {NONE, e}
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED <<forks, delivery, took, served>>

\* What is done for somebody who brings the payload on record, or is taken to.
Same(e, name) == delivery[name].payload # NONE /\ (delivery[name].payload = e \/ PayloadIgnored)

\* A repetition: the outcome on record. Without one, if the decision is durable, the state as it is.
Repeat(e, name) ==
    /\ state[e] = "idle"
    /\ Same(e, name)
    /\ delivery[name].ended \/ Durable(delivery[name].gate)
    /\ Serves(name, e)
    /\ UNCHANGED <<forkVars, delivery, carried, took>>

\* It was accepted and came to no outcome: this delivery is its recovery, unless the thread was forked meanwhile.
Retry(e, t, id) ==
    /\ Same(e, <<t, id>>)
    /\ ~delivery[<<t, id>>].ended
    /\ Pending(t) /\ delivery[<<t, id>>].gate = Next_(t)
    /\ Lease(e, t)
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED <<forks, delivery, took, served>>

\* A delivery of its own claims; one that was accepted before takes its claim up.
Accept(e) ==
    /\ Claim(e)
    /\ IF carried[e] = NONE
       THEN UNCHANGED <<delivery, took>>
       ELSE /\ took' = [took EXCEPT ![Name(e)] = @ \cup {at[e]}]
            /\ delivery' = IF delivery[Name(e)].payload = NONE
                           THEN [delivery EXCEPT ![Name(e)] = [UNSEEN EXCEPT !.payload = e, !.gate = at[e]]]
                           ELSE delivery
    /\ UNCHANGED <<forks, carried, served>>

\* A claim is on record. Whoever brings no decision recovers it, and so does whoever brings that decision.
Resume(e) ==
    /\ TakeUp(e)
    /\ (carried[e] # NONE /\ Own(e).payload = NONE) => claim[Key(at[e])] = e
    /\ delivery' = IF carried[e] # NONE /\ Own(e).payload = NONE
                   THEN [delivery EXCEPT ![Name(e)] = [UNSEEN EXCEPT !.payload = e, !.gate = at[e]]]
                   ELSE delivery
    /\ UNCHANGED <<forks, carried, took, served>>

\* The gate runs on behalf of the payload.
RunFor(e) ==
    /\ Run(e)
    /\ IF carried[e] = NONE THEN UNCHANGED served ELSE Serves(Name(e), e)
    /\ UNCHANGED <<forks, delivery, carried, took>>

\* The outcome is recorded, under the fence as every write; and then the lease is given back.
Conclude(e) ==
    /\ End(e)
    /\ delivery' = IF carried[e] # NONE /\ Current(e) THEN [delivery EXCEPT ![Name(e)].ended = TRUE] ELSE delivery
    /\ UNCHANGED <<forks, carried, took, served>>

Failed(e) ==
    /\ Fail(e)
    /\ delivery' = IF FailureRecorded /\ carried[e] # NONE /\ Current(e)
                   THEN [delivery EXCEPT ![Name(e)].ended = TRUE]
                   ELSE delivery
    /\ UNCHANGED <<forks, carried, took, served>>

\* Forks carry no id here: with one they are a first delivery like any other.
ForksUnnamed(e) ==
    /\ Forks(e) \/ Decide(e)
    /\ carried' = [carried EXCEPT ![e] = NONE]
    /\ UNCHANGED <<delivery, took, served>>

----------------------------------------------------------------------------
Delivers(e) == \E t \in 1 .. Threads, id \in Ids \cup {NONE} : First(e, t, id) \/ (id # NONE /\ Retry(e, t, id))
Repeats(e) == \E name \in Names : Repeat(e, name)
Serves_(e) == Accept(e) \/ Resume(e) \/ RunFor(e) \/ Conclude(e)
Bare(e) == (Store(e) \/ Stop(e)) /\ UNCHANGED <<forks, deliveries>>
Wrongs(e) ==
    \/ (Look(e) \/ ClaimEarly(e) \/ Doubt(e) \/ CutOff(e) \/ Die(e) \/ Renew(e) \/ Return(e)) /\ UNCHANGED <<forks, deliveries>>
    \/ Failed(e)
Times == Expires /\ UNCHANGED <<forks, deliveries>>

DeliveryNext == Times \/ \E e \in Executors : Delivers(e) \/ Repeats(e) \/ Serves_(e) \/ Bare(e) \/ Wrongs(e) \/ ForksUnnamed(e)

\* Somebody always recovers, or brings a decision under no id or a new one.
DeliveryFair ==
    /\ WF_deliveryVars(Times)
    /\ \A e \in Executors : WF_deliveryVars(\E t \in 1 .. Threads : First(e, t, NONE))
    /\ \A e \in Executors : WF_deliveryVars(Serves_(e) \/ Bare(e) \/ (Decide(e) /\ ForksUnnamed(e)))
DeliverySpec == DeliveryInit /\ [][DeliveryNext]_deliveryVars /\ DeliveryFair

----------------------------------------------------------------------------
\* Nothing is claimed twice under one id.
ServedOnce == \A name \in Names : Cardinality(took[name]) <= 1

\* Whatever was run or returned under an id was for its first payload.
FirstPayload == \A name \in Names : served[name] \subseteq {delivery[name].payload}

\* An outcome on record is one of a run whose decision is durable: a failure can be retried.
OutcomeEarned == \A name \in Names : delivery[name].ended => Durable(delivery[name].gate)

\* What is on record of a delivery is kept.
DeliveryKept ==
    [][\A name \in Names : delivery[name].payload # NONE =>
        /\ delivery'[name].payload = delivery[name].payload
        /\ delivery'[name].gate = delivery[name].gate
        /\ delivery[name].ended => delivery'[name].ended]_deliveryVars
=============================================================================
