"""Results of lm-evaluation-harness and MTEB, in the forms that they write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import environment, tiltmeter
from tiltmeter.errors import BadInput
from tiltmeter.readings.peers import load_peer_results, read_peer_results, save_peer_results

HARNESS = {
    "results": {
        "crows_pairs_english": {
            "alias": "crows_pairs_english",
            "likelihood_diff,none": 3.5,
            "likelihood_diff_stderr,none": 0.08,
            "pct_stereotype,none": 0.63,
            "pct_stereotype_stderr,none": 0.012,
        },
        "winogender_all": {"acc,none": 0.6, "acc_stderr,none": "N/A", "alias": "winogender_all"},
    },
    "versions": {"crows_pairs_english": 1.0},
    "higher_is_better": {"crows_pairs_english": {"likelihood_diff": False, "pct_stereotype": False}},
    "n-samples": {"crows_pairs_english": {"original": 1677, "effective": 1677}},
    "config": {"model": "hf", "model_args": "pretrained=gpt2,dtype=float32"},
    "lm_eval_version": "0.4.9",
}
MTEB = {
    "dataset_revision": "abc",
    "task_name": "STS12",
    "mteb_version": "1.14.0",
    "scores": {
        "test": [
            {"main_score": 0.72, "hf_subset": "default", "languages": ["eng-Latn"], "cosine_spearman": 0.72},
            {"main_score": 0.61, "hf_subset": "de", "languages": ["deu-Latn"]},
        ]
    },
}


def write(path: Path, content: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_the_harness_says_model_metric_error_number_and_which_way_is_better(tmp_path):
    difference, share, other = read_peer_results([write(tmp_path / "results.json", HARNESS)])
    assert (share.model, share.task, share.metric) == ("gpt2", "crows_pairs_english", "pct_stereotype")
    assert (share.value, share.stderr, share.n, share.better) == (0.63, 0.012, 1677, "lower is better")
    assert difference.value == 3.5
    assert (other.stderr, other.n, other.better, other.probe) == (None, None, "", "pronouns")


def test_the_form_of_earlier_versions_of_the_harness_is_read_too(tmp_path):
    old = {"results": {"crows_pairs_english": {"pct_stereotype": 0.6, "pct_stereotype_stderr": 0.01}}}
    (one,) = read_peer_results([write(tmp_path / "old.json", old | {"config": {"model": "gpt2"}})])
    assert (one.model, one.value, one.stderr) == ("gpt2", 0.6, 0.01)


@pytest.mark.parametrize("described", [True, False])
def test_mteb_says_its_main_score_by_split_and_subset(tmp_path, described):
    folder = tmp_path / "results" / "somebody__small" / "rev1"
    write(folder / "STS12.json", MTEB)
    if described:
        write(folder / "model_meta.json", {"name": "somebody/small", "revision": "rev1"})
    first, second = read_peer_results([tmp_path / "results"])
    assert (first.model, first.task, first.value) == ("somebody/small", "STS12", 0.72)
    assert (second.task, second.value, second.tool) == ("STS12 (de)", 0.61, "MTEB")
    assert first.is_of("hf:somebody/small?layer=3")
    assert not first.is_of("hf:somebody/large")


def test_a_file_that_is_imported_again_replaces_itself_alone(tmp_path):
    harness = read_peer_results([write(tmp_path / "a.json", HARNESS)])
    write(tmp_path / "m/r/STS12.json", MTEB)
    mteb = read_peer_results([tmp_path / "m"])
    for some in (harness, mteb, harness):
        save_peer_results(some, tmp_path / "out")
    assert sorted(one.file for one in load_peer_results(tmp_path / "out")) == ["STS12.json"] * 2 + ["a.json"] * 3


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ({"results": {"task": 3}}, "a.json: results"),
        ({"results": {}}, "no result of lm-evaluation-harness or MTEB was found"),
        ({"task_name": "x", "scores": []}, "a.json: scores"),
        ({"other": 1}, "no result of lm-evaluation-harness"),
        ([1], "no result of lm-evaluation-harness"),
        ({"results": {"task": {"acc,none": float("nan")}}}, "no result"),
    ],
    ids=str,
)
def test_a_file_of_another_form_is_one_line(tmp_path, content, line):
    with pytest.raises(BadInput, match=line) as caught:
        read_peer_results([write(tmp_path / "a.json", content)])
    assert "\n" not in str(caught.value)


def test_the_command_imports_and_lists(tmp_path):
    write(tmp_path / "results.json", HARNESS)
    done = tiltmeter("import", tmp_path / "results.json", "-o", tmp_path / "out", env=environment(tmp_path / "cache"))
    assert done.code == 0, done.stderr
    assert "3 results in" in done.stdout
    assert len(load_peer_results(tmp_path / "out")) == 3
