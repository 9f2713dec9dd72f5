"""What a language model cannot answer is one clear line, and what it does not know is said."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tiltmeter.errors import BadInput, ModelFailed, TiltmeterError
from tiltmeter.models.protocol import Continuation, Fill, Question, Span
from tiltmeter.models.transformers.hub import TransformerModel

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

from tests.models.tiny_language_models import CAUSAL, LIMIT, MASKED  # noqa: E402
from tiltmeter.models.transformers.checkpoints import quiet  # noqa: E402

HE = Fill("The nurse said he left.", 15, 17, ("he", "she"))


@pytest.fixture
def own(tiny_lm, tmp_path):
    """A copy of a tiny model that a test may change."""
    return lambda family: Path(shutil.copytree(tiny_lm(family)._source, tmp_path / family))


def one_line(error: pytest.ExceptionInfo[TiltmeterError]) -> bool:
    return "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("family", "method", "item", "line"),
    [
        ("bert", "fill", Fill("It is X.", 6, 7, ("ღ", "she")), "'ღ' is unknown to .*use another word"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she", "she")), "a filler is given twice"),
        ("bert", "fill", Fill("It is X.", 6, 7, ()), "empty filler"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she", " ")), "empty filler"),
        ("bert", "fill", Fill("It is X.", 6, 12, ("she",)), "6:12 is not in the sentence"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she",), hidden=((6, 8),)), "overlaps the filler's place 6:7"),
        ("bert", "fill", Fill("It is X.", 6, 7, ("she",), hidden=((3, 3),)), "is no word"),
        ("bert", "fill", Span("It is X.", 6, 7), "input 1 is .*: give Fill"),
        ("bert", "pseudo_score", "It is she.", "input 1 is .*It is she.*: give Span"),
        ("bert", "pseudo_score", Span("It is she.", 5, 6), "is no word"),
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


@pytest.mark.parametrize("family", CAUSAL)
@pytest.mark.parametrize(
    ("method", "item"), [("fill", HE), ("pseudo_score", Span("It", 0, 2)), ("unmasked_score", "It")]
)
def test_a_causal_model_has_no_masks_to_fill(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*masked.*; .* is a causal language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert set(tiny_lm(family).questions) == {Question.SPANS, Question.TOKENS, Question.CONTINUATIONS}


@pytest.mark.parametrize("family", MASKED)
@pytest.mark.parametrize(("method", "item"), [("score", "It left."), ("continue_with", Continuation("It", (" left",)))])
def test_a_masked_model_does_not_go_from_left_to_right(tiny_lm, family, method, item):
    with pytest.raises(BadInput, match=f"{method} asks for .*causal.*; .* is a masked language model") as caught:
        getattr(tiny_lm(family), method)([item])
    assert one_line(caught)
    assert {Question.FILLS, Question.PSEUDO, Question.UNMASKED} <= set(tiny_lm(family).questions)


@pytest.mark.parametrize("family", ["bert", "bert-cased", "xlm-roberta", "albert"])
def test_an_unknown_word_is_reported_by_its_characters(tiny_lm, family):
    text = "The ღ nurse said he saw ვ there."
    model = tiny_lm(family)
    (unmasked,), (masked,) = model.unmasked_score([text]), model.pseudo_score([Span(text, 0, len(text))])
    assert unmasked.unknown == masked.unknown == [(4, 5), (24, 25)]
    (inside,) = model.pseudo_score([Span(text, 17, 32)])
    assert inside.unknown == [(24, 25)]


def test_an_unknown_word_is_reported_from_left_to_right_too(tiny_lm):
    model = tiny_lm("openai-gpt")
    (found,) = model.score(["The ღ nurse said he saw ვ there."])
    assert found.unknown == [(4, 5), (24, 25)]
    stem = Continuation("The nurse ღ said that", (" he", " she slept"))
    assert model.continue_with([stem])[0].unknown == (10, 11)
    assert model.continue_with([Continuation("The nurse said that", (" he",))])[0].unknown is None


@pytest.mark.parametrize("family", ["bert", "xlm-roberta"])
@pytest.mark.parametrize("fillers", [("he", "she"), ("the engineer", "he"), ("it", "the old bridge")])
def test_an_unknown_word_beside_a_filler_is_reported_in_the_characters_of_the_item(tiny_lm, family, fillers):
    ask = tiny_lm(family).fill
    before, after = Fill("A ღ said he left.", 9, 11, fillers), Fill("A nurse said he saw ვ.", 13, 15, fillers)
    hidden = Fill("A nurse said he saw ვ.", 13, 15, fillers, hidden=((20, 21),))
    found = ask([before, after, hidden, HE])
    assert [answer.unknown for answer in found] == [(2, 3), (20, 21), None, None]


@pytest.mark.parametrize("family", ["roberta", "gpt2", "llama"])
def test_bytes_leave_nothing_unknown(tiny_lm, family):
    ask = tiny_lm(family).score if family in CAUSAL else tiny_lm(family).unmasked_score
    (found,) = ask(["The ღ nurse left."])
    assert found.unknown == []


def test_a_start_mark_is_put_before_a_text_where_it_is_asked_for_and_not_there(tiny_lm):
    folder = tiny_lm("gpt2")._source
    text = "He left early."
    plain, started = TransformerModel(folder).score([text]), TransformerModel(folder, bos="yes").score([text])
    assert started[0].ids[1:].tolist() == plain[0].ids.tolist()
    assert started[0].starts[0] == 0
    assert len(TransformerModel(folder, bos="yes").score(["The"])[0]) == 1
    llama = tiny_lm("llama")._source
    for option in ("yes", "no"):  # its tokenizer puts one there anyway, and never two
        assert TransformerModel(llama, bos=option).score([text])[0].starts[0] == 0
    ours, marked = (TransformerModel(llama, bos=option).score([text])[0].logprobs for option in ("no", "yes"))
    assert ours.tolist() == marked.tolist()


def test_a_start_mark_counts_towards_the_limit(tiny_lm):
    folder = tiny_lm("gpt2")._source
    text = "The" + " nurse" * (LIMIT - 1)
    assert len(TransformerModel(folder).score([text])[0]) == LIMIT - 1
    with pytest.raises(BadInput, match=f"{LIMIT + 1} tokens with its start mark, and .* reads {LIMIT}: shorten it"):
        TransformerModel(folder, bos="yes").score([text])


def test_a_tokenizer_without_the_marks_it_needs_is_one_line(own):
    with pytest.raises(BadInput, match="has no start mark; leave the option out"):
        TransformerModel(str(own("openai-gpt")), bos="yes").score(["He left."])
    folder = own("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    tokenizer.mask_token = None
    tokenizer.save_pretrained(folder)
    with pytest.raises(BadInput, match="has no mask token, so nothing can be masked"):
        TransformerModel(str(folder)).fill([HE])


def test_a_model_without_a_head_says_so(tmp_path):
    from tests.models import tiny_models

    folder = tiny_models.save_tiny("bert", tmp_path / "bare")
    with pytest.raises(BadInput, match=r"fill asks for .*has no language-model head"):
        TransformerModel(str(folder)).fill([HE])


@pytest.mark.parametrize("family", ["bert", "gpt2", "openai-gpt"])
def test_damaged_weights_are_an_error_and_never_a_score(own, family):
    folder = own(family)
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


def test_a_tokenizer_saved_with_cutting_and_padding_on_is_not_followed(own, tiny_lm):
    folder = own("bert")
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


def test_an_encoder_that_kept_the_settings_of_a_masked_model_gives_vectors_and_no_probabilities(own):
    folder = own("roberta")
    settings = (folder / "config.json").read_text(encoding="utf-8")
    with quiet():
        transformers.AutoModel.from_pretrained(folder).save_pretrained(folder)
    (folder / "config.json").write_text(settings, encoding="utf-8")
    model = TransformerModel(str(folder))
    assert set(model.questions) == {Question.WORDS, Question.TEXTS, Question.SPANS}
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
    mask, own = model.embed_spans([Span(ours, 15, 21), Span(theirs, 15, 21)])
    assert mask == pytest.approx(own, abs=1e-5)
    (literal,) = model.embed_texts(["The nurse said ( MASK ) left."])
    assert model.embed_texts([ours])[0] != pytest.approx(literal, abs=1e-3)
