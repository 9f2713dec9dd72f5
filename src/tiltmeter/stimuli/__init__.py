"""What a model is shown: words, word pairs, templates and sentences, with their language and their source."""

from .association_folder import AssociationFolder, ModelName, load_association_folder
from .lexicon import (
    KINDS,
    ROLES,
    Group,
    Lexicon,
    Pairs,
    TemplateSet,
    Word,
    check_disjoint,
    fingerprint,
    group,
    lexicon_names,
    load_lexicon,
    pairs,
    templates,
)
from .seat_files import SeatTest, load_seat_file
from .sentences import Sentence, SentenceSet, sentences
from .text import capitalise, comparable, indefinite, normalise

__all__ = [
    "KINDS",
    "ROLES",
    "AssociationFolder",
    "Group",
    "Lexicon",
    "ModelName",
    "Pairs",
    "SeatTest",
    "Sentence",
    "SentenceSet",
    "TemplateSet",
    "Word",
    "capitalise",
    "check_disjoint",
    "comparable",
    "fingerprint",
    "group",
    "indefinite",
    "lexicon_names",
    "load_association_folder",
    "load_lexicon",
    "load_seat_file",
    "normalise",
    "pairs",
    "sentences",
    "templates",
]
