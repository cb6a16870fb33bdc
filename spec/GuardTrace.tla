---------------------------- MODULE GuardTrace ----------------------------
(* Are recorded runs of the guard behaviours of its specification?

   A trace is a sequence of records [what, who, decision, position, thread, id, kind]. TLC follows each through the transition
   relation of `GuardDelivery`, with forks, one action for each record. Some steps leave no record of their own and are
   guessed: taking up a claim, the end of a run, and time. The number of a trace is printed when it was followed to its
   end: then, and only then, it is a behaviour. *)
EXTENDS GuardDelivery, Sequences, TLC

CONSTANT Traces

VARIABLES
    which,  \* the trace that is followed
    read    \* how many of its records were

Item == Traces[which][read + 1]
Is(what) == Item.what = what
Name_ == <<Item.thread, Item.id>>

(* What changes nothing. Each needs its reason. *)

\* Refused since another decision is on record for a gate that was, or is, the thread's.
OtherDecision(e) == \E gate \in Gates : home[gate[1]] = Item.thread /\ claim[gate] \notin {NONE, e}
\* Refused since the id is on record with another payload.
OtherPayload(e) == delivery[Name_].payload \notin {NOTHING, <<e, Item.kind>>}
\* Refused since somebody else has the thread.
Occupied(e) == holder[Item.thread] \notin {NONE, e}
\* Refused since no interrupt was raised at the place to fork.
NothingRaised == \A a \in Open_ : home[a] = Item.thread => Item.position \notin Raised(a)
\* Given the outcome of its own decision once more.
OwnOutcome(e) == \E gate \in Gates : home[gate[1]] = Item.thread /\ claim[gate] = e /\ Durable(gate)

Unchanging(e) ==
    /\ state[e] = "idle"
    /\ \/ Is("refuse") /\ OtherDecision(e)
       \/ Is("mismatch") /\ OtherPayload(e)
       \/ Is("busy") /\ Occupied(e)
       \/ Is("nothing to fork") /\ NothingRaised
       \/ Is("replay") /\ OwnOutcome(e)
    /\ UNCHANGED deliveryVars

(* What executors do. *)

Id == IF Item.id = "" THEN NONE ELSE Item.id
Delivered(e) == First(e, Item.thread, Id) \/ (Id # NONE /\ Retry(e, Item.thread, Id))

\* Somebody without a decision came to a gate without one: the run parks there.
Asks(e) ==
    /\ state[e] = "leased" /\ claim[Key(at[e])] = NONE
    /\ state' = [state EXCEPT ![e] = "idle"]
    /\ holder' = Released(e)
    /\ UNCHANGED <<durable, fence, over, token, sure, at, consumed, landed, faults, forks, deliveries>>

Branched(e) ==
    \/ Is("open") /\ Opens(e, Id) /\ at'[e][2] = Item.position /\ home'[at'[e][1]] = Item.thread
    \/ Is("decide") /\ Decides(e)
    \/ Is("into") /\ Copies(e, Id) /\ at'[e][2] = Item.position /\ home'[at'[e][1]] = Item.thread

Follows(e) ==
    \/ Unchanging(e)
    \/ Is("lease") /\ Delivered(e)
    \/ Is("claim") /\ Accept(e)
    \/ Is("run") /\ RunFor(e) /\ claim[Key(at[e])] = Item.decision /\ at[e][2] = Item.position
    \/ Is("repeat") /\ Repeat(e, Item.kind, Name_)
    \/ Is("ask") /\ Asks(e)
    \/ Is("fail") /\ Failed(e)
    \/ Branched(e)
    \/ /\ \/ Is("store") /\ Store(e) /\ Current(e) /\ position'[at[e][1]] = Item.position
          \/ Is("fenced") /\ (Store(e) \/ Stop(e)) /\ ~Current(e)
          \/ Is("cut off") /\ CutOff(e)
          \/ Is("stall") /\ Doubt(e)
          \/ Is("die") /\ Die(e)
       /\ UNCHANGED <<forks, deliveries>>

Recorded(e) ==
    /\ read < Len(Traces[which])
    /\ Item.who = e
    /\ Follows(e)
    /\ read' = read + 1

Guessed == (Times \/ \E e \in Executors : Resume(e) \/ Conclude(e)) /\ UNCHANGED read

TraceInit == DeliveryInit /\ read = 0 /\ which \in 1 .. Len(Traces)
TraceNext == (Guessed \/ \E e \in Executors : Recorded(e)) /\ UNCHANGED which
TraceSpec == TraceInit /\ [][TraceNext]_<<deliveryVars, read, which>>

Printed == read = Len(Traces[which]) => PrintT(<<"followed", which>>)
=============================================================================
