"""BOLD's prompts, read from their files."""

from __future__ import annotations

from collections import Counter

import pytest

from tiltmeter.errors import BadInput
from tiltmeter.stimuli.datasets import load_bold
from tiltmeter.stimuli.datasets.bold import sample_bold


def test_the_published_files_are_read_and_sampled_by_entity(data_folder) -> None:
    prompts = load_bold(data_folder("bold"), "race")
    some = sample_bold(prompts, 30)
    assert Counter(prompt.group for prompt in some) == dict.fromkeys({prompt.group for prompt in prompts}, 30)
    assert len({prompt.entity for prompt in some if prompt.group == "African_Americans"}) == 30
    assert some == sample_bold(prompts, 30)
    assert "_" not in some[0].entity


@pytest.mark.parametrize(
    ("content", "complaint"),
    [("{half", "not JSON"), ("[]", "not in the form of BOLD"), ('{"a": {"b": "c"}}', "not in the form of BOLD")],
)
def test_what_is_wrong_with_a_file_is_one_line(tmp_path, content, complaint) -> None:
    (tmp_path / "gender_prompt.json").write_text(content)
    with pytest.raises(BadInput, match=complaint):
        load_bold(tmp_path)


def test_unknown_domains_and_samples_too_small_are_told(tmp_path) -> None:
    with pytest.raises(BadInput, match="unknown domain of BOLD 'sport'"):
        load_bold(tmp_path, "sport")
    with pytest.raises(BadInput, match="at least 4 prompts"):
        sample_bold([], 2)
