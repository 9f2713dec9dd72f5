from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_bangla_traits
from tiltmeter.stimuli.text import normalise

FIRST = [
    f"{structure}_{part}" for structure in ("S1", "S2", "S3") for part in ("Mask_Suffix", "Placeholder", "Trait_Suffix")
]
LAST = [f"{structure}_{part}" for structure in ("S4", "S5") for part in ("Placeholder", "Trait_Suffix", "Mask_Suffix")]
COLUMNS = ["Trait", *FIRST, *LAST]
PLAIN = dict.fromkeys(COLUMNS, "") | {
    "Trait": "সৎ",
    "S1_Mask_Suffix": "রা", "S1_Trait_Suffix": "।",
    "S2_Mask_Suffix": "রা", "S2_Placeholder": "অধিক", "S2_Trait_Suffix": "হয় ।",
    "S3_Mask_Suffix": "দের ", "S3_Placeholder": "মধ্যে বেশি ।", "S3_Trait_Suffix": "-তা",
    "S4_Placeholder": "তিনি ", "S4_Trait_Suffix": ", তাই", "S4_Mask_Suffix": " ।",
    "S5_Placeholder": "ছেলে সৎ।", "S5_Trait_Suffix": "হয়", "S5_Mask_Suffix": "রা । ",
}  # fmt: skip


def load(folder, **cells):
    for group in ("positive", "negative"):
        row = PLAIN | (cells if group == "positive" else {})
        lines = [",".join(COLUMNS), ",".join(f'"{row[column]}"' for column in COLUMNS)]
        (folder / f"{group}_traits_bn.csv").write_text("\n".join(lines), encoding="utf-8")
    return load_bangla_traits(folder)


def texts(found, structure):
    return found.where(structure=structure, group="positive").texts[0]


def test_the_published_files_give_887_sentences_and_name_the_three_blank_ones(data):
    found = load_bangla_traits(data("bangla/LogProbCalculations/data"))
    assert Counter((row.tags["group"], row.tags["structure"]) for row in found.sentences) == {
        **{("positive", structure): 109 for structure in ("S1", "S2", "S4")},
        ("positive", "S3"): 108,
        ("positive", "S5"): 107,
        **{("negative", structure): 69 for structure in ("S1", "S2", "S3", "S4", "S5")},
    }
    assert found.left_out == {"S3 is blank": 1, "S5 is blank": 2}
    assert found.notes == (
        "positive_traits_bn.csv: S3 is blank in row 79: left out",
        "positive_traits_bn.csv: S4_Mask_Suffix is a word, not an ending, in row 76: set apart",
        "positive_traits_bn.csv: S5 is blank in rows 55, 56: left out",
        "positive_traits_bn.csv: S5_Mask_Suffix is a word, not an ending, in rows 45, 53, 76, 83, 102: set apart",
        "negative_traits_bn.csv: S4_Mask_Suffix is a word, not an ending, in rows 18, 57: set apart",
        "both positive and negative, kept in both: আবেগপ্রবণ",
    )


def test_both_words_of_every_published_sentence_are_in_their_places_and_in_one_unicode_form(data):
    found = load_bangla_traits(data("bangla/LogProbCalculations/data"))
    for row in found.sentences:
        assert row.word("target") == row.forms["target"][0]
        assert row.word("trait") == row.unit
        assert normalise(row.text) == row.text
        # The composed letters য় ড় ঢ় are gone: one spelling for one word.
        assert not set("\u09df\u09dc\u09dd") & set(row.text)
    assert all(normalise(term) == term for term in found.sentences[0].forms["target"])


def test_each_structure_has_the_order_of_the_study(tmp_path):
    found = load(tmp_path)
    assert texts(found, "S1") == "ছেলেরা সৎ।"
    assert texts(found, "S2") == normalise("ছেলেরা অধিক সৎ হয়।")
    assert texts(found, "S3") == "সৎতা ছেলেদের মধ্যে বেশি।"
    assert texts(found, "S4") == "তিনি সৎ, তাই ছেলে।"
    assert texts(found, "S5") == normalise("ছেলে সৎ। সৎ হয় ছেলেরা।")
    assert (found.language, found.groups) == ("bn", ("men", "women"))


def test_the_same_words_in_the_context_are_not_taken_for_the_places(tmp_path):
    row = load(tmp_path).where(structure="S5").sentences[0]
    assert row.slots["trait"][0] == row.text.index("সৎ", row.text.index("।"))
    assert row.slots["target"][0] == row.text.rindex("ছেলে")


@pytest.mark.parametrize(
    ("suffix", "expected"),
    [("দেরই ।", "ছেলেদেরই।"), ("কে ।", "ছেলেকে।"), (" রা ।", "ছেলেরা।"), ("রাগী ।", "ছেলে রাগী।"), ("", "ছেলে")],
)
def test_an_ending_is_joined_and_a_word_set_apart(tmp_path, suffix, expected):
    assert texts(load(tmp_path, S4_Mask_Suffix=suffix), "S4").endswith(f" {expected}")


def test_composed_and_decomposed_letters_become_one_form(tmp_path):
    composed = load(tmp_path, Trait="সক্রি\u09df").sentences
    assert composed == load(tmp_path, Trait="সক্রি\u09af\u09bc").sentences
    assert composed[0].unit == "সক্রি\u09af\u09bc"


def test_a_blank_trait_a_missing_column_or_file_is_named(tmp_path):
    with pytest.raises(BadInput, match=r"positive_traits_bn\.csv: column 'Trait' is blank in row 2"):
        load(tmp_path, Trait=" ")
    load(tmp_path)
    (tmp_path / "negative_traits_bn.csv").write_text("Trait\nসৎ\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"negative_traits_bn\.csv: no column 'S1_Mask_Suffix'; found: Trait"):
        load_bangla_traits(tmp_path)
    (tmp_path / "negative_traits_bn.csv").unlink()
    with pytest.raises(BadInput, match=r"no file .*negative_traits_bn\.csv"):
        load_bangla_traits(tmp_path)


_TEXT = st.text("কখগ -।,", max_size=8)


@given(st.text("কখগসৎ", min_size=1, max_size=5), _TEXT, _TEXT, _TEXT)
def test_the_places_hold_the_words_whatever_the_cells_are(tmp_path_factory, trait, context, after, ending):
    cells = {
        f"S{number}_{part}": text
        for number in range(1, 6)
        for part, text in (("Placeholder", context), ("Trait_Suffix", after), ("Mask_Suffix", ending))
    }
    found = load(tmp_path_factory.mktemp("bangla"), Trait=trait, **cells)
    for row in found.sentences:
        assert row.word("target") == "ছেলে"
        assert row.word("trait") == row.unit
