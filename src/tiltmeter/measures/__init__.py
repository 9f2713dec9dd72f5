"""Measures: pure functions from vectors to numbers. No model, no file, no network."""

from tiltmeter.measures.association import AssociationResult, PublishedAssociation, association
from tiltmeter.measures.direct_bias import DirectBiasResult, bias_direction, direct_bias, indirect_bias
from tiltmeter.measures.ect import EctResult, ect
from tiltmeter.measures.gonen_goldberg import ClusterResult, NeighbourResult, cluster_bias, neighbour_bias
from tiltmeter.measures.mac import MacResult, mac
from tiltmeter.measures.multi_weat import Contrast, MultiWeatResult, multi_weat
from tiltmeter.measures.ripa import RipaResult, ripa
from tiltmeter.measures.rnd import RndResult, rnd
from tiltmeter.measures.rnsb import RnsbResult, rnsb
from tiltmeter.measures.same import SameResult, same
from tiltmeter.measures.semaxis import SemAxisResult, semaxis
from tiltmeter.measures.weat import WeatResult, weat
from tiltmeter.measures.wefat import NasResult, WefatResult, nas, wefat

__all__ = [
    "AssociationResult",
    "ClusterResult",
    "Contrast",
    "DirectBiasResult",
    "EctResult",
    "MacResult",
    "MultiWeatResult",
    "NasResult",
    "NeighbourResult",
    "PublishedAssociation",
    "RipaResult",
    "RndResult",
    "RnsbResult",
    "SameResult",
    "SemAxisResult",
    "WeatResult",
    "WefatResult",
    "association",
    "bias_direction",
    "cluster_bias",
    "direct_bias",
    "ect",
    "indirect_bias",
    "mac",
    "multi_weat",
    "nas",
    "neighbour_bias",
    "ripa",
    "rnd",
    "rnsb",
    "same",
    "semaxis",
    "weat",
    "wefat",
]
