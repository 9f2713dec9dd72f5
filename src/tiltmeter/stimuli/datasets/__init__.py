"""Loaders of public data sets, and the catalogue of them: whose they are, where to get them, which are here."""

from .bangla_categories import BanglaCategories, WordTest, load_bangla_categories
from .bangla_traits import load_bangla_traits
from .bec_pro import load_bec_pro, load_bec_pro_traits
from .catalogue import DataSet, catalogue, data_folder, find, status
from .cloze_files import load_cloze_files
from .crows_pairs import load_crows_pairs
from .genderlex import load_genderlex, load_race_sets
from .pronoun_contexts import load_pronoun_contexts
from .stereoset import load_stereoset
from .winobias import load_winobias
from .winogender import load_winogender

__all__ = [
    "BanglaCategories",
    "DataSet",
    "WordTest",
    "catalogue",
    "data_folder",
    "find",
    "load_bangla_categories",
    "load_bangla_traits",
    "load_bec_pro",
    "load_bec_pro_traits",
    "load_cloze_files",
    "load_crows_pairs",
    "load_genderlex",
    "load_pronoun_contexts",
    "load_race_sets",
    "load_stereoset",
    "load_winobias",
    "load_winogender",
    "status",
]
