"""Plain sentences about two words, one of which is looked for beside the other: X is Y."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.lexicon.lexicon import Group
from tiltmeter.stimuli.sentences.sentence import SentenceSet, fill_frame

#: Sentences into which any two words fit, by language: Kurita et al. (2019) use the first.
FRAMES: Mapping[str, tuple[str, ...]] = {
    "en": ("{target} is {attribute}.", "{target} means {attribute}."),
    "bn": ("{target} হলো {attribute}।", "{target} মানে {attribute}।"),
}
_SLOTS = ("target", "attribute")


def target_frames(
    targets: Sequence[Group], attributes: Sequence[Group], frames: Sequence[str] | None = None
) -> SentenceSet:
    """Every attribute word in every frame; the forms of the slot "target" are the words of both targets.

    The unit of a sentence is its attribute word, the tag ``group`` the label of the attribute's group.

    >>> men, women = Group.of("men", ["he", "man"]), Group.of("women", ["she"])
    >>> good, bad = Group.of("good", ["joy"]), Group.of("bad", ["war", "mud"])
    >>> made = target_frames([men, women], [good, bad], ["{target} is {attribute}."])
    >>> [sentence.text for sentence in made.sentences], made.sentences[0].forms["target"]
    (['he is joy.', 'he is war.', 'he is mud.'], ('he', 'man', 'she'))
    """
    language = targets[0].language
    chosen = FRAMES.get(language, FRAMES["en"]) if frames is None else frames
    for frame in chosen:
        if not isinstance(frame, str) or any(frame.count(f"{{{slot}}}") != 1 for slot in _SLOTS):
            raise BadInput(f"a template of lpbs holds {{target}} and {{attribute}} once each, and {frame!r} does not")
    terms = (*targets[0].texts, *targets[1].texts)
    sentences = tuple(
        fill_frame(
            frame,
            {"target": terms[0], "attribute": word},
            unit=word,
            forms={"target": terms},
            tags={"group": group.label, "structure": str(number)} if len(chosen) > 1 else {"group": group.label},
            capital=False,
        )
        for group in attributes
        for word in group.texts
        for number, frame in enumerate(chosen, 1)
    )
    labels = targets[0].label, targets[1].label
    return SentenceSet("words", sentences, groups=labels, dimension=targets[0].dimension, language=language)
