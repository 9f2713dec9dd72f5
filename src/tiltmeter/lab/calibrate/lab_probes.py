"""The probes that users run, over the lab's own sentences: every occupation in the same frames.

A probe is told which occupations are with men in the way that it takes such things: as shares of women, as the sentence
that fits a stereotype, or as two groups of targets.
"""

from __future__ import annotations

import csv
import dataclasses
import itertools
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import yaml
from numpy.typing import NDArray

from tiltmeter.lab.reference.frames import FrameSets, frames, pronoun_sentence, with_occupation
from tiltmeter.probes import Options, Probe, make_probes
from tiltmeter.stimuli import Group, Word, capitalise, group
from tiltmeter.stimuli.mining import mine
from tiltmeter.stimuli.sentences.sentence import Sentence

#: Which occupations are with men; the others are with women.
Men: TypeAlias = NDArray[np.bool_]
#: Probes by the name under which they are calibrated.
NamedProbes: TypeAlias = dict[str, Probe[Any]]

#: Enough to call a p-value below .05 or not.
_OPTIONS = Options(permutations=999)
#: Draws enough for an effect that is steady to the second digit; pronouns stand in one sentence only.
_CEAT = "draws=200,at-least=1"
#: How many sentences of a set are asked as pairs: every token of both versions is masked in its turn.
_PAIRS = 2


class ProbeMaker:
    """Makes probes about these occupations. The files that stimuli are read from are written into ``folder``."""

    def __init__(self, folder: Path, occupations: Iterable[str]) -> None:
        self.folder = folder
        self.occupations = tuple(occupations)
        self._files = itertools.count()
        self._templates: dict[tuple[str, ...], str] = {}
        #: Which occupation a sentence of a pair is about, whichever of its two versions it is.
        self.occupation_of = {
            sentence.version("pronoun", side).text: sentence.unit
            for sentence in self._pair_sentences(frames().masked)
            for side in (1, 2)
        }

    def of_masked(self, sets: FrameSets) -> NamedProbes:
        """Probes of masked models that need not be told which occupations are with men."""
        (cabm,) = make_probes("cabm", data=self._occupations_file(sets, _shares_of_women()), options=_OPTIONS)
        return {"unmask": self.unmask(sets), "cabm": cabm}

    def unmask(self, sets: FrameSets) -> Probe[Any]:
        data = self._occupations_file(sets, _shares_of_women())
        return make_probes("unmask", data=data, method="gap", options=_OPTIONS)[0]

    def of_masked_halves(self, sets: FrameSets, men: Men) -> NamedProbes:
        """Probes of masked models that compare the occupations with men to the others."""
        data = self._occupations_file(sets, {word: 0 if man else 100 for word, man in self._sides(men)})
        pairs = self._pairs_file(sets, men)
        return {
            "unmask-shares": make_probes("unmask", data=data, method="shares", options=_OPTIONS)[0],
            "lpbs": make_probes("lpbs", data=data, options=_OPTIONS)[0],
            "pronouns": make_probes("pronouns", data=data, options=_OPTIONS)[0],
            "pairs-nangia": make_probes("pairs", data=pairs, method="nangia", options=_OPTIONS)[0],
            "pairs-meade": make_probes("pairs", data=pairs, method="meade", options=_OPTIONS)[0],
        }

    def of_vector_halves(self, sets: FrameSets, men: Men) -> NamedProbes:
        """Probes of vectors that compare the occupations with men to the others: alone, and in sentences."""
        words: dict[str, Any] = {"targets": self._targets(men), "attributes": _marks(owners=False), "options": _OPTIONS}
        (weat,), (seat,) = (
            make_probes("weat", **words),
            make_probes("seat", templates=self._templates_of(sets), **words),
        )
        return {"weat": weat, "seat": seat}

    def ceat(self, sets: FrameSets, men: Men) -> Probe[Any]:
        """CEAT over a text of all the sentences, mined as any text is, with the whole sentence as context."""
        folder = self.folder / f"mined-{next(self._files)}"
        text = folder.with_suffix(".txt")
        plain = (with_occupation(frame, word) for word in self.occupations for frame in _flat(sets))
        marks = (
            capitalise(frame.format(word))
            for by_role in frames().marks.values()
            for role, words in by_role.items()
            for word, frame in itertools.product(words, frames().mark_frames[role])
        )
        text.write_text("\n".join([*plain, *marks]) + "\n", encoding="utf-8")
        mine([text], lexicon=[*self._targets(men), *_marks(owners=True)], out=folder, lengths=["sentence"], least=1)
        return make_probes("ceat", data=folder, method=_CEAT, options=_OPTIONS)[0]

    def ceat_halved(self, probe: Any, men: Men) -> Probe[Any]:
        """The same contexts with the occupations halved in another way."""
        first, second = probe.stimuli.targets
        spans = {**first.words, **second.words}
        with_men, with_women = (
            {word: spans[word] for word, man in self._sides(men) if man is wanted} for wanted in (True, False)
        )
        targets = dataclasses.replace(first, words=with_men), dataclasses.replace(second, words=with_women)
        halved: Probe[Any] = dataclasses.replace(probe, stimuli=dataclasses.replace(probe.stimuli, targets=targets))
        return halved

    def of_causal(self, sets: FrameSets) -> NamedProbes:
        """ClozeGender with the occupation as the context word."""
        rows = [
            {"occupation": word, "noun": word, "verb": word, "sentence": _cloze_row(frame, word)}
            for word in self.occupations
            for frame in _flat(sets)
        ]
        content = {"groups": ["men", "women"], "pronouns": ["him", "her"], "variants": {"all": "the"}, "rows": rows}
        made = make_probes("cloze", data=self._yaml_file("cloze", **content), options=_OPTIONS)
        return {"cloze": next(probe for probe in made if probe.id == "cloze-all-occupation")}

    def _sides(self, men: Men) -> list[tuple[str, bool]]:
        return list(zip(self.occupations, men.tolist(), strict=True))

    def _targets(self, men: Men) -> list[Group]:
        # Each word is a phrase as it is, because the frames have the article.
        halves = (
            [Word(w, "noun", phrase=w) for w, man in self._sides(men) if man is wanted] for wanted in (True, False)
        )
        return [
            Group(f"lab.with_{name}", f"occupations with {name}", tuple(words))
            for name, words in zip(("men", "women"), halves, strict=True)
        ]

    def _templates_of(self, sets: FrameSets) -> str:
        """The address of templates in which occupations stand in the frames, and words for a group in their own."""
        if tuple(sets) not in self._templates:
            made = [{"noun": with_occupation(frame, "{}")} for frame in _flat(sets)]
            for role, own in frames().mark_frames.items():
                for template, frame in zip(made, own, strict=False):
                    template[role] = frame
            path = self._yaml_file("templates", templates={"plain": {"templates": made}})
            self._templates[tuple(sets)] = f"{path}.plain"
        return self._templates[tuple(sets)]

    def _occupations_file(self, sets: FrameSets, shares: Mapping[str, float]) -> str:
        """The occupations, with the percentage of women in them, and the frames that they stand in."""
        words = [{"word": word, "female_share": shares[word]} for word in self.occupations]
        jobs = {"kind": "noun", "properties": ["female_share"], "words": words}
        rows = []
        for frame in _flat(sets):
            sentence = pronoun_sentence(frame.replace("{a_", "{a "), "{occupation}")
            rows.append({"text": sentence.masked("pronoun").text, "fillers": list(sentence.forms["pronoun"])})
        lexicon = self._yaml_file("lexicon", groups={"all": jobs})
        return self._yaml_file("occupations", occupations=f"{lexicon}.all", frames=rows)

    def _pairs_file(self, sets: FrameSets, men: Men) -> str:
        """A table in the form of CrowS-Pairs: the sentence that fits the halves, and the other one."""
        path, is_man = self.folder / f"pairs-{next(self._files)}.csv", dict(self._sides(men))
        with path.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(("sent_more", "sent_less", "stereo_antistereo", "bias_type"))
            for sentence in self._pair_sentences(sets):
                order = (1, 2) if is_man[sentence.unit] else (2, 1)
                versions = (sentence.version("pronoun", side).text for side in order)
                table.writerow((*versions, "stereo", "gender"))
        return str(path)

    def _pair_sentences(self, sets: FrameSets) -> list[Sentence]:
        chosen = [frame for rows in sets.values() for frame in rows[:_PAIRS]]
        return [pronoun_sentence(frame, word) for word in self.occupations for frame in chosen]

    def _yaml_file(self, name: str, **content: Any) -> str:
        path = self.folder / f"{name}-{next(self._files)}.yaml"
        path.write_text(yaml.safe_dump({"name": "lab", "language": "en", **content}), encoding="utf-8")
        return str(path)


def _flat(sets: FrameSets) -> list[str]:
    return list(itertools.chain.from_iterable(sets.values()))


def _shares_of_women() -> dict[str, float]:
    return {word.text: float(word.properties["female_share"]) for word in group("occupations.all").words}


def _marks(*, owners: bool) -> list[Group]:
    """The words that say a group, each once with its first role.

    Without ``owners`` there are as many on both sides: his is a word of its own, and her as an owner is not.
    """
    groups = []
    for name, by_role in frames().marks.items():
        roles: dict[str, str] = {}
        for role, words in by_role.items():
            for word in words if owners or role != "owner" else ():
                roles.setdefault(word, role)
        groups.append(Group(f"lab.{name}", f"{name} words", tuple(Word(*each) for each in roles.items())))
    return groups


def _cloze_row(frame: str, occupation: str) -> str:
    """The frame as a row of a cloze set, in which the variant puts the article in the place of the person.

    >>> _cloze_row("The {occupation} left, so we talked to {him}.", "nurse")
    '{person} nurse left, so we talked to {pronoun}'
    """
    row = re.sub(r"[Tt]he \{occupation\}", f"{{person}} {occupation}", frame)
    return row.replace("{him}.", "{pronoun}")
