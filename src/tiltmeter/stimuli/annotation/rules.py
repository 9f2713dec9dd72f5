"""Rules that a proposed cloze sentence must keep before a person is asked to look at it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping

from tiltmeter.stimuli.languages.language import Language, language, script_of
from tiltmeter.stimuli.lexicon.lexicon import Word, load_lexicon
from tiltmeter.stimuli.sentences.cloze_sets import PRONOUN
from tiltmeter.stimuli.text import article

#: Where the pronoun stands, in a draft as in the files of cloze sets.
PLACE = f"{{{PRONOUN}}}"
#: What a writer puts there instead; "them" is a pronoun for anybody.
_PLACEHOLDER = re.compile(r"\{pronoun\}|\[(?:pronoun|mask)\]|<pronoun>|_{2,}", re.IGNORECASE)
FEWEST_WORDS, MOST_WORDS = 4, 40
#: The lexicon of a language whose groups male_... and female_... say a gender.
_LEXICONS = {"en": "gender", "bn": "bangla", "ja": "japanese"}
_ARTICLE = re.compile(r"\b(an?) ([A-Za-z][\w-]*)", re.IGNORECASE)

NO_PRONOUN = "no pronoun"
NOT_LAST = "the pronoun is not the last word"
MORE_PRONOUNS = "more than one pronoun"
NO_CONTEXT = "a context word is not in the sentence"
GENDERED = "another word that says a gender"
SENTENCES = "more than one sentence"
LENGTH = f"fewer than {FEWEST_WORDS} or more than {MOST_WORDS} words"
SCRIPT = "letters of another script"
WRONG_ARTICLE = "a where an belongs, or an where a does"
DUPLICATE = "differs from another row in one word at most"


def with_place(text: str, pronouns: tuple[str, str], spoken: Language) -> str:
    """A sentence with ``{pronoun}`` for what a writer put at its end: a placeholder, a pronoun, both, or them.

    >>> with_place("The chef said it was cut by him/her.", ("him", "her"), language("en"))
    'The chef said it was cut by {pronoun}'
    """
    text = _PLACEHOLDER.sub(PLACE, spoken.normalise(text)).strip(" \"“”'*`")
    text = text.rstrip(spoken.sentence_ends)
    if PLACE in text:
        return text
    either = "|".join(map(re.escape, sorted({*pronouns, "them"}, key=len, reverse=True)))
    start = r"(?<!\w)" if spoken.spaced else ""
    return re.sub(rf"{start}[\[(]?(?:{either})(?:/(?:{either}))*[\])]?$", PLACE, text, flags=re.IGNORECASE)


def broken_rule(sentence: str, contexts: Mapping[str, str], pronouns: tuple[str, str], spoken: Language) -> str | None:
    """The first rule that a sentence with ``{pronoun}`` in it breaks, or None.

    >>> english, him_her = language("en"), ("him", "her")
    >>> broken_rule("The chef said that the soup was made by {pronoun}", {"noun": "soup"}, him_her, english)
    >>> broken_rule("The chef told his son about {pronoun}", {}, him_her, english)
    'more than one pronoun'
    >>> broken_rule("The chef and a actress were seen by {pronoun}", {}, him_her, english)
    'another word that says a gender'
    """
    places = sentence.count(PLACE)
    if places != 1:
        return MORE_PRONOUNS if places else NO_PRONOUN
    before, _, after = sentence.partition(PLACE)
    plain = spoken.normalise(before)
    words = [plain[start:end] for start, end in spoken.words(plain)]
    folded = {spoken.fold(word) for word in words}
    said, called = gender_words(spoken.code)
    if folded & (said["pronouns"] | {spoken.fold(word) for word in pronouns}):
        return MORE_PRONOUNS
    if after.strip(spoken.sentence_ends + " "):
        return NOT_LAST
    if any(not stands_in(word, plain, spoken) for word in contexts.values() if word):
        return NO_CONTEXT
    if folded & (said["others"] | {spoken.fold(word) for word in spoken.gendered}) or called & {*words}:
        return GENDERED
    if len(spoken.sentences(plain)) > 1:
        return SENTENCES
    if not FEWEST_WORDS <= len(words) + 1 <= MOST_WORDS:
        return LENGTH
    if spoken.script and any(script_of(letter) != spoken.script for letter in {*plain} if letter.isalpha()):
        return SCRIPT
    if spoken.code == "en" and any(a.lower() != article(word) for a, word in _ARTICLE.findall(plain)):
        return WRONG_ARTICLE
    return next((rule.says for rule in spoken.grammar if rule.wrong.search(sentence)), None)


def stands_in(word: str, text: str, spoken: Language) -> bool:
    """Whether a word or phrase stands in a text as it is, whatever its case."""
    # A boundary where the script sets words apart: "cook" does not stand in "cookbook".
    border = (r"(?<!\w)", r"(?!\w)") if spoken.spaced else ("", "")
    pattern = border[0] + re.escape(spoken.fold(spoken.normalise(word))) + border[1]
    return bool(re.search(pattern, spoken.fold(text)))


@functools.cache
def gender_words(code: str) -> tuple[dict[str, frozenset[str]], frozenset[str]]:
    """Words of a language that say a gender, folded: pronouns and others; and first names, as they are written."""
    name = _LEXICONS.get(code)
    pronouns, others, names = set[str](), set[str](), set[str]()
    if name is None:
        return {"pronouns": frozenset(), "others": frozenset()}, frozenset()
    lexicon, spoken = load_lexicon(name), language(code)
    chosen = [each for key, each in lexicon.groups.items() if key.startswith(("male_", "female_", "nonbinary_"))]
    words = [word for each in chosen for word in each.words]
    words += [Word(text) for each in lexicon.pairs.values() for pair in each.pairs for text in pair]
    known_names = {word.text for word in words if word.kind == "name"}
    for word in words:
        if word.text in known_names:
            names.add(word.text)
        elif word.kind in ("subject", "object", "owner"):
            pronouns.add(spoken.fold(word.text))
        else:
            others |= {spoken.fold(form) for form in _forms(word, spoken)}
    if code == "en":
        pronouns |= {f"{one}self" for one in ("him", "her", "them")} | {"themselves", "their"}
    return {"pronouns": frozenset(pronouns), "others": frozenset(others - pronouns)}, frozenset(names)


def _forms(word: Word, spoken: Language) -> tuple[str, ...]:
    """The word in the endings that its language gives to any noun."""
    groups = " ".join(name for name in ("plural", "possessive") if name in spoken.suffixes)
    return spoken.forms(Word(word.text, properties={"suffixes": groups})) if groups else (word.text,)


class Seen:
    """Sentences that were met before: a further one that differs in one word at most, or in the place of one, is known.

    >>> seen = Seen(language("en"), ["The chef said that the soup was made by {pronoun}"])
    >>> seen.add("The cook said that the soup was made by {pronoun}")
    False
    >>> seen.add("The cook said that the bread was baked by {pronoun}")
    True
    """

    def __init__(self, spoken: Language, sentences: Iterable[str] = ()) -> None:
        self._language, self._keys = spoken, set[tuple[str, ...]]()
        for sentence in sentences:
            self.add(sentence)

    def add(self, sentence: str) -> bool:
        """Remember a sentence; False where one like it is known, and then nothing changes."""
        plain = self._language.fold(self._language.normalise(sentence.replace(PLACE, " ")))
        words = tuple(plain[start:end] for start, end in self._language.words(plain))
        # Two rows that differ in one word are the same without it.
        keys = {words, *(words[:place] + words[place + 1 :] for place in range(len(words)))}
        if keys & self._keys:
            return False
        self._keys |= keys
        return True
