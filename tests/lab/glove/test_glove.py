from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tiltmeter
from tests.command import environment
from tests.command import tiltmeter as command
from tiltmeter.errors import BadInput
from tiltmeter.lab.glove.glove import NEUTRAL, PARTS, RESERVED, VECTORS, load_report, train_glove
from tiltmeter.lab.reference.planted_text import planted, sentences
from tiltmeter.measures import weat

LEANS = planted(0.9)
HE, SHE = ["he", "him", "his", "man"], ["she", "her", "hers", "woman"]


def write_text(path: Path, *, n: int = 4_000, seed: int = 0) -> Path:
    path.write_text("\n".join(made.text for made in sentences(LEANS, n=n, seed=seed)) + "\n", encoding="utf-8")
    return path


def lean(spec: str) -> tuple[float, float]:
    """Effect size and raw score of occupations planted to be men's against women's, with he and she."""
    model = tiltmeter.load(spec)

    def vectors(words: list[str]) -> np.ndarray:
        return np.stack([row for row in model.embed_words(words) if row is not None])

    men, women = ([job for job, p in LEANS.items() if " " not in job and (p > 0.5) == side] for side in (True, False))
    result = weat(vectors(men), vectors(women), vectors(HE), vectors(SHE))
    return result.effect_size, result.score


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glove")
    text = write_text(folder / "text.txt")
    plain = train_glove([text], out=folder / "plain", size=30, iterations=20)
    neutral = train_glove([text], out=folder / "neutral", neutral="gender", size=30, iterations=20)
    return text, plain, neutral


def test_plain_glove_shows_the_planted_bias_the_neutral_part_does_not_and_the_reserved_part_does(trained):
    _, plain, neutral = trained
    (effect, score), (_, all_score), (_, neutral_score), (reserved, _) = map(lean, (*plain.models, *neutral.models))
    assert effect > 0.8
    assert all_score > score  # what says the group has a dimension of its own
    assert abs(neutral_score) < 0.25 * score
    assert reserved > 0.8


def test_seeds_stand_at_opposite_ends_of_the_reserved_dimension(trained):
    _, _, neutral = trained
    model = tiltmeter.load(neutral.models[2])
    for group, sign in zip(neutral.groups, (1, -1), strict=True):
        assert all(np.sign(row[0]) == sign for row in model.embed_words(list(group.words)))


def test_the_parts_of_the_vectors_are_what_they_say(trained):
    _, _, neutral = trained
    words = ["nurse", "engineer", "the"]
    whole, part, rest = (np.stack(tiltmeter.load(spec).embed_words(words)) for spec in neutral.models)
    assert whole.shape[1] == 30
    assert (np.hstack([part, rest]) == whole).all()
    assert rest.shape[1] == neutral.reserved == 1


def test_a_report_is_read_again_and_parts_are_gone(trained):
    _, _, neutral = trained
    folder = Path(neutral.folder)
    assert load_report(folder) == neutral
    assert not (folder / PARTS).exists()
    assert neutral.groups[0].name == "gender.male_terms"
    assert neutral.losses[-1] < neutral.losses[0]


def test_gensim_reads_the_vectors(trained):
    from gensim.models import KeyedVectors

    _, _, neutral = trained
    theirs = KeyedVectors.load_word2vec_format(str(Path(neutral.folder, VECTORS)), binary=True)
    (ours,) = tiltmeter.load(neutral.models[0]).embed_words(["nurse"])
    assert (theirs["nurse"] == ours).all()


def small(text: Path, out: Path, **more):
    return train_glove([text], out=out, neutral="gender", size=12, iterations=3, **more)


def contents(folder: Path) -> dict[str, bytes]:
    names = (VECTORS, NEUTRAL, RESERVED)
    return {name: (folder / name).read_bytes() for name in names}


def test_the_same_seed_gives_the_same_bytes_for_any_number_of_workers_and_another_seed_others(tmp_path):
    text = write_text(tmp_path / "text.txt", n=600)
    small(text, tmp_path / "one", shard_bytes=8_000)
    small(text, tmp_path / "two", shard_bytes=8_000, workers=2)
    small(text, tmp_path / "other", seed=1)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert contents(tmp_path / "one") != contents(tmp_path / "other")


KILLED = """
import sys
from tiltmeter.lab.glove.glove import train_glove
train_glove([sys.argv[1]], out=sys.argv[2], neutral="gender", size=12, iterations=int(sys.argv[3]), shard_bytes=8_000)
"""


def test_a_run_that_is_killed_resumes_and_ends_with_the_same_bytes(tmp_path):
    text = write_text(tmp_path / "text.txt", n=600)
    train_glove([text], out=tmp_path / "whole", neutral="gender", size=12, iterations=200, shard_bytes=8_000)
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(text), str(tmp_path / "killed"), "200"])
    state = tmp_path / "killed" / PARTS / "state.safetensors"
    deadline = time.monotonic() + 120
    while not state.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    assert state.exists()
    assert not (tmp_path / "killed" / VECTORS).exists()
    heard: list[str] = []
    train_glove(
        [text], out=tmp_path / "killed", neutral="gender", size=12, iterations=200, shard_bytes=8_000,
        announce=heard.append,
    )  # fmt: skip
    assert heard[0].startswith("resuming:")
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")


def test_other_settings_start_anew(tmp_path):
    text = write_text(tmp_path / "text.txt", n=600)
    parts = tmp_path / "out" / PARTS
    parts.mkdir(parents=True)
    (parts / "text.json").write_text(json.dumps({"window": 99}))
    heard: list[str] = []
    small(text, tmp_path / "out", announce=heard.append)
    assert heard == ["other settings or another corpus than in the interrupted run: starting over"]


def test_ray_counts_the_same(tmp_path):
    pytest.importorskip("ray")
    text = write_text(tmp_path / "text.txt", n=600)
    small(text, tmp_path / "one", shard_bytes=8_000)
    small(text, tmp_path / "ray", shard_bytes=8_000, engine="ray", workers=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "ray")


def test_six_groups_take_five_dimensions(tmp_path):
    words = ["white", "european", "black", "african", "asian", "chinese", "hispanic", "mexican", "arab", "iranian"]
    words += ["indigenous", "cherokee", "person", "works", "home"]
    rng = np.random.default_rng(0)
    lines = [" ".join(rng.choice(words, 8)) for _ in range(200)]
    (tmp_path / "text.txt").write_text("\n".join(lines), encoding="utf-8")
    report = train_glove([tmp_path / "text.txt"], out=tmp_path / "out", neutral="race", size=30, iterations=3)
    assert report.reserved == 5
    assert [len(group.words) for group in report.groups] == [2] * 6
    assert "african american" in report.groups[1].missing


@pytest.mark.parametrize(
    ("text", "options", "complaint"),
    [
        ("a cat sat\n" * 9, {"neutral": "gender"}, "no word of gender.male_terms .* occurs often enough in the corpus"),
        ("one two\n", {}, "no word occurs at least 5 times in the corpus of 2 words"),
        ("", {}, "the corpus is empty"),
        ("he she\n" * 9, {"neutral": "gender.male_terms"}, "two groups or more can be told apart, not one"),
        ("he she\n" * 9, {"neutral": "gendre"}, "unknown lexicon 'gendre'"),
        ("he she\n" * 9, {"neutral": "gender", "size": 4}, "--size 4 is too small for 2 groups"),
        ("he she\n" * 9, {"neutral": "gender.male_terms,gender.male_pronouns"}, "is in both"),
        ("he she\n" * 9, {"strength": 0.0}, "--strength is above 0"),
    ],
)  # fmt: skip
def test_bad_input_is_one_clear_line_and_nothing_is_written(tmp_path, text, options, complaint):
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=complaint):
        train_glove([tmp_path / "text.txt"], out=tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_else_is_left_alone(tmp_path):
    (tmp_path / "text.txt").write_text("he she\n" * 9, encoding="utf-8")
    with pytest.raises(BadInput, match="holds something else"):
        train_glove([tmp_path / "text.txt"], out=tmp_path)


def test_the_command_trains_and_names_the_models(tmp_path):
    text, env = write_text(tmp_path / "text.txt", n=600), environment(tmp_path / "cache")
    options = ("--neutral", "gender", "--size", "12", "--iterations", "3", "--out", tmp_path / "out")
    done = command("train", "glove", text, *options, env=env)
    assert done.code == 0, done.stderr
    assert f"static:{tmp_path}/out/neutral.bin" in done.stdout.replace("\n", "")
    wrong = command("train", "glove", text, "--out", text, env=env)
    assert wrong.complaint.endswith("is a file: name a folder")
