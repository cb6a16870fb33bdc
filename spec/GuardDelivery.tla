--------------------------- MODULE GuardDelivery ---------------------------
(* Delivery ids: what a client sends with a decision (or an input) so that sending it again does nothing more.

   An id is looked up before anything is claimed. What is on record says what the delivery is: a first one, a repetition
   whose outcome is known, one whose executor is at it (it waits: nothing happens here), one that came to no outcome, of
   which it is the recovery, or a mismatch, if it brings another payload. An id is accepted in the transaction that
   claims, and its outcome is recorded after the run; a run that failed doesn't get there.

   A payload is the name of the executor that brings it, as its decision is, and whether it is an answer or a fork;
   executors may bring none, under no id.

     ClaimFirst        the id is looked up once the interrupt was claimed
     PayloadIgnored    the id alone says what is repeated
     IntentIgnored     a fork is taken for a repetition of an answer of the same value
     ForkUnrecorded    a fork's id is not written with its decision
     FailureRecorded   a run that failed is recorded as the outcome too *)
EXTENDS GuardFork

CONSTANTS Ids, ClaimFirst, PayloadIgnored, IntentIgnored, ForkUnrecorded, FailureRecorded

VARIABLES
    delivery,   \* <<thread, id>> -> [payload, gate, ended]: the payload that came first, and what it was claimed for
    carried,    \* executor -> the id that its call carries, or NONE
    took,       \* <<thread, id>> -> the gates that were claimed under it
    served      \* <<thread, id>> -> the payloads to whose bringers an outcome was returned, or for which a gate ran

deliveries == <<delivery, carried, took, served>>
deliveryVars == <<forkVars, deliveries>>

Names == (1 .. Threads) \X Ids
Name(e) == <<ThreadOf(e), carried[e]>>
Kinds == {"answer", "fork"}
NOTHING == <<NONE, "answer">>
UNSEEN == [payload |-> NOTHING, gate |-> <<1, 1>>, ended |-> FALSE]

DeliveryInit ==
    /\ ForkInit
    /\ delivery = [name \in Names |-> UNSEEN]
    /\ carried = [e \in Executors |-> NONE]
    /\ took = [name \in Names |-> {}]
    /\ served = [name \in Names |-> {}]

\* What is on record of an id; nothing, for none.
Record(t, id) == IF id = NONE THEN UNSEEN ELSE delivery[<<t, id>>]
Own(e) == Record(ThreadOf(e), carried[e])

\* What a run at a gate was called for: the gate at which an attempt was opened is its fork's.
Kind(gate) == IF asked[gate[1]] # NONE /\ origin[gate[1]] = gate[2] THEN "fork" ELSE "answer"

Durable(gate) == position[gate[1]] >= gate[2]
Serves(name, payload) == served' = [served EXCEPT ![name] = @ \cup {payload}]

----------------------------------------------------------------------------
\* The first answer under an id, or one under none, takes the lease as ever. If another decision than its own is on
\* record it is refused, which changes nothing: a fence is granted with the first write, and there is none. (What
\* recovers a fork has the fork's id here, or none.)
First(e, t, id) ==
    /\ ClaimFirst \/ Record(t, id).payload = NOTHING
    /\ Lease(e, t)
    /\ id # NONE => claim[Key(Next_(t))] \in {NONE, e} /\ Kind(Next_(t)) = "answer"
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED <<forks, delivery, took, served>>

\* What is done for somebody who brings the payload on record, or is taken to.
Same(e, kind, name) ==
    LET first == delivery[name].payload IN
    first # NOTHING /\ (PayloadIgnored \/ (first[1] = e /\ (IntentIgnored \/ first[2] = kind)))

\* A repetition: the outcome on record. Without one, if the decision is durable, the state as it is.
Repeat(e, kind, name) ==
    /\ state[e] = "idle"
    /\ Same(e, kind, name)
    /\ delivery[name].ended \/ Durable(delivery[name].gate)
    /\ Serves(name, <<e, kind>>)
    /\ UNCHANGED <<forkVars, delivery, carried, took>>

\* It was accepted and came to no outcome: this delivery is its recovery, unless the thread was forked meanwhile.
Retry(e, t, id) ==
    /\ \E kind \in Kinds : Same(e, kind, <<t, id>>)
    /\ ~delivery[<<t, id>>].ended
    /\ Pending(t) /\ delivery[<<t, id>>].gate = Next_(t)
    /\ Lease(e, t)
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED <<forks, delivery, took, served>>

Accepted(name, e, kind, gate) == [delivery EXCEPT ![name] = [payload |-> <<e, kind>>, gate |-> gate, ended |-> FALSE]]

\* A delivery of its own claims; one that was accepted before takes its claim up.
Accept(e) ==
    /\ Claim(e)
    /\ IF carried[e] = NONE
       THEN UNCHANGED <<delivery, took>>
       ELSE /\ took' = [took EXCEPT ![Name(e)] = @ \cup {at[e]}]
            /\ delivery' = IF Own(e).payload = NOTHING THEN Accepted(Name(e), e, "answer", at[e]) ELSE delivery
    /\ UNCHANGED <<forks, carried, served>>

\* A claim is on record. Whoever brings no decision recovers it, and so does whoever brings that decision.
Resume(e) ==
    /\ TakeUp(e)
    /\ LET new == carried[e] # NONE /\ Own(e).payload = NOTHING
       IN  /\ new => claim[Key(at[e])] = e
           /\ delivery' = IF new THEN Accepted(Name(e), e, "answer", at[e]) ELSE delivery
    /\ UNCHANGED <<forks, carried, took, served>>

\* The gate runs on behalf of the payload.
RunFor(e) ==
    /\ Run(e)
    /\ IF carried[e] = NONE THEN UNCHANGED served ELSE Serves(Name(e), <<e, Kind(at[e])>>)
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

\* A fork under an id: looked up as any, and written with the decision. Into another thread, the id is that thread's.
Opens(e, id) ==
    /\ \E a \in Open_, i \in 1 .. Interrupts : Open(e, a, i) /\ Record(home[a], id).payload = NOTHING
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED <<delivery, took, served>>

Takes(e, name, gate) ==
    IF name[2] = NONE
    THEN UNCHANGED <<delivery, took>>
    ELSE /\ delivery' = IF ForkUnrecorded THEN delivery ELSE Accepted(name, e, "fork", gate)
         /\ took' = [took EXCEPT ![name] = @ \cup {gate}]

Decides(e) ==
    /\ Decide(e)
    /\ Takes(e, Name(e), at[e])
    /\ UNCHANGED <<carried, served>>

Copies(e, id) ==
    /\ \E a \in Open_, i \in 1 .. Interrupts, t \in 1 .. Threads :
        Into(e, a, i, t) /\ Record(t, id).payload = NOTHING /\ Takes(e, <<t, id>>, <<New, i>>)
    /\ carried' = [carried EXCEPT ![e] = id]
    /\ UNCHANGED served

----------------------------------------------------------------------------
Delivers(e) == \E t \in 1 .. Threads, id \in Ids \cup {NONE} : First(e, t, id) \/ (id # NONE /\ Retry(e, t, id))
Repeats(e) == \E kind \in Kinds, name \in Names : Repeat(e, kind, name)
Branches(e) == Decides(e) \/ \E id \in Ids \cup {NONE} : Opens(e, id) \/ Copies(e, id)
Serves_(e) == Accept(e) \/ Resume(e) \/ RunFor(e) \/ Conclude(e)
Bare(e) == (Store(e) \/ Stop(e)) /\ UNCHANGED <<forks, deliveries>>
Wrongs(e) ==
    \/ (Look(e) \/ ClaimEarly(e) \/ Doubt(e) \/ CutOff(e) \/ Die(e) \/ Renew(e) \/ Return(e)) /\ UNCHANGED <<forks, deliveries>>
    \/ Failed(e)
Times == Expires /\ UNCHANGED <<forks, deliveries>>

DeliveryNext == Times \/ \E e \in Executors : Delivers(e) \/ Repeats(e) \/ Serves_(e) \/ Bare(e) \/ Wrongs(e) \/ Branches(e)

\* Somebody always recovers, or brings a decision under no id or a new one.
DeliveryFair ==
    /\ WF_deliveryVars(Times)
    /\ \A e \in Executors : WF_deliveryVars(\E t \in 1 .. Threads : First(e, t, NONE))
    /\ \A e \in Executors : WF_deliveryVars(Serves_(e) \/ Bare(e) \/ Decides(e))
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
    [][\A name \in Names : delivery[name].payload # NOTHING =>
        /\ delivery'[name].payload = delivery[name].payload
        /\ delivery'[name].gate = delivery[name].gate
        /\ delivery[name].ended => delivery'[name].ended]_deliveryVars
=============================================================================
