----------------------------- MODULE GuardFork -----------------------------
(* Forks: a second decision at an interrupt that was raised, on an attempt of its own.

   On the thread itself the executor that wants the fork takes the thread's lease, copies the checkpoint at which the
   interrupt waited (Open: from here on the thread goes on with the new attempt), and writes its decision (Decide). It
   can die between the two: then the branch asks, as any gate does, and the fork was not made. `Into` another thread the
   copy and the decision are one transaction of a thread that nobody else knows yet; that the origin is looked at under
   its lease is in the guard of the action.

   An attempt is part of a claim's key, so a fork never meets the claim of the attempt that it forks from.

     UnleasedFork      the branch is opened by whoever asks, beside the executor that has the lease

   and SharedKey of `Guard` are the mistakes. *)
EXTENDS Guard

CONSTANT UnleasedFork

VARIABLES
    origin,     \* attempt -> the interrupt at which it was opened
    asked       \* attempt -> whose decision the fork was made with, or NONE

forks == <<origin, asked>>
forkVars == <<vars, forks>>

Open_ == {a \in 1 .. Attempts : home[a] # 0}
New == Cardinality(Open_) + 1   \* one past the highest

\* The interrupts of an attempt that were raised: the answered ones after its origin, and the one at which it stands.
Raised(a) == {i \in 1 .. Interrupts : i >= origin[a] /\ i <= position[a] + 1}

ForkInit ==
    /\ Init
    /\ origin = [a \in 1 .. Attempts |-> 1]
    /\ asked = [a \in 1 .. Attempts |-> NONE]

\* The new attempt has what was durable before the interrupt, and its thread goes on with it.
Opening(e, i, t) ==
    /\ home' = [home EXCEPT ![New] = t]
    /\ head' = [head EXCEPT ![t] = New]
    /\ position' = [position EXCEPT ![New] = i - 1]
    /\ origin' = [origin EXCEPT ![New] = i]
    /\ at' = [at EXCEPT ![e] = <<New, i>>]

Open(e, a, i) ==
    /\ state[e] = "idle"
    /\ New <= Attempts
    /\ a \in Open_ /\ i \in Raised(a)
    /\ IF UnleasedFork
       THEN /\ token' = [token EXCEPT ![e] = fence[home[a]]]
            /\ sure' = [sure EXCEPT ![e] = TRUE]
            /\ UNCHANGED lease
       ELSE Free(home[a]) /\ Grant(e, home[a])
    /\ Opening(e, i, home[a])
    /\ state' = [state EXCEPT ![e] = "opening"]
    /\ UNCHANGED <<claim, asked, consumed, landed, faults>>

\* The branch's decision; where the database has one under this key, that one stands.
Deciding(e, gate) ==
    /\ asked' = [asked EXCEPT ![gate[1]] = e]
    /\ claim' = IF claim[Key(gate)] = NONE THEN [claim EXCEPT ![Key(gate)] = e] ELSE claim
    /\ state' = [state EXCEPT ![e] = "claimed"]

Decide(e) ==
    /\ state[e] = "opening"
    /\ Unfenced \/ Current(e)
    /\ Deciding(e, at[e])
    /\ UNCHANGED <<home, head, position, lease, token, sure, at, origin, consumed, landed, faults>>

Into(e, a, i, t) ==
    /\ state[e] = "idle"
    /\ New <= Attempts
    /\ a \in Open_ /\ i \in Raised(a) /\ Free(home[a])
    /\ ~Exists(t)
    /\ Grant(e, t)
    /\ Opening(e, i, t)
    /\ Deciding(e, <<New, i>>)
    /\ UNCHANGED <<consumed, landed, faults>>

Forks(e) == \E a \in 1 .. Attempts, i \in 1 .. Interrupts : Open(e, a, i) \/ \E t \in 1 .. Threads : Into(e, a, i, t)

ForkNext == (Next /\ UNCHANGED forks) \/ \E e \in Executors : Forks(e) \/ Decide(e)
ForkFair ==
    /\ WF_forkVars(Expires /\ UNCHANGED forks)
    /\ \A e \in Executors : WF_forkVars(((Leases(e) \/ Works(e)) /\ UNCHANGED forks) \/ Decide(e))
ForkSpec == ForkInit /\ [][ForkNext]_forkVars /\ ForkFair

----------------------------------------------------------------------------
\* A branch's gate receives the decision that the fork was made with, never that of another attempt.
OwnDecision == \A a \in 1 .. Attempts : asked[a] # NONE => consumed[<<a, origin[a]>>] \subseteq {asked[a]}

\* An attempt that was opened is no other's: it keeps its thread and its origin.
AttemptsAreNew == [][\A a \in Open_ : home'[a] = home[a] /\ origin'[a] = origin[a]]_forkVars

\* Each fork ends with its own decision, unless its thread was forked again before.
ForksEnd ==
    \A a \in 1 .. Attempts :
        asked[a] # NONE ~> \/ position[a] >= origin[a] /\ consumed[<<a, origin[a]>>] = {asked[a]}
                           \/ \A t \in 1 .. Threads : head[t] # a
=============================================================================
