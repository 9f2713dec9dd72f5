"""What a model is shown: words, word pairs, templates and sentences, with their language and their source."""

from tiltmeter.stimuli.lexicon.lexicon import (
    KINDS,
    ROLES,
    Group,
    Lexicon,
    Pairs,
    SomePairs,
    SomeWords,
    TemplateSet,
    Word,
    check_disjoint,
    frequency_bands,
    group,
    lexicon_names,
    load_lexicon,
    matched_words,
    neutral_words,
    pairs,
    stimuli_digest,
    templates,
)
from tiltmeter.stimuli.sentences.association_folder import load_association_folder
from tiltmeter.stimuli.sentences.seat_file import SeatTest, load_seat_file
from tiltmeter.stimuli.sentences.sentence import Sentence, SentenceSet
from tiltmeter.stimuli.sentences.templates import fill_templates
from tiltmeter.stimuli.text import capitalise, comparable, indefinite, normalise

__all__ = [
    "KINDS",
    "ROLES",
    "Group",
    "Lexicon",
    "Pairs",
    "SeatTest",
    "Sentence",
    "SentenceSet",
    "SomePairs",
    "SomeWords",
    "TemplateSet",
    "Word",
    "capitalise",
    "check_disjoint",
    "comparable",
    "fill_templates",
    "frequency_bands",
    "group",
    "indefinite",
    "lexicon_names",
    "load_association_folder",
    "load_lexicon",
    "load_seat_file",
    "matched_words",
    "neutral_words",
    "normalise",
    "pairs",
    "stimuli_digest",
    "templates",
]  # fmt: skip
