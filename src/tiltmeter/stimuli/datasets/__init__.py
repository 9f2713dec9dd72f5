"""Loaders of public data sets, and the catalogue of them: whose they are, where to get them, which are here."""

from tiltmeter.stimuli.datasets.annotated import is_annotated, load_annotated
from tiltmeter.stimuli.datasets.bangla import load_bangla_categories, load_bangla_traits
from tiltmeter.stimuli.datasets.bbq import load_bbq
from tiltmeter.stimuli.datasets.bec_pro import load_bec_pro
from tiltmeter.stimuli.datasets.catalogue import catalogue, data_folder, find, status
from tiltmeter.stimuli.datasets.cloze_data import load_cloze
from tiltmeter.stimuli.datasets.crows_pairs import load_crows_cloze, load_crows_pairs
from tiltmeter.stimuli.datasets.genderlex import load_cloze_files, load_genderlex, load_pronoun_contexts, load_race_sets
from tiltmeter.stimuli.datasets.stereoset import load_stereoset
from tiltmeter.stimuli.datasets.winograd import load_winobias, load_winogender

__all__ = [
    "catalogue", "data_folder", "find", "is_annotated", "load_annotated", "load_bangla_categories",
    "load_bangla_traits", "load_bbq", "load_bec_pro", "load_cloze", "load_cloze_files", "load_crows_cloze",
    "load_crows_pairs", "load_genderlex", "load_pronoun_contexts", "load_race_sets", "load_stereoset", "load_winobias",
    "load_winogender", "status",
]  # fmt: skip
