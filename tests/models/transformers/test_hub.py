"""Which questions a checkpoint answers, and what it says to the others."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from importlib.metadata import version

import numpy as np
import pytest

from tiltmeter import load, probe
from tiltmeter.errors import BadInput, ModelFailed
from tiltmeter.models import CachedModel, VectorStore
from tiltmeter.models.protocol import Continuation, Fill, Question, Span
from tiltmeter.models.transformers import encoder
from tiltmeter.models.transformers.hub import TransformerModel
from tiltmeter.models.transformers.weights.checkpoints import quiet
from tiltmeter.stimuli import Group

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    LIMIT,
    MASKED,
)
from tests.models.transformers.plain_passes import (  # noqa: E402
    CONTINUATIONS,
    FILLS,
    HE,
    SPANS,
    TEXTS,
    assert_close,
    flat,
    one_line,
)

QUESTIONS = [
    *(("score", family, TEXTS) for family in CAUSAL),
    *(("continue_with", family, CONTINUATIONS) for family in CAUSAL),
    *(("pseudo_score", family, SPANS) for family in MASKED),
    *(("unmasked_score", family, TEXTS) for family in MASKED),
    *(("fill", family, FILLS) for family in MASKED),
]


@pytest.mark.parametrize(("method", "family", "items"), QUESTIONS)
def test_neither_company_nor_order_nor_duplicates_change_a_score(tiny_lm, method, family, items):
    ask = getattr(tiny_lm(family), method)
    alone = [flat(ask([item]))[0] for item in items]
    assert_close(ask(items), alone)
    assert_close(ask([*items[::-1], *items, items[0]]), [*alone[::-1], *alone, alone[0]])


@pytest.mark.parametrize(
    ("method", "family", "items"), [q for q in QUESTIONS if q[1] in ("bert", "gpt2", "openai-gpt")]
)
def test_a_run_that_resumes_after_a_kill_gives_the_very_same_numbers(tiny_lm, method, family, items):
    question = {"score": Question.TOKENS, "continue_with": Question.CONTINUATIONS, "fill": Question.FILLS}.get(
        method, Question.PSEUDO if method == "pseudo_score" else Question.UNMASKED
    )
    more = [*items * 3, *items]
    stream = tiny_lm(family)._language.stream
    batches = list(stream(question, more))
    whole = {at: answer for positions, answers in batches for at, answer in zip(positions, answers, strict=True)}
    for done in range(1, len(batches)):
        known = {at for positions, _ in batches[:done] for at in positions}
        rest = list(stream(question, more, known=known))
        found = dict(itertools.chain(*(zip(positions, answers, strict=True) for positions, answers in rest)))
        assert found.keys() == whole.keys() - known
        for at, answer in found.items():
            np.testing.assert_array_equal(answer.logprobs, whole[at].logprobs)


@pytest.mark.parametrize(
    ("family", "method", "item", "line"),
    [
        ("bert", "fill", Fill("It is X.", 6, 7, ("ღ", "she")), "'ღ' is unknown to .*use another word"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she", "she")), "a filler is given twice"),
        ("bert", "fill", Fill("It is X.", 6, 7, ()), "empty filler"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she", " ")), "empty filler"),
        ("bert", "fill", Fill("It is X.", 6, 12, ("she",)), "6:12 is not in the sentence"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she",), hidden=((6, 8),)), "overlaps the filler's place 6:7"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she",), hidden=((3, 3),)), "is not a word"),
        ("bert", "fill", Span("It is X.", 6, 7), "input 1 is .*: give Fill"),
        ("bert", "pseudo_score", "It is she.", "input 1 is .*It is she.*: give Span"),
        ("bert", "pseudo_score", Span("It is she.", 5, 6), "is not a word"),
        ("bert", "unmasked_score", "", "holds nothing that .* can read: leave it out"),
        ("bert", "unmasked_score", "nurse " * 95, f"has 97 tokens, and .* reads {LIMIT}: shorten it"),
        ("bert", "pseudo_score", Span("nurse " * 95, 0, 5), f"has 97 tokens, and .* reads {LIMIT}: shorten it"),
        ("gpt2", "score", "", "holds nothing that .* can read: leave it out"),
        ("gpt2", "score", None, "input 1 is 'None': give str"),
        ("gpt2", "score", " nurse", "is one token to .* with nothing before it: add bos=yes"),
        ("gpt2", "score", " nurse" * 97, f"has 97 tokens, and .* reads {LIMIT}: shorten it"),
        ("gpt2", "continue_with", Continuation("The nurse", ()), "an empty ending cannot be scored"),
        ("gpt2", "continue_with", Continuation("The nurse", (" he", "")), "an empty ending cannot be scored"),
        ("gpt2", "continue_with", Continuation("", (" he", " she")), "holds nothing that .* can read"),
        ("gpt2", "continue_with", Continuation(" nurse" * 95, (" he and she",)), "tokens, and .* reads"),
        ("openai-gpt", "continue_with", Continuation("It is", (" ღ",)), "'ღ' is unknown to .*use another word"),
    ],
)
def test_an_input_that_cannot_be_scored_is_one_line_that_says_why(tiny_lm, family, method, item, line):
    good = {"fill": HE, "pseudo_score": Span("It left.", 0, 8), "continue_with": Continuation("It is", (" he",))}
    with pytest.raises(BadInput, match=line) as caught:
        getattr(tiny_lm(family), method)([good.get(method, "It left."), item])
    assert one_line(caught)


def test_a_tokenizer_without_the_marks_it_needs_is_one_line(lm_copy):
    with pytest.raises(BadInput, match="has no start mark; leave the option out"):
        TransformerModel(str(lm_copy("openai-gpt")), bos="yes").score(["He left."])
    folder = lm_copy("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(BadInput, match="has no mask token, so nothing can be masked"):
        TransformerModel(str(folder)).fill([HE])


@pytest.mark.parametrize("family", ["bert", "gpt2", "openai-gpt"])
def test_damaged_weights_are_an_error_and_never_a_score(lm_copy, family):
    folder = lm_copy(family)
    kind = transformers.AutoModelForCausalLM if family in CAUSAL else transformers.AutoModelForMaskedLM
    with quiet():
        model = kind.from_pretrained(folder)
        for name, parameter in model.named_parameters():
            if "1." in name and "weight" in name:
                torch.nn.init.constant_(parameter, float("nan"))
        model.save_pretrained(folder)
    broken = TransformerModel(str(folder))
    ask = broken.fill if family == "bert" else broken.continue_with
    item = HE if family == "bert" else Continuation("The nurse", (" left", " said that"))
    with pytest.raises(ModelFailed, match="with NaN or infinity: its weights are damaged") as caught:
        ask([item])
    assert one_line(caught)


def test_a_tokenizer_saved_with_cutting_and_padding_on_is_not_followed(lm_copy, tiny_lm):
    folder = lm_copy("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.backend_tokenizer.enable_truncation(5)
    tokenizer.backend_tokenizer.enable_padding(length=40)
    tokenizer.save_pretrained(folder)
    text = "The nurse said that he left."
    found, expected = (
        model.pseudo_score([Span(text, 0, len(text))])[0].logprobs
        for model in (TransformerModel(str(folder)), tiny_lm("bert"))
    )
    assert found.tolist() == expected.tolist()


def test_nothing_asked_is_nothing_answered(tiny_lm):
    assert tiny_lm("bert").fill([]) == []
    assert tiny_lm("gpt2").continue_with([]) == []


from tests.models.tiny_language_models import (  # noqa: E402
    CAUSAL,
    MASKED,
)


@pytest.mark.parametrize("family", CAUSAL)
@pytest.mark.parametrize(
    ("method", "item"), [("fill", HE), ("pseudo_score", Span("It", 0, 2)), ("unmasked_score", "It")]
)
def test_a_causal_model_has_no_masks_to_fill(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*masked.*; .* is a causal language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert set(tiny_lm(family).questions) == {
        Question.SPANS,
        Question.REACH,
        Question.TOKENS,
        Question.CONTINUATIONS,
        Question.GENERATE,
    }


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize(("method", "item"), [("score", "It left."), ("continue_with", Continuation("It", (" left",)))])
def test_a_masked_model_does_not_go_from_left_to_right(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*causal.*; .* is a masked language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert {Question.FILLS, Question.PSEUDO, Question.UNMASKED} <= set(tiny_lm(family).questions)


def test_a_model_without_a_head_says_so(tmp_path):
    from tests.models import tiny_models

    folder = tiny_models.save_tiny("bert", tmp_path / "bare")
    with pytest.raises(BadInput, match=r"fill asks for .*has no language-model head"):
        TransformerModel(str(folder)).fill([HE])


def test_an_encoder_that_kept_the_settings_of_a_masked_model_gives_vectors_and_no_probabilities(lm_copy):
    folder = lm_copy("roberta")
    settings = (folder / "config.json").read_text(encoding="utf-8")
    with quiet():
        transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    (folder / "config.json").write_text(settings, encoding="utf-8")
    model = TransformerModel(str(folder))
    assert set(model.questions) == {Question.WORDS, Question.TEXTS, Question.SPANS, Question.REACH}
    assert model.embed_texts(["The nurse left."]).shape[0] == 1
    with pytest.raises(BadInput, match="has no language-model head") as error:
        model.fill([HE])
    assert one_line(error)


def test_a_stem_and_its_endings_can_be_given_as_they_are(tiny_lm):
    model = tiny_lm("gpt2")
    (filled,) = model.continue_with([Continuation("The nurse said", (" he", " she"))])
    assert model.continue_with("The nurse said", [" he", " she"]) == list(filled.logprobs)


def test_a_masked_sentence_is_embedded_with_the_models_own_mask(tiny_lm):
    model = tiny_lm("roberta")
    assert model._language.tokenizer.mask_token == "<mask>"
    ours, theirs = "The nurse said [MASK] left.", "The nurse said <mask> left."
    one, two = model.embed_spans([Span(ours, 22, 26), Span(theirs, 22, 26)])
    assert ours[22:26] == theirs[22:26] == "left"
    assert one == pytest.approx(two, abs=1e-5)
    ours_masked, theirs_masked = model.embed_spans([Span(ours, 15, 21), Span(theirs, 15, 21)])
    assert ours_masked == pytest.approx(theirs_masked, abs=1e-5)
    (literal,) = model.embed_texts(["The nurse said ( MASK ) left."])
    assert model.embed_texts([ours])[0] != pytest.approx(literal, abs=1e-3)


def test_another_version_of_transformers_is_asked_anew_and_named(lm_copy, tmp_path, monkeypatch):
    spec, store = f"hf:{lm_copy('bert')}", VectorStore(tmp_path / "cache")
    occupations = Group.of("mine.jobs", ["nurse", "doctor", "chef", "clerk"])

    def asked() -> tuple[int, Mapping[str, str]]:
        model = CachedModel(load(spec), store)
        model.answers(Question.TEXTS, ["The nurse left."])
        reading = probe("mac", load(spec), targets=[occupations], cache=False)
        return model.asked, reading.provenance.versions

    first, again = asked(), asked()
    assert (first[0], again[0]) == (1, 0)
    assert first[1]["transformers"] == version("transformers")
    assert first[1]["torch"] == version("torch")
    monkeypatch.setattr(encoder, "installed", lambda *_: {"transformers": "4.57.6", "torch": "2.6.0"})
    other = asked()
    assert other[0] == 1
    assert other[1]["transformers"] == "4.57.6"
