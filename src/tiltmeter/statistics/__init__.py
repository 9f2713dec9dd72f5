"""Statistics that every measure shares. Words are the unit, uncertainty is never optional."""

from tiltmeter.statistics.correlation import Correlation, correlation
from tiltmeter.statistics.groups import (
    Result,
    UnitScores,
    band,
    by_unit,
    concatenated_d,
    effect_size,
    hedges_g,
    minimum_detectable_effect,
    plain,
    pooled_d,
)
from tiltmeter.statistics.intervals import Interval, bootstrap_interval, effect_interval, resampled_interval
from tiltmeter.statistics.multiplicity import benjamini_hochberg, holm
from tiltmeter.statistics.permutation import (
    Alternative,
    PermutationTest,
    draw_splits,
    p_from_null,
    permutation_test,
    permutation_tests,
    sign_flip_test,
)
from tiltmeter.statistics.pooling import RandomEffects, random_effects
from tiltmeter.statistics.proportions import Mean, Share, clustered_mean, clustered_share, share

__all__ = [
    "Alternative",
    "Correlation",
    "Interval",
    "Mean",
    "PermutationTest",
    "RandomEffects",
    "Result",
    "Share",
    "UnitScores",
    "band",
    "benjamini_hochberg",
    "bootstrap_interval",
    "by_unit",
    "clustered_mean",
    "clustered_share",
    "concatenated_d",
    "correlation",
    "draw_splits",
    "effect_interval",
    "effect_size",
    "hedges_g",
    "holm",
    "minimum_detectable_effect",
    "p_from_null",
    "permutation_test",
    "permutation_tests",
    "plain",
    "pooled_d",
    "random_effects",
    "resampled_interval",
    "share",
    "sign_flip_test",
]
