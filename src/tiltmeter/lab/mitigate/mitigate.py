"""Measure, mitigate, measure again: every method on one model, with the gain, what is only hidden, and the price."""

from __future__ import annotations

import dataclasses
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tiltmeter.compare import Side, compare
from tiltmeter.errors import BadInput, TiltmeterError, without_passwords
from tiltmeter.files import at_home
from tiltmeter.lab.inject.fine_tuning import Dosage
from tiltmeter.lab.mitigate.augmentation import USUAL, held_out_texts, read_texts
from tiltmeter.lab.mitigate.debias import TEMPLATES, VOCABULARY, debias, find_method, kind_of
from tiltmeter.lab.mitigate.fit_words import (
    USUAL_PAIRS,
    HeldOut,
    WordSets,
    halves,
    held_out_probe,
    probe_words,
    word_sets,
    words_with_group,
)
from tiltmeter.lab.mitigate.methods import Needs
from tiltmeter.lab.mitigate.traces import Groups, leaning_occupations, leaning_words, look_for_groups, told_sentences
from tiltmeter.lab.mitigate.utility import language_utility, mean_kept, texts_utility, words_utility
from tiltmeter.lab.mitigate.word_forms import WordForms
from tiltmeter.models import CachedModel, VectorStore, load
from tiltmeter.models.debiased import SELF_DEBIAS
from tiltmeter.probes.kind import Probe
from tiltmeter.readings import Audit
from tiltmeter.readings.mitigation import AnotherSplit, MethodOutcome, Mitigation, Moved, Remainder, TraceTest, Utility
from tiltmeter.readings.scale import ALPHA
from tiltmeter.run.audit import audit
from tiltmeter.run.probe import stored
from tiltmeter.run.suite import Suite, load_suite
from tiltmeter.statistics import Interval, holm
from tiltmeter.statistics.groups import Floats
from tiltmeter.statistics.permutation import generator
from tiltmeter.stimuli import Pairs, comparable
from tiltmeter.stimuli.sentences.sentence import fill_frame
from tiltmeter.stimuli.sentences.shipped import read_shipped

_DRAWS = 2_000
#: Of the command line, where nobody gives another number.
_PERMUTATIONS = 10_000


def mitigate(
    model: str,
    methods: Sequence[str],
    *,
    out: str | Path,
    suite: str | Path | Suite = "default",
    pairs: str | Pairs | Sequence[Sequence[str]] = USUAL_PAIRS,
    texts: Sequence[str] | Path | None = None,
    templates: str = TEMPLATES,
    vocabulary: int = VOCABULARY,
    rank: int | None = None,
    alpha: float | None = None,
    seed: int = 0,
    permutations: int | None = None,
    cache: bool | VectorStore = True,
    budget: Any = None,
    corpus: Sequence[str] | Path | None = None,
    dosage: Dosage | None = None,
    splits: int = 1,
    say: Callable[[str], None] = lambda _: None,
) -> Mitigation:
    """Audit a model, apply each method, audit again, and say which one to take.

    The pairs are split by the seed: methods are fitted on one half, and what they leave is looked for along the other.
    A probe that uses words of the first half is also measured without them, and that is what counts.

    Args:
        model: a spec, or an object of your own.
        methods: their names.
        out: a folder for the audits, the models and the result.
        suite: what is measured, by name, as a file or an object.
        pairs: words that differ in the group alone.
        texts: what must still be found alike, for a model of texts, or a file of it; by default sentences that ship.
        templates: sentences in which the pairs stand while a method is fitted, for a model of texts.
        vocabulary: how many words of a file are looked at.
        rank: directions to remove, where a method has a choice.
        alpha: the penalty of hsr; the decay of self_debias.
        seed: of the split and of every random draw.
        permutations: draws of a permutation test that is too large to count.
        cache: whether answers are stored, or where.
        budget: the most to spend at a paid API.
        corpus: texts to teach a language model (cda, dropout), or a file of them; for neutral_glove the file that the
            vectors were trained on.
        dosage: how it is taught.
        splits: in how many ways the words are split, by this seed and the next ones; what came of it with the first
            is shown whole, and the others say whether it depends on the split.
        say: called with what is being done.
    """
    started, folder = time.monotonic(), at_home(out)
    options_given = {
        "texts": (texts, None),
        "templates": (templates, TEMPLATES),
        "corpus": (corpus, None),
        "rank": (rank, None),
        "alpha": (alpha, None),
        "vocabulary": (vocabulary, VOCABULARY),
        "permutations": (permutations, _PERMUTATIONS),
        "seed": (seed, None),
        "splits": (splits, 1),
    }
    if not methods or len(set(methods)) < len(methods):
        raise BadInput("name at least one method, each once, e.g. hard,inlp,leace")
    if splits < 1:
        raise BadInput(f"the words are split at least once, not {splits} times")
    chosen = [find_method(name) for name in methods]
    sets = word_sets(pairs)
    fit, test = halves(sets, seed=seed)
    # What is held out of the text is what it is asked about afterwards.
    dosage = dosage and dataclasses.replace(dosage, seed=seed)
    alike = read_texts(texts) if isinstance(texts, Path) else texts
    loaded = load(model, budget=budget)
    measured = suite if isinstance(suite, Suite) else load_suite(suite)
    with stored(cache) as store:
        asked = CachedModel(loaded, store)
        # Says now which one the model cannot take.
        kinds = {kind_of(asked, method) for method in chosen}
        if len(kinds) > 1:
            raise BadInput("methods for vectors and for language models are measured apart: run the command twice")
        (kind,) = kinds
        lines = read_texts(corpus) if kind == "language" else []
        if taught := [name for name in methods if kind == "language" and name != SELF_DEBIAS and not lines]:
            raise BadInput(f"{taught[0]} fine-tunes a language model: give a text with --corpus")
        more = _held_out(measured, fit)
        extended = dataclasses.replace(measured, probes=(*measured.probes, *more))
        held_out = frozenset(probe.id for probe in more)
        plan = _Plan(sets, fit, test, extended, held_out, kind, vocabulary, seed, lines, alike)
        options: dict[str, Any] = {
            "cache": store or False,
            "permutations": permutations,
            "budget": budget,
            "seed": seed,
        }
        groups = plan.groups(asked)
        # What RAN moves: one by one, so that it could do nothing for words that it leaves out.
        moves = [*plan.measured, *(groups.inputs if isinstance(groups, Groups) else ())]
        outcomes, models_after = list[MethodOutcome](), dict[str, Any]()
        for method in chosen:
            say(f"fitting {method.name}")
            place = folder / "models" / method.name
            is_taught = kind == "language" and method.name != SELF_DEBIAS
            spec = f"hf:{place / 'model'}" if is_taught else f"debiased:{place}"
            about = MethodOutcome(method.name, method.summary, method.citation, spec)
            try:
                models_after[method.name] = debias(
                    method.name,
                    model,
                    out=place,
                    pairs=fit,
                    keep=words_with_group(sets),
                    words=moves if kind == "words" else None,
                    templates=templates,
                    rank=rank,
                    alpha=alpha,
                    vocabulary=vocabulary,
                    hold_out=plan.hold_out,
                    seed=seed,
                    cache=store or False,
                    budget=budget,
                    corpus=lines or corpus,
                    dosage=dosage,
                )
            except TiltmeterError as error:
                about = dataclasses.replace(about, problem=str(error))
            outcomes.append(about)
        _some_applied(outcomes)
        say(f"measuring {asked.identity.name} as it is")
        before = audit([loaded], suite=plan.suite, out=folder / "before", announce=say, **options)
        unchanged = _Unchanged(asked, before, groups, None if isinstance(groups, str) else groups.vectors(asked))
        for number, about in enumerate(outcomes):
            if about.problem:
                continue
            say(f"measuring {asked.identity.name} after {about.method}")
            changed, place = models_after[about.method], folder / "after" / about.method
            try:
                after = audit([changed], suite=plan.suite, out=place, announce=say, **options)
                outcomes[number] = plan.outcome(about, unchanged, after, CachedModel(changed, store))
            except TiltmeterError as error:
                outcomes[number] = dataclasses.replace(about, problem=str(error))
    _some_applied(outcomes)
    result = Mitigation(
        model=before.models[0],
        revision=before.readings[0].provenance.model.revision,
        suite=measured.name,
        dimension=sets.dimension,
        fit=fit.sets,
        test=test.sets,
        seed=seed,
        outcomes=tuple(outcomes),
        seconds=round(time.monotonic() - started, 1),
        command=_command(model, methods, suite, pairs, options_given, dosage),
    )
    result.save(folder)
    others = list[AnotherSplit]()
    for other in range(seed + 1, seed + splits):
        say(f"once more, with the words split by seed {other}")
        again = mitigate(
            model,
            [each.method for each in outcomes if not each.problem],
            out=folder / "splits" / str(other),
            suite=suite,
            pairs=pairs,
            texts=texts,
            templates=templates,
            vocabulary=vocabulary,
            rank=rank,
            alpha=alpha,
            seed=other,
            permutations=permutations,
            cache=cache,
            budget=budget,
            corpus=corpus,
            dosage=dosage,
            say=say,
        )
        others += (AnotherSplit.of(each, seed=other) for each in again.outcomes)
        seconds = round(time.monotonic() - started, 1)
        result = dataclasses.replace(result, others=tuple(others), seconds=seconds)
        result.save(folder)
    return result


def _some_applied(outcomes: Sequence[MethodOutcome]) -> None:
    """Before the model is measured, so that nothing is written where no method can be applied; and at the end."""
    if all(outcome.problem for outcome in outcomes):
        raise BadInput(f"no method could be applied: {outcomes[0].method}: {outcomes[0].problem}")


def _held_out(suite: Suite, fit: WordSets) -> list[Probe[Any]]:
    """Each probe of the suite that uses fitting words, without them."""
    more = (held_out_probe(probe, fit.words) for probe in suite.probes)
    return [probe for probe in more if probe is not None]


def _command(
    model: Any, methods: Sequence[str], suite: Any, pairs: Any, options: Mapping[str, Any], dosage: Dosage | None
) -> str:
    """The shell command that makes the result again; none where something was an object of Python.

    ``options`` are those of the command line with what they are where nobody gives them.
    """
    given = {name: value for name, (value, usual) in options.items() if value is not None and value != usual}
    steps = (dosage or USUAL).steps
    own_dosage = dosage is not None and dataclasses.replace(dosage, seed=USUAL.seed, steps=USUAL.steps) != USUAL
    if own_dosage or not isinstance(model, str) or isinstance(suite, Suite) or isinstance(pairs, Pairs):
        return ""
    words = ["tiltmeter", "mitigate", without_passwords(model), "--method", ",".join(methods), "--suite", str(suite)]
    if not isinstance(pairs, str):
        pairs = ",".join("/".join(members) for members in pairs)
    given |= {"pairs": pairs} if pairs != USUAL_PAIRS else {}
    given |= {"steps": steps} if steps != USUAL.steps else {}
    for name, value in given.items():
        if not isinstance(value, str | int | float | Path):
            return ""
        words += [f"--{name}", str(value)]
    return shlex.join(words)


class _Unchanged(NamedTuple):
    """The model as it is: its audit, and the groups that are looked for, with their vectors, or why there are none."""

    model: CachedModel
    audit: Audit
    groups: Groups | str
    vectors: Floats | None


@dataclasses.dataclass(frozen=True, slots=True)
class _Plan:
    """What is fitted on, what is measured, and what must not be seen before."""

    sets: WordSets
    fit: WordSets
    test: WordSets
    suite: Suite
    #: Probes of the suite that were made by leaving out the words that methods are fitted on.
    held_out: frozenset[str]
    kind: Needs
    vocabulary: int
    seed: int
    #: What a language model is taught, and what a model of texts must still find alike (None: sentences that ship).
    lines: Sequence[str]
    texts: Sequence[str] | None

    @property
    def measured(self) -> list[str]:
        """Words that the suite measures, but for those that say a group."""
        known = set(map(comparable, words_with_group(self.sets)))
        return sorted(word for word in probe_words(self.suite.probes) if word not in known)

    @property
    def hold_out(self) -> HeldOut:
        """Every word that is measured or tested, and half of the vocabulary; but not what methods are fitted on."""
        tested = probe_words(self.suite.probes) | set(map(comparable, self.test.words))
        return HeldOut(tested - set(map(comparable, self.fit.words)), self.seed)

    def groups(self, model: CachedModel) -> Groups | str:
        """Words or sentences of the two groups to look for afterwards, or why there are none."""
        if len(self.sets.groups) != 2:
            return "what is hidden is looked for between two groups, and there are more"
        # Words that say a group are meant to be found.
        not_these = WordForms([*self.fit.words, *words_with_group(self.sets)])
        try:
            if self.kind == "language":
                return leaning_occupations(model, self.sets)
            if self.kind == "texts":
                return told_sentences(self.test)
            options: dict[str, Any] = {"vocabulary": self.vocabulary, "seed": self.seed}
            return leaning_words(model, self.fit, not_these=not_these, **options)
        except BadInput as error:
            return f"what is hidden was not looked for: {error}"

    def outcome(self, about: MethodOutcome, before: _Unchanged, after: Audit, changed: CachedModel) -> MethodOutcome:
        """What a method gained, what it only hid, and its price."""
        moved, groups = self.moved(before.audit, after), before.groups
        traces: list[TraceTest] = []
        if not isinstance(groups, str) and before.vectors is not None:
            traces = look_for_groups(groups, before.vectors, groups.vectors(changed), seed=self.seed)
        utility, left = self.utility(before.model, changed)
        return dataclasses.replace(
            about,
            moved=tuple(moved),
            traces=tuple(traces),
            utility=tuple(utility),
            bias_left=bias_left(moved, seed=self.seed),
            utility_kept=mean_kept(utility),
            left_out=(*left, *([groups] if isinstance(groups, str) else [])),
        )

    def utility(self, before: CachedModel, after: CachedModel) -> tuple[list[Utility], list[str]]:
        """How much of what the model is good for is kept, and what could not be looked at."""
        if self.kind == "words":
            return words_utility(before, after, vocabulary=self.vocabulary, seed=self.seed)
        if self.kind == "texts":
            chosen = shipped_texts() if self.texts is None else self.texts
            return texts_utility(before, after, list(dict.fromkeys(chosen)), seed=self.seed), []
        return language_utility(before, after, _unseen(self.lines, self.seed), seed=self.seed), []

    def moved(self, before: Audit, after: Audit) -> list[Moved]:
        """Every reading before and after, paired, those that decide first."""
        sides = [Side(name, name, each.models, each.readings) for name, each in (("before", before), ("after", after))]
        (pair,) = compare(sides).pairs
        probes = {probe.id: probe for probe in self.suite.probes}
        # Not whether the two differ: an effect that is as far on the other side of level is not a gain.
        p_values = holm([each.change.p_value(each.growth) for each in pair.differences]).tolist()
        matters = {reading.id: reading.effect.scale.matters or 0.0 for reading in after.readings}
        rows = []
        for difference, p_holm in zip(pair.differences, p_values, strict=True):
            probe = probes[difference.id]
            seen = self._fitted(probe)
            rows.append(
                Moved(
                    id=difference.id,
                    title=difference.title,
                    dimension=probe.dimension,
                    statistic=difference.statistic,
                    level=difference.level,
                    before=difference.first,
                    after=difference.second,
                    difference=difference.difference,
                    ci=difference.ci,
                    p_holm=p_holm,
                    growth=difference.growth,
                    real=p_holm <= ALPHA and abs(difference.growth) >= matters[difference.id],
                    held_out=probe.id in self.held_out,
                    fit_words=seen,
                    decides=not seen and not probe.control and probe.dimension == self.sets.dimension,
                )
            )
        return sorted(rows, key=lambda row: not row.decides)

    def _fitted(self, probe: Probe[Any]) -> int:
        """On how many words of a probe methods are fitted, or on a form of them."""
        seen = WordForms(self.fit.words)
        return sum(word in seen for word in probe_words([probe]))


def bias_left(moved: Sequence[Moved], *, seed: int) -> Remainder | None:
    """How far from level the deciding readings are, as a share of how far they were.

    The sum of the distances after over that before. Its interval draws each difference anew from its own interval.
    """
    deciding = [row for row in moved if row.decides]
    before = sum(abs(row.before - row.level) for row in deciding)
    if not deciding or before <= 0:
        return None
    after = np.array([row.after - row.level for row in deciding])
    errors = np.array([(row.ci.high - row.ci.low) / (2 * 1.96) for row in deciding])
    drawn = after + errors * generator(seed, "draw").normal(size=(_DRAWS, len(deciding)))
    low, high = np.quantile(np.abs(drawn).sum(axis=1) / before, [0.025, 0.975])
    return Remainder(
        float(np.abs(after).sum() / before), Interval(float(low), float(high), 0.95, "drawn from intervals")
    )


def _unseen(corpus: Sequence[str], seed: int) -> dict[str, list[str]]:
    """Texts that no method has learned from: those held out of the user's, and sentences that ship."""
    own = {"held-out text": held_out_texts(corpus, seed=seed)[1]} if corpus else {}
    return {**own, "sentences about work": shipped_texts()}


def shipped_texts() -> list[str]:
    """Sentences about work that say nobody's group.

    >>> shipped_texts()[0]
    'The engineer confirmed that the bridge was designed by somebody.'
    """
    file = read_shipped("cloze", "cloze_en")
    person = file.variants["all"]
    return [fill_frame(f"{row.frame(person)}.", {"pronoun": "somebody"}).text for row in file.rows]
