---------------------------- MODULE GuardTrace ----------------------------
(* Is a recorded run of the guard a behaviour of `Guard`?

   Trace is a sequence of records [what, who, decision, position]. TLC follows it through the transition relation of
   `Guard`, one action for each record; taking up a claim that is on record leaves no record of its own, so that
   step is guessed. The trace is a behaviour if and only if TLC finds the invariant Unfinished violated. *)
EXTENDS Guard, Sequences

CONSTANT Trace

VARIABLE read   \* how many records were followed

Record == Trace[read + 1]

\* A refusal changes nothing, and it needs a decision of somebody else on record.
Refuse(e) ==
    /\ state[e] = "idle"
    /\ \E i \in 1 .. Interrupts : claim[i] \notin {NONE, e}
    /\ UNCHANGED vars

Recorded(e) ==
    /\ read < Len(Trace)
    /\ Record.who = e
    /\ \/ Record.what = "lease" /\ Lease(e)
       \/ Record.what = "claim" /\ Claim(e) /\ claim' # claim
       \/ Record.what = "run" /\ Run(e) /\ claim[Key(at[e])] = Record.decision
       \/ Record.what = "store" /\ Store(e) /\ token[e] = fence /\ position' = Record.position
       \/ Record.what = "fenced" /\ (Store(e) \/ Stop(e)) /\ token[e] # fence
       \/ Record.what = "cut-off" /\ CutOff(e)
       \/ Record.what = "die" /\ Die(e)
       \/ Record.what = "refuse" /\ Refuse(e)
    /\ read' = read + 1

TakeUp(e) ==
    /\ Claim(e)
    /\ UNCHANGED <<claim, read>>

TraceInit == Init /\ read = 0
TraceNext == \E e \in Executors : Recorded(e) \/ TakeUp(e)
TraceSpec == TraceInit /\ [][TraceNext]_<<vars, read>>

Unfinished == read < Len(Trace)
=============================================================================
