----------------------------- MODULE ForkIntent -----------------------------
(***************************************************************************)
(* Proposition 1: an interface that carries no discriminator between a     *)
(* retry and a fork can't be implemented so that fork determinism and      *)
(* consume-once both hold.  A responder is a function of what it observes  *)
(* when a resume reaches an interrupt that has consumed a decision.  TLC   *)
(* tries every responder: each is one initial state.                       *)
(***************************************************************************)
EXTENDS Naturals

CONSTANTS NumValues, Discriminator
ASSUME NumValues \in Nat \ {0} /\ Discriminator \in BOOLEAN

VARIABLE responder

Values  == 1..NumValues
Intents == {"retry", "fork"}

(* What happened to the resume: whose outcome it got, whether an effect     *)
(* fired for it.                                                            *)
Answers == [outcome : Values, fires : BOOLEAN]

(* What the interface lets the responder see.                               *)
Seen == [consumed : Values, value : Values, intent : IF Discriminator THEN Intents ELSE {"unknown"}]
See(c, v, i) == [consumed |-> c, value |-> v, intent |-> IF Discriminator THEN i ELSE "unknown"]

Init == responder \in [Seen -> Answers]
Next == UNCHANGED responder
Spec == Init /\ [][Next]_responder

(* FD, by intent: a fork has the outcome of its own value, on a branch of   *)
(* its own, where its effect fires.                                         *)
ForksAreForks ==
    \A c, v \in Values : responder[See(c, v, "fork")] = [outcome |-> v, fires |-> TRUE]

(* CO, by intent: a retry gets the recorded outcome and fires nothing.      *)
RetriesAreRetries ==
    \A c, v \in Values : responder[See(c, v, "retry")] = [outcome |-> c, fires |-> FALSE]

(* Holds without a discriminator: no responder does both.  With one it is   *)
(* violated, by the responder that keys on it.                              *)
NoResponder == ~(ForksAreForks /\ RetriesAreRetries)
=============================================================================
