"""From a measurement and what a framework states of itself to a label.

The rule of the paper's Table V (note b), as a pure and total function: a breach is a violation where the framework
states the opposite, or where corrupt state was stored in silence; it is a divergence where the framework documents a
weaker discipline; and it is undocumented where nothing citable was found.
"""

from __future__ import annotations

from dataclasses import dataclass

from resumption.contract.verdicts import Label, Measured

__all__ = ["Evidence", "classify"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that the rule may look at.

    `promised`: a citable statement that the breach contradicts. `weaker`: a citable statement of a weaker discipline
    that covers it. `silent_corruption`: state that breaks its schema was stored without an error.
    `form_documented`: the resume form used is one that the framework documents.
    """

    measured: Measured
    promised: bool = False
    weaker: bool = False
    silent_corruption: bool = False
    form_documented: bool = True


def classify(evidence: Evidence, *, strict: bool = False) -> Label:
    """Return the label of one measurement.

    With `strict`, any breach violates, whatever is documented. A form that nobody documents caps at `undocumented`
    under both rules: nobody was told to use it.
    """
    match evidence.measured:
        case Measured.CONFORMS:
            return Label.HOLDS
        case Measured.UNEXERCISED:
            return Label.VACUOUS
        case Measured.UNDETERMINED:
            return Label.INCONCLUSIVE
        case Measured.BREACHES:
            label = _label_of_breach(evidence, strict=strict)
    if label is Label.VIOLATES and not evidence.form_documented:
        return Label.UNDOCUMENTED
    return label


def _label_of_breach(evidence: Evidence, *, strict: bool) -> Label:
    if strict or evidence.promised or evidence.silent_corruption:
        return Label.VIOLATES
    return Label.DIVERGENT if evidence.weaker else Label.UNDOCUMENTED
