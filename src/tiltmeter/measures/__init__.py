"""Measures: pure functions from vectors and probabilities to numbers. No model, no file, no network."""

from tiltmeter.measures.association import AssociationResult, association
from tiltmeter.measures.bbq import BbqResult, bbq
from tiltmeter.measures.bold import BoldResult, bold
from tiltmeter.measures.cabm.cabm import (
    CabmIntervals,
    cabm,
    context_shift,
    cosine_bias,
    pmi_bias,
    pronoun_pmi_bias,
    signed_shift,
    with_intervals,
)
from tiltmeter.measures.cabm.validation import (
    Contingency,
    Normality,
    Separation,
    Stability,
    compare_scores,
    cross_validated_scores,
    stability,
    validate,
)
from tiltmeter.measures.cabm.weighting import (
    Weights,
    attributions,
    equal_weights,
    given_weights,
    local_linear_weights,
    pca_forest_weights,
    pca_weights,
    published_labels,
    shap_weights,
)
from tiltmeter.measures.ceat import CeatResult, DrawnEffects, RepairedCeat, ceat, draw_contexts
from tiltmeter.measures.cloze import (
    ClozeResult,
    ClozeScores,
    ClozeStep,
    amplification,
    cloze,
    cloze_combined,
    mean_probability,
    neutral_offset,
)
from tiltmeter.measures.counterfactual import CounterfactualResult, counterfactual
from tiltmeter.measures.crows_pairs import crows_pairs
from tiltmeter.measures.direct_bias import bias_direction, direct_bias, indirect_bias
from tiltmeter.measures.ect import ect, ect_placebo
from tiltmeter.measures.gonen_goldberg import (
    cluster_bias,
    cluster_deal_test,
    cluster_placebo,
    dealt_leans,
    neighbour_bias,
    neighbour_deal_test,
    neighbour_placebo,
)
from tiltmeter.measures.honest import HonestResult, honest
from tiltmeter.measures.lpbs import LpbsResult, lpbs
from tiltmeter.measures.mac import mac, mac_placebo
from tiltmeter.measures.multi_weat import multi_weat, multi_weat_placebo
from tiltmeter.measures.placebos import axis_placebo, direct_bias_placebo, leans_between, ripa_placebo, wefat_placebo
from tiltmeter.measures.pronouns import PreferenceResult, PronounGapResult, preference, pronoun_gap
from tiltmeter.measures.ripa import ripa
from tiltmeter.measures.rnd import rnd, rnd_placebo
from tiltmeter.measures.rnsb import rnsb
from tiltmeter.measures.same import same
from tiltmeter.measures.semaxis import semaxis
from tiltmeter.measures.stereoset import StereoScores, StereoSetResult, stereoset
from tiltmeter.measures.token_pairs import aul, changed_tokens, meade, nangia, shared_tokens
from tiltmeter.measures.weat import WeatResult, weat, weat_placebo
from tiltmeter.measures.wefat import nas, wefat

__all__ = [
    "AssociationResult",
    "BbqResult",
    "BoldResult",
    "CabmIntervals",
    "CeatResult",
    "ClozeResult",
    "ClozeScores",
    "ClozeStep",
    "Contingency",
    "CounterfactualResult",
    "DrawnEffects",
    "HonestResult",
    "LpbsResult",
    "Normality",
    "PreferenceResult",
    "PronounGapResult",
    "RepairedCeat",
    "Separation",
    "Stability",
    "StereoScores",
    "StereoSetResult",
    "WeatResult",
    "Weights",
    "amplification",
    "association",
    "attributions",
    "aul",
    "axis_placebo",
    "bbq",
    "bias_direction",
    "bold",
    "cabm",
    "ceat",
    "changed_tokens",
    "cloze",
    "cloze_combined",
    "cluster_bias",
    "cluster_deal_test",
    "cluster_placebo",
    "compare_scores",
    "context_shift",
    "cosine_bias",
    "counterfactual",
    "cross_validated_scores",
    "crows_pairs",
    "dealt_leans",
    "direct_bias",
    "direct_bias_placebo",
    "draw_contexts",
    "ect",
    "ect_placebo",
    "equal_weights",
    "given_weights",
    "honest",
    "indirect_bias",
    "leans_between",
    "local_linear_weights",
    "lpbs",
    "mac",
    "mac_placebo",
    "meade",
    "mean_probability",
    "multi_weat",
    "multi_weat_placebo",
    "nangia",
    "nas",
    "neighbour_bias",
    "neighbour_deal_test",
    "neighbour_placebo",
    "neutral_offset",
    "pca_forest_weights",
    "pca_weights",
    "pmi_bias",
    "preference",
    "pronoun_gap",
    "pronoun_pmi_bias",
    "published_labels",
    "ripa",
    "ripa_placebo",
    "rnd",
    "rnd_placebo",
    "rnsb",
    "same",
    "semaxis",
    "shap_weights",
    "shared_tokens",
    "signed_shift",
    "stability",
    "stereoset",
    "validate",
    "weat",
    "weat_placebo",
    "wefat",
    "wefat_placebo",
    "with_intervals",
]
