"""Measures: pure functions from vectors and probabilities to numbers. No model, no file, no network."""

from tiltmeter.measures.association import AssociationResult, PublishedAssociation, association
from tiltmeter.measures.cabm.cabm import CabmIntervals, CabmResult, cabm, with_intervals
from tiltmeter.measures.cabm.checks import (
    Contingency,
    Density,
    Normality,
    ScoreAgreement,
    Separation,
    UnmaskingAgreement,
)
from tiltmeter.measures.cabm.features import PmiBias, context_shift, cosine_bias, pmi_bias, signed_shift
from tiltmeter.measures.cabm.validation import (
    Stability,
    Validation,
    compare,
    cross_validated_scores,
    stability,
    validate,
)
from tiltmeter.measures.cabm.weights import (
    Weights,
    attributions,
    equal_weights,
    given_weights,
    local_linear_weights,
    pca_forest_weights,
    pca_weights,
    shap_weights,
)
from tiltmeter.measures.ceat.ceat import CeatResult, DrawnEffects, RepairedCeat, ceat
from tiltmeter.measures.ceat.draws import draw_contexts
from tiltmeter.measures.cloze import (
    AmplificationResult,
    ClozeResult,
    amplification,
    cloze,
    cloze_combined,
    mean_probability,
)
from tiltmeter.measures.cloze_scores import ClozeScores, ClozeStep
from tiltmeter.measures.crows_pairs import CrowsPairsResult, PublishedPairs, crows_pairs
from tiltmeter.measures.direct_bias import DirectBiasResult, bias_direction, direct_bias, indirect_bias
from tiltmeter.measures.ect import EctResult, ect
from tiltmeter.measures.gonen_goldberg import ClusterResult, NeighbourResult, cluster_bias, neighbour_bias
from tiltmeter.measures.lpbs import LpbsResult, lpbs
from tiltmeter.measures.mac import MacResult, mac
from tiltmeter.measures.multi_weat import Contrast, MultiWeatResult, multi_weat
from tiltmeter.measures.pronouns import PreferenceResult, PronounGapResult, preference, pronoun_gap
from tiltmeter.measures.ripa import RipaResult, ripa
from tiltmeter.measures.rnd import RndResult, rnd
from tiltmeter.measures.rnsb import RnsbResult, rnsb
from tiltmeter.measures.same import SameResult, same
from tiltmeter.measures.semaxis import SemAxisResult, semaxis
from tiltmeter.measures.stereoset import StereoScores, StereoSetResult, stereoset
from tiltmeter.measures.token_pairs import aul, changed_tokens, meade, nangia, shared_tokens
from tiltmeter.measures.weat import WeatResult, weat
from tiltmeter.measures.wefat import NasResult, WefatResult, nas, wefat

__all__ = [
    "AmplificationResult",
    "AssociationResult",
    "CabmIntervals",
    "CabmResult",
    "CeatResult",
    "ClozeResult",
    "ClozeScores",
    "ClozeStep",
    "ClusterResult",
    "Contingency",
    "Contrast",
    "CrowsPairsResult",
    "Density",
    "DirectBiasResult",
    "DrawnEffects",
    "EctResult",
    "LpbsResult",
    "MacResult",
    "MultiWeatResult",
    "NasResult",
    "NeighbourResult",
    "Normality",
    "PmiBias",
    "PreferenceResult",
    "PronounGapResult",
    "PublishedAssociation",
    "PublishedPairs",
    "RepairedCeat",
    "RipaResult",
    "RndResult",
    "RnsbResult",
    "SameResult",
    "ScoreAgreement",
    "SemAxisResult",
    "Separation",
    "Stability",
    "StereoScores",
    "StereoSetResult",
    "UnmaskingAgreement",
    "Validation",
    "WeatResult",
    "WefatResult",
    "Weights",
    "amplification",
    "association",
    "attributions",
    "aul",
    "bias_direction",
    "cabm",
    "ceat",
    "changed_tokens",
    "cloze",
    "cloze_combined",
    "cluster_bias",
    "compare",
    "context_shift",
    "cosine_bias",
    "cross_validated_scores",
    "crows_pairs",
    "direct_bias",
    "draw_contexts",
    "ect",
    "equal_weights",
    "given_weights",
    "indirect_bias",
    "local_linear_weights",
    "lpbs",
    "mac",
    "meade",
    "mean_probability",
    "multi_weat",
    "nangia",
    "nas",
    "neighbour_bias",
    "pca_forest_weights",
    "pca_weights",
    "pmi_bias",
    "preference",
    "pronoun_gap",
    "ripa",
    "rnd",
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
    "wefat",
    "with_intervals",
]
