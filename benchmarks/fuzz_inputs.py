"""The kinds of inputs that benchmarks/fuzz.py makes: each is given draws and a folder, and may raise what it will."""

# ruff: noqa: E501  tables of cases are read line by line

from __future__ import annotations

import asyncio
import contextlib
import functools
import gzip
import importlib
import io
import json
import os
import pickle
import pkgutil
import random
import shutil
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from mutations import ODD, as_json, change_bytes, change_value, json_like, yaml_like
from tiltmeter.errors import TiltmeterError

Kind = Callable[[random.Random, Path], object]
WORDS = ["he", "him", "his", "she", "her", "hers", "job", "office", "home", "family", "nurse", "New York", "naïve"]
GROUPS = {"men": WORDS[:3], "women": WORDS[3:6], "work": WORDS[6:8], "house": WORDS[8:10]}
VALUES = np.random.default_rng(7).normal(size=(len(WORDS), 4)).astype("<f4")
_ODD_TEXTS = [value for value in ODD if isinstance(value, str) and "@" not in value and "\0" not in value]


class EscapedError(Exception):
    """A command or an answer that is neither success nor one clear line."""


def command(*arguments: str, codes: tuple[int, ...] = (0, 2)) -> None:
    """Run tiltmeter in this process; anything but success or one line and exit code 2 escapes."""
    from tiltmeter.cli.app import main

    before, streams = sys.argv, (sys.stdout, sys.stderr)
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    sys.argv, sys.stdout, sys.stderr = ["tiltmeter", *arguments], out, err
    code: Any = 0
    try:
        main()
    except SystemExit as end:
        code = end.code
    finally:
        sys.argv, (sys.stdout, sys.stderr) = before, streams
    err.flush()
    said = err.buffer.getvalue().decode(errors="replace")
    shown = [argument[:80] for argument in arguments]
    if code not in codes or "Traceback" in said:
        raise EscapedError(f"exit code {code} of {shown}:\n{said[-1500:]}")
    if code == 2 and not said.splitlines()[-1:][0].startswith("error: "):
        raise EscapedError(f"exit code 2 without a line that says why, of {shown}: {said[-300:]}")


def _write(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def kept(make: Callable[[Path], None]) -> Callable[[], Path]:
    """A folder that is made once in a run."""

    def folder() -> Path:
        place = Path(os.environ["TILTMETER_FUZZ_KEPT"]) / make.__name__
        if not place.exists():
            place.mkdir(parents=True)
            make(place)
        return place

    return folder


# Word vectors


def _rows() -> bytes:
    rows = (f"{word.replace(' ', '_')} {' '.join(map(str, row))}" for word, row in zip(WORDS, VALUES, strict=True))
    return "".join(f"{row}\n" for row in rows).encode()


def good_vectors(folder: Path) -> Path:
    return _write(folder / "good.vec", _rows())


def _ask_vectors(path: Path, **options: Any) -> None:
    from tiltmeter.models.static import StaticVectors

    model = StaticVectors(path, **options)
    model.embed_words(WORDS)
    assert model.identity


def text_vectors(draw: random.Random, folder: Path) -> None:
    header = draw.choice((b"", b"%d 4\n" % len(WORDS)))
    content = change_bytes(draw, header + _rows())
    suffix = draw.choice((".vec", ".txt", ".vec.gz"))
    if suffix.endswith(".gz"):
        content = gzip.compress(content)
        content = change_bytes(draw, content) if draw.random() < 0.5 else content
    _ask_vectors(_write(folder / f"words{suffix}", content))


def binary_vectors(draw: random.Random, folder: Path) -> None:
    rows = b"".join(word.encode() + b" " + row.tobytes() for word, row in zip(WORDS, VALUES, strict=True))
    begin = draw.choice((b"%d 4\n" % len(WORDS), b"\xba\x16\x4f\x2f\x0c\0\0\0", b"99999999999999999999 4\n", b"13 0\n"))
    if draw.random() < 0.5:
        begin = b"%d %d\n" % (draw.choice((13, 0, 2**63)), draw.choice((4, 2**31, 2**62, 10**30, 1)))
    content = begin + rows
    _ask_vectors(_write(folder / "words.bin", change_bytes(draw, content) if draw.random() < 0.7 else content))


def npy_vectors(draw: random.Random, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    buffer = io.BytesIO()
    np.save(buffer, VALUES.astype(draw.choice(("<f4", "<f8", "<f2", ">f4", "<i4", "<c8"))))
    content = buffer.getvalue()
    part = draw.randrange(3)
    if part == 0:  # the header is a Python literal
        header = draw.choice((b"'", b"(", b"\n", b"\\", b"{'descr': '<f4'", b"(" * 90, b"9" * 30, b"O", b"#", b"\0"))
        at = draw.randrange(8, 100)
        content = content[:at] + header + content[at + len(header) :]
    elif part == 1:
        content = change_bytes(draw, content)
    _write(folder / "words.npy", content)
    suffix = draw.choice((".txt", ".vocab", ".json", ".parquet"))
    index = "".join(f"{word}{' 3' if suffix == '.vocab' else ''}\n" for word in WORDS).encode()
    if suffix == ".json":
        index = json_like(draw, draw.choice((WORDS, {word: number for number, word in enumerate(WORDS)})))
    elif suffix == ".parquet":
        sink = pa.BufferOutputStream()
        pq.write_table(pa.table({draw.choice(("index", "word", "token", "x")): WORDS}), sink)
        index = sink.getvalue().to_pybytes()
    if suffix != ".json" and part == 2:
        index = change_bytes(draw, index)
    _write(folder / f"words{suffix}", index)
    _ask_vectors(folder / "words.npy")


@functools.cache
def _keyed() -> tuple[bytes, ...]:
    """Pickles as gensim writes them, whether it is installed or not."""
    name = "gensim.models.keyedvectors"
    kind = type("KeyedVectors", (), {"__module__": name})
    known = {part: sys.modules.get(part) for part in ("gensim", "gensim.models", name)}
    module = types.ModuleType(name)
    module.KeyedVectors = kind  # type: ignore[attr-defined]
    sys.modules.update({**{part: types.ModuleType(part) for part in known}, name: module})
    try:
        made = kind()
        vars(made).update(vectors=VALUES, index_to_key=WORDS, vector_size=4, key_to_index={"he": 0}, expandos={})
        return tuple(pickle.dumps(made, protocol) for protocol in (2, 4, 5))
    finally:
        for part, before in known.items():
            del sys.modules[part]
            if before is not None:
                sys.modules[part] = before


def keyed_vectors(draw: random.Random, folder: Path) -> None:
    content = draw.choice(_keyed())
    if draw.random() < 0.2:
        content = pickle.dumps(draw.choice(([1], {"vectors": VALUES}, VALUES, "x", {"index_to_key": WORDS})))
    _ask_vectors(_write(folder / "words.kv", change_bytes(draw, content)))


# Files that people write


@functools.cache
def _shipped(package: str, folder: str, name: str) -> Any:
    from tiltmeter.files import read_yaml

    return _short(read_yaml(resources.files(package) / folder / name))


def _short(value: Any) -> Any:
    """The first few entries of every long list, so that an input takes milliseconds."""
    if isinstance(value, dict):
        return {key: _short(part) for key, part in value.items()}
    return [_short(part) for part in value[:4]] if isinstance(value, list) else value


LEXICON = {
    "name": "mine", "language": "en", "dimension": "gender", "licence": "CC0",
    "groups": {name: {"label": name, "kind": "noun", "words": words} for name, words in GROUPS.items()},
    "pairs": {"terms": {"label": "he/she", "label_1": "he", "label_2": "she", "pairs": [["he", "she"], ["him", "her"]]}},
    "templates": {"bleached": {"label": "bleached", "templates": [{"noun": "This is {}."}]}},
}  # fmt: skip


def lexicon(draw: random.Random, folder: Path) -> None:
    from tiltmeter.stimuli.lexicon.yaml_form import read_lexicon

    lists = draw.choice(("association", "attributes", "bangla", "gender", "identity", "japanese", "seat"))
    value = draw.choice((LEXICON, LEXICON, _shipped("tiltmeter.stimuli", "lexicon/lists", f"{lists}.yaml")))
    path = _write(folder / "mine.yaml", yaml_like(draw, value))
    if draw.random() < 0.3:
        command("lexicons", draw.choice((str(path), f"{path}.men", f"{path}.terms", f"{path}.")))
        return
    read = read_lexicon(path)
    for group in read.groups.values():
        assert group.texts is not None


def suite(draw: random.Random, folder: Path) -> None:
    from tiltmeter.run.suite import load_suite

    words = _write(folder / "mine.yaml", as_json(draw, LEXICON))
    sets = {"targets": [f"{words}.men", f"{words}.women"], "attributes": [f"{words}.work", f"{words}.house"]}
    inline = {
        "targets": [GROUPS["men"], {"label": "women", "words": GROUPS["women"]}],
        "attributes": sets["attributes"],
    }
    entries = [
        {"probe": "weat", "id": "a", "title": "A", "dimension": "gender", "control": True, **sets},
        {"probe": "weat", "id": "b", **inline},
        {"probe": "ripa", "targets": sets["targets"][:1], "pairs": [["he", "she"], ["him", "her"]]},
        {"probe": "seat", "id": "c", **sets, "templates": f"{words}.bleached"},
        {"probe": "cabm", "threshold": 0.1, "method": "equal", "vectors": "static:good.vec"},
        {"probe": "cloze", "from": "cloze_en", "vectors": "static:good.vec"},
    ]
    chosen = draw.sample(entries, 2)
    path = _write(folder / "suite.yaml", yaml_like(draw, {"name": "s", "description": "d", "probes": chosen}))
    if draw.random() < 0.15:
        spec = f"static:{good_vectors(folder)}"
        command("audit", spec, "--suite", str(path), "--dry-run", *draw.choice(([], ["--json"])))
        return
    load_suite(path)


def pack(draw: random.Random, folder: Path) -> None:
    from tiltmeter.stimuli import Word
    from tiltmeter.stimuli.languages import language

    own = {
        "code": "tr", "name": "Turkish", "script": "LATIN", "sentence_ends": ".!?", "abbreviations": ["Dr."],
        "lower": {"I": "ı"}, "normalise": [{"replace": "â", "with": "a"}, {"replace": "(x)(y)?", "with": "\\2\\1"}],
        "suffixes": {"case": ["de", {"add": ["da"], "after": "[aou]", "cut": 1, "then": "more"}], "more": ["ki"]},
    }  # fmt: skip
    code = draw.choice(("bn", "en", "ja"))
    value = draw.choice((own, own, _shipped("tiltmeter.stimuli.languages", "", f"{code}.yaml")))
    read = language(_write(folder / "pack.yaml", yaml_like(draw, value)))
    text = "Dr. Ixy saw the house. And I?"
    read.words(read.normalise(text))
    read.sentences(text)
    read.forms(Word("ev", properties={"suffixes": draw.choice(("case", "more", "x", ""))}))


def plan(draw: random.Random, folder: Path) -> None:
    from tiltmeter.lab.inject.plan import read_plan

    value = {"probabilities": {"nurse": 0.1, "engineer": 0.9, "cook": 0.5}}
    if draw.random() < 0.4:
        value["groups"] = ["identity.black_names", "identity.white_names"]  # type: ignore[assignment]
    read = read_plan(_write(folder / "plan.yaml", yaml_like(draw, value)))
    read.at(draw.choice((0.5, 0.9, 1.0))).text(n=100, seed=0)


def policy(draw: random.Random, folder: Path) -> None:
    from tiltmeter.compare import load_policy

    rules = {"a*": {"tolerance": 0.1, "limit": 0.8, "ignore": False}, "b": {"ignore": True}, "[": {"limit": 1}}
    value = {"alpha": 0.05, "tolerance": 0.02, "probes": rules, "models": {"one": "two"}}
    path = _write(folder / "policy.yaml", yaml_like(draw, value))
    if draw.random() < 0.3:
        audit = str(_audits() / "plain")
        command("check", audit, "--baseline", audit, "--policy", str(path), codes=(0, 1, 2))
        return
    read = load_policy(path)
    read.rule("abc")
    read.check_names(["abc", "b"])


def own_set(draw: random.Random, folder: Path) -> None:
    """Sentences of one's own in the forms of those that are shipped."""
    from tiltmeter.probes import make_probes

    probe, name = draw.choice((
        ("cloze", "cloze_en"), ("cloze", "pairs_ja"), ("lpbs", "traits_en"), ("lpbs", "traits_bn"),
        ("unmask", "occupations_en"), ("pronouns", "occupations_en"), ("cabm", "occupations_en"), ("cabm", "groups_en"),
    ))  # fmt: skip
    value = _shipped("tiltmeter.stimuli", "sentences/sets", f"{name}.yaml")
    path = _write(folder / "own.yaml", yaml_like(draw, value))
    make_probes(probe, data=str(path))


_TABLES: dict[str, tuple[str, str, str]] = {
    "genderlex": ("cloze", "GenderLex_noun.csv", "sent_m,sent_w,context,HB\nThe chef was met by him,The chef was met by "
                  "her,chef,M\nIt was sewn by him,It was sewn by her,sewn,W\n"),
    "race": ("cloze", "GenderLex_W_B.csv", "sent,context,race_A1,race_B1\nIt was made by them,chef,white,black african\n"),
    "pronouns": ("cloze", "topic.csv", "sent_m,sent_w,pronoun_m,prounoun_w,context,HB\nHe ran,She ran,He,She,run,M\n"),
    "japanese": ("cloze", "ja.csv", "sent_m,sent_w,pronoun_m,pronoun_w,context,HB\n彼は医者です,彼女は医者です,彼,彼女,医者,M\n"),
    "crows": ("pairs", "crows.csv", "id,sent_more,sent_less,stereo_antistereo,bias_type\n0,He is loud,She is loud,"
              "stereo,gender\n1,An old man,A young man,antistereo,age\n"),
    "bec": ("pronouns", "BEC.tsv", "Sentence\tSent_TM\tSent_AM\tSent_TAM\tTemplate\tPerson\tGender\tProfession\tProf_Gender\n"
            "He is a cook.\t[MASK] is a cook.\tHe is a [MASK].\t[MASK] is a [MASK].\t<person subject> is a <profession>.\tHe\tmale\tcook\tmale\n"
            "She is a cook.\t[MASK] is a cook.\tShe is a [MASK].\t[MASK] is a [MASK].\t<person subject> is a <profession>.\tShe\tfemale\tcook\tmale\n"),
    "labels": ("labels", "labels.csv", "occupation,label\nnurse,women\nengineer,men\ncook,\n"),
    "bangla": ("lpbs", "positive_traits_bn.csv", "Trait,S1,S2\nসৎ,সে সৎ,সে খুব সৎ\n"),
    "winobias": ("pronouns", "anti_stereotyped_type1.txt.dev", "1 [The nurse] met the cook because [he] was late.\n"
                 "2 The nurse met [the cook] because [she] was late.\n"),
    "winogender": ("pronouns", "all_sentences.tsv", "sentid\tsentence\ntechnician.customer.1.male.txt\tThe technician "
                   "told the customer that he could pay.\n"),
}  # fmt: skip


def table(draw: random.Random, folder: Path) -> None:
    """Tables of the public data sets, and of labels."""
    from tiltmeter.probes import make_probes

    probe, name, text = _TABLES[draw.choice(sorted(_TABLES))]
    path = _write(folder / "data" / name, change_bytes(draw, text.encode()))
    if draw.random() < 0.2:
        _write(
            folder / "data" / draw.choice(("GenderLex_verb.csv", "negative_traits_bn.csv", "occupations.csv")),
            text.encode(),
        )
    place = str(draw.choice((path, path.parent)))
    if probe == "labels":
        make_probes("cabm", labels=place)
    else:
        make_probes(probe, data=place)


def json_stimuli(draw: random.Random, folder: Path) -> None:
    """SEAT's tests, StereoSet and the templates of the association study."""
    from tiltmeter.probes import make_probes

    which = draw.randrange(3)
    if which == 0:
        lists = zip(("targ1", "targ2", "attr1", "attr2"), GROUPS.items(), strict=True)
        test = {key: {"category": name, "examples": [f"This is {w}." for w in words]} for key, (name, words) in lists}
        make_probes("seat", data=str(_write(folder / "sent-x.jsonl", json_like(draw, test))))
    elif which == 1:
        labels = ("stereotype", "anti-stereotype", "unrelated")
        sentences = [{"id": label, "sentence": f"He is {label}.", "gold_label": label} for label in labels]
        about = {"id": "1", "target": "nurse", "bias_type": "gender", "context": "He is BLANK.", "sentences": sentences}
        stereo = {"version": "1.1", "data": {"intrasentence": [about], "intersentence": [about]}}
        make_probes("stereoset", data=str(_write(folder / "dev.json", json_like(draw, stereo))))
    else:
        for kind, (one, two) in {"target": ("men", "women"), "attribute": ("work", "house")}.items():
            for name in (one, two):
                text = "\n".join(GROUPS[name]).encode()
                changed = change_bytes(draw, text) if draw.random() < 0.3 else text
                _write(folder / "lists" / f"{kind}_words_{name}.txt", changed)
        templates = {name: [f"A {{}} of {name}"] for name in ("work", "house")}
        _write(folder / "lists" / "templates.json", json_like(draw, templates))
        make_probes("association", data=str(folder / "lists"))


# Models and corpora


@kept
def _checkpoint(folder: Path) -> None:
    """A tiny masked language model in the layout of Sentence Transformers."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors

    names = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS[:11], "the", "said", "."]
    made: Any = Tokenizer(models.WordPiece({name: n for n, name in enumerate(names)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    special = {f"{name[1:-1].lower()}_token": name for name in names[:5]}
    fast: Any = transformers.PreTrainedTokenizerFast
    fast(tokenizer_object=made, **special).save_pretrained(folder)
    torch.manual_seed(0)
    size: Any = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 8}
    config = transformers.BertConfig(vocab_size=len(names), max_position_embeddings=32, **size)
    transformers.BertForMaskedLM(config).save_pretrained(folder)
    kinds = {"": "Transformer", "1_Pooling": "Pooling", "2_Normalize": "Normalize"}
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(kinds.items())
    ]
    pooling = {"word_embedding_dimension": 8, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": False}
    prompts = {"prompts": {"query": "query: "}, "default_prompt_name": None, "similarity_fn_name": "cosine"}
    limits = {"max_seq_length": 32, "do_lower_case": False}
    for name, content in {
        "modules.json": modules, "1_Pooling/config.json": pooling,
        "config_sentence_transformers.json": prompts, "sentence_bert_config.json": limits,
    }.items():  # fmt: skip
        _write(folder / name, json.dumps(content).encode())
    (folder / "2_Normalize").mkdir()


def checkpoint(draw: random.Random, folder: Path) -> None:
    from tiltmeter.models import load

    place = folder / "model"
    shutil.copytree(_checkpoint(), place)
    own = ("modules.json", "1_Pooling/config.json", "config_sentence_transformers.json", "sentence_bert_config.json")
    other = ("tokenizer_config.json", "config.json", "tokenizer.json", "model.safetensors")
    changed = place / draw.choice((*own, *own, *other))
    if changed.suffix == ".json":
        changed.write_bytes(json_like(draw, json.loads(changed.read_bytes())))
    else:
        changed.write_bytes(change_bytes(draw, changed.read_bytes()))
    if draw.random() < 0.1:
        command("unmask", f"hf:{place}", "the [MASK] said", "--json")
        return
    model: Any = load(f"hf:{place}")
    assert model.identity
    model.embed_texts(["he said the job .", "she"])


def corpus(draw: random.Random, folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    lines = [f"The {word} said that the nurse was at the office, not at home." for word in WORDS]
    suffix = draw.choice((".txt", ".jsonl", ".csv", ".tsv", ".parquet"))
    content = "\n".join(lines).encode()
    if suffix == ".jsonl":
        rows = [{"text": line, "id": str(n) if draw.random() < 0.1 else n} for n, line in enumerate(lines)]
        at = draw.choice((0, draw.randrange(len(rows))))
        parts = [as_json(draw, row) if n != at else json_like(draw, row) for n, row in enumerate(rows)]
        content = b"\n".join(parts)
    elif suffix in (".csv", ".tsv"):
        mark = "," if suffix == ".csv" else "\t"
        content = "\n".join([f"id{mark}text", *(f'{n}{mark}"{line}"' for n, line in enumerate(lines))]).encode()
    elif suffix == ".parquet":
        sink = pa.BufferOutputStream()
        names = draw.choice((("text", "id"), ("", "id"), ("text", "more")))
        columns = [pa.array(lines), pa.array([None, *lines[1:]] if draw.random() < 0.2 else list(range(len(lines))))]
        pq.write_table(
            pa.table(dict(zip(names, columns, strict=True))), sink, compression=draw.choice(("snappy", "none"))
        )
        content = sink.getvalue().to_pybytes()
    content = change_bytes(draw, content) if draw.random() < 0.7 else content
    packed = draw.choice(("", "", ".gz", ".zst"))
    if packed:
        pack_up = gzip.compress if packed == ".gz" else zstandard.ZstdCompressor().compress
        content = pack_up(content * (2000 if draw.random() < 0.02 else 1))
        content = change_bytes(draw, content) if draw.random() < 0.4 else content
    path = _write(folder / f"corpus{suffix}{packed}", content)
    words = _write(folder / "mine.yaml", as_json(draw, LEXICON))
    more = draw.choice(
        ([], [], ["--column", "text"], ["--column", draw.choice(("x", "", "id"))], ["--errors", "replace"])
    )
    lengths = draw.choice(("9", "3,>5", "sentence", "9,25", "0", "x", ">", "9" * 400))
    command("mine", str(path), "--lexicon", str(words), "--out", str(folder / "mined"), "--lengths", lengths, *more)


def mined(draw: random.Random, folder: Path) -> None:
    """A folder of occurrences in which a file is damaged."""
    from tiltmeter.probes import make_probes

    place = folder / "mined"
    shutil.copytree(_mined() / "out", place)
    changed = draw.choice([path for path in sorted(place.iterdir()) if path.suffix in (".json", ".parquet")])
    content = changed.read_bytes()
    if changed.suffix == ".json":
        changed.write_bytes(json_like(draw, json.loads(content)))
    else:
        changed.write_bytes(change_bytes(draw, content))
    make_probes("ceat", data=str(place))


@kept
def _mined(folder: Path) -> None:
    lines = [f"The {a} and the {b} were there in the long year of {n}." for n in range(3) for a in WORDS for b in WORDS]
    text = _write(folder / "corpus.txt", "\n".join(lines).encode())
    words = _write(folder / "mine.yaml", json.dumps(LEXICON).encode())
    out = str(folder / "out")
    command("mine", str(text), "--lexicon", str(words), "--out", out, "--lengths", "3,5", codes=(0,))


def cache(draw: random.Random, folder: Path) -> None:
    """A store of answers that a disk has damaged."""
    from tiltmeter.models import Question, VectorStore
    from tiltmeter.models.protocol import Identity

    identity, texts = Identity("own:x", "1"), [f"text {n}" for n in range(40)]
    with VectorStore(folder) as store:
        store.put(identity, Question.TEXTS, texts, list(np.ones((40, 64), np.float32)))
    path = folder / "vectors.sqlite"
    path.write_bytes(change_bytes(draw, path.read_bytes()))
    with VectorStore(folder) as store:
        found = store.get(identity, Question.TEXTS, texts)
        wrong = [row for row in found.values() if row is not None and not np.array_equal(row, np.ones(64, np.float32))]
        store.put(identity, Question.TEXTS, texts[:3], list(np.ones((3, 64), np.float32)))
        store.contents()
    if wrong:
        raise EscapedError("the store gave a vector that it was never given")


# Results


@kept
def _audits(folder: Path) -> None:
    """Small audits: of word vectors by word probes, and of a language model."""
    words = _write(folder / "mine.yaml", json.dumps(LEXICON).encode())
    men, women, work, house = (f"{words}.{name}" for name in GROUPS)
    both = {"targets": [men, women], "attributes": [work, house]}
    one = {"targets": [men], "attributes": [work, house]}
    pairs = {"targets": [men], "pairs": [["he", "she"], ["him", "her"], ["his", "hers"]]}
    probes = [
        *({"probe": name, **both} for name in ("weat",)),
        *({"probe": name, **both, "attributes": [work]} for name in ("ect", "rnd")),
        *({"probe": name, **one} for name in ("semaxis", "wefat")),
        *({"probe": name, **pairs} for name in ("ripa", "direct_bias")),
    ]
    suite_file = _write(folder / "suite.yaml", json.dumps({"name": "plain", "probes": probes}).encode())
    spec, out = f"static:{good_vectors(folder)}", str(folder / "plain")
    command("audit", spec, "--suite", str(suite_file), "--out", out, "--permutations", "20", codes=(0, 2))
    language = json.dumps({"name": "language", "probes": [{"probe": name} for name in ("unmask", "pronouns")]})
    suite_file = _write(folder / "language.yaml", language.encode())
    out = str(folder / "language")
    command("audit", f"hf:{_checkpoint()}", "--suite", str(suite_file), "--out", out, codes=(0, 2))
    assert all((folder / name / "audit.json").is_file() for name in ("plain", "language"))


def results(draw: random.Random, folder: Path) -> None:
    """An audit in which a field is of another type, with and without a checksum that fits."""
    from tiltmeter.readings import Audit

    shelf = folder / "shelf"
    place = shelf / "one"
    shutil.copytree(_audits() / draw.choice(("plain", "plain", "language")), place)
    (place / "audit.html").unlink(missing_ok=True)
    _damage(draw, place)
    way = draw.random()
    if way < 0.02:
        command("report", str(place))
    elif way < 0.04:
        command("report", str(place), "--charts", str(folder / "charts"), "--format", "svg")
    elif way < 0.35:
        form = draw.choice(("md", "csv", "parquet", "latex", "model-card"))
        command("report", str(place), "--format", form, "--out", str(folder / "out.x"))
    elif way < 0.5:
        command("compare", str(place), str(_audits() / "plain"), *draw.choice(([], ["--json"])))
    elif way < 0.65:
        sides = [str(place), str(_audits() / "plain")]
        draw.shuffle(sides)
        command("check", sides[0], "--baseline", sides[1], "--junit", str(folder / "j.xml"), "--summary",
                str(folder / "s.md"), codes=(0, 1, 2))  # fmt: skip
    elif way < 0.7:
        command("lab", "stability", str(place))
    elif way < 0.9:
        _serve_damaged(shelf)
    else:
        audit = Audit.load(place)
        audit.to_dict()
        audit.to_frame()


def _damage(draw: random.Random, place: Path) -> None:
    from tiltmeter.readings import audit as stored

    reading = draw.choice(sorted((place / "readings").glob("*.json")))
    which = draw.randrange(10)
    if which < 3:
        manifest = place / "audit.json"
        manifest.write_bytes(json_like(draw, json.loads(manifest.read_bytes())))
    elif which == 3:
        table_file = reading.with_suffix(stored.ITEMS)
        table_file.write_bytes(change_bytes(draw, table_file.read_bytes()))
    elif which == 4:
        reading.write_bytes(json_like(draw, json.loads(reading.read_bytes())))
    else:  # whoever can write a reading can write its checksum too
        values, table_file = json.loads(reading.read_bytes()), reading.with_suffix(stored.ITEMS)
        values.pop("checksum")
        columns = stored._columns(table_file.read_bytes())
        items: Any = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
        if which < 8:
            values = change_value(draw, values)
        else:
            items = change_value(draw, items)
        with contextlib.suppress(Exception):  # items of no form that a table takes stay as they were
            table_file.write_bytes(stored._table(items))
        with contextlib.suppress(ValueError, TypeError):
            checksum = stored._checksum(stored._json(values), table_file.read_bytes())
            reading.write_bytes(stored._json({**values, "checksum": checksum}))


def _serve_damaged(shelf: Path) -> None:
    app = _dashboard(shelf)
    names = sorted(path.stem for path in (shelf / "one" / "readings").glob("*.json"))
    for path in (
        "/",
        "/api/audits",
        "/api/readings",
        "/audits/one",
        "/api/audits/one",
        *(f"/audits/one/readings/{n}" for n in names),
    ):
        _request(app, "GET", path, b"", [], b"")


# The dashboard


def _dashboard(folder: Path, **settings: Any) -> Any:
    from tiltmeter.web.app import create_app
    from tiltmeter.web.security import DashboardSettings

    return create_app(DashboardSettings(folder, **settings))


@functools.cache
def _served() -> Any:
    audits = _audits()
    spec = f"static:{good_vectors(audits)}"
    return _dashboard(audits, models=(spec,)), spec


def _request(app: Any, method: str, path: str, query: bytes, headers: list[tuple[bytes, bytes]], body: bytes) -> int:
    """One request, as a server would hand it over; an error of the server's escapes."""
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method, "scheme": "http",
        "path": path, "raw_path": quote(path, errors="replace").encode(), "query_string": query, "root_path": "",
        "headers": [(b"host", b"127.0.0.1:8765"), *headers], "client": ("127.0.0.1", 5), "server": ("127.0.0.1", 8765),
    }  # fmt: skip
    status, sent = 0, False

    async def receive() -> dict[str, Any]:
        nonlocal sent
        if sent:
            return {"type": "http.disconnect"}
        sent = True
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, Any]) -> None:
        nonlocal status
        status = message.get("status", status)

    asyncio.run(app(scope, receive, send))
    if status >= 500 and status != 502:
        raise EscapedError(f"HTTP {status} to {method} {path[:80]} {query[:80]!r} {body[:80]!r}")
    return status


_PATHS = (
    *("/", "/explore", "/compare", "/jobs", "/api", "/api/audits", "/api/audits/plain", "/api/readings", "/api/models"),
    *("/api/compare", "/api/lexicons", "/api/lexicons/gender.male_terms", "/api/suites", "/api/jobs", "/api/jobs/1"),
    *("/audits/plain", "/audits/language", "/audits/plain/download/csv", "/audits/plain/models/x", "/static/page.css"),
    *("/charts/audits/plain/effects.json", "/charts/readings/plain/x.json", "/audits/plain/readings/x", "/jobs/x"),
)
_FORMS = (
    ("/explore/words", {"model": "", "x": "he, him", "y": "she, her", "a": "job, office", "b": "home, family"}),
    ("/explore/sentence", {"model": "", "sentence": "the [MASK] said", "words": "he, she"}),
    ("/jobs", {"name": "x y", "model": "", "suite": "weat"}),
)
_BODIES = (
    ("/api/explore/words", {"model": "", "x": ["he", "him"], "y": ["she"], "a": ["job"], "b": ["home"]}),
    ("/api/explore/sentence", {"model": "", "sentence": "the [MASK] said", "words": ["he", "she"]}),
    ("/api/jobs", {"name": "x y", "models": [], "suite": "weat"}),
)


def http(draw: random.Random, _folder: Path) -> None:
    app, spec = _served()
    way = draw.randrange(4)
    headers = [(b"origin", b"http://127.0.0.1:8765")]
    odd = draw.choice(_ODD_TEXTS).encode(errors="surrogatepass")[:9000]
    if draw.random() < 0.3:
        name = draw.choice((b"host", b"origin", b"cookie", b"authorization", b"content-length", b"accept", b"x-y"))
        value = draw.choice(
            (odd, b"http://[", b"[", b"\xff\xfe", b"127.0.0.1:99999", b"[::1", b"Bearer \xff", b"9" * 5000)
        )
        headers = [pair for pair in headers if pair[0] != name] + [(name, value.replace(b"\n", b" "))]
    if way == 0:
        path = draw.choice(_PATHS)
        if draw.random() < 0.4:
            path += "/" + draw.choice(_ODD_TEXTS)[:2000]
        names = ("q", "audit", "model", "probe", "lean", "sort", "side", "part", "start", "most", "view")
        query = "&".join(
            f"{draw.choice(names)}={quote(draw.choice(_ODD_TEXTS)[:3000], errors='replace')}" for _ in range(2)
        )
        raw = draw.choice((query.encode(), b"", odd, b"q=%ff%fe&part=%00", b"q=%ed%a0%80", b"side=a&side=b"))
        _request(app, draw.choice(("GET", "GET", "GET", "HEAD", "PUT", "X")), path, raw, headers, b"")
    elif way == 1:
        path, form = draw.choice(_FORMS)
        fields = {**form, "model": spec}
        fields[draw.choice(sorted(fields))] = draw.choice(_ODD_TEXTS)[:5000]
        body = "&".join(f"{key}={quote(value, errors='surrogatepass')}" for key, value in fields.items()).encode()
        body = change_bytes(draw, body) if draw.random() < 0.4 else body
        if b"weat" not in body or b"x%20y" in body:  # no name under which an audit would really start
            _request(app, "POST", path, b"", [*headers, (b"content-type", b"application/x-www-form-urlencoded")], body)
    elif way == 2:
        path, asked = draw.choice(_BODIES)
        body = json_like(draw, {**asked, "model": spec} if "model" in asked else asked)
        if path != "/api/jobs" or spec.encode() not in body:
            _request(app, "POST", path, b"", [*headers, (b"content-type", b"application/json")], body)
    else:
        body = yaml_like(draw, LEXICON)
        path = draw.choice(("/api/lexicons", "/explore/lexicon"))
        body = b"yaml=" + quote(body).encode() if path.startswith("/explore") else body
        _request(app, "POST", path, b"", [*headers, (b"content-type", b"application/yaml")], body)


# Servers


class _Answers:
    """A server that answers whatever it is told to."""

    def __init__(self) -> None:
        outer = self
        self.status, self.headers, self.body = 200, dict[str, str](), b""

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                with contextlib.suppress(OSError):
                    self.send_response(outer.status)
                    for name, value in {"Content-Length": str(len(outer.body)), **outer.headers}.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(outer.body)

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"


@functools.cache
def _answers(_process: int) -> _Answers:
    """One server for each process: a fork has no thread of the one before it."""
    return _Answers()


def server(draw: random.Random, _folder: Path) -> None:
    """What an embeddings or chat server answers."""
    from tiltmeter.models.api import Budget
    from tiltmeter.models.api.chat import ChatModel
    from tiltmeter.models.api.embedder import ApiEmbedder
    from tiltmeter.models.protocol import Choice

    answers = _answers(os.getpid())
    kind = draw.choice(("openai", "cohere", "voyage", "chat"))
    vectors = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6]]
    usage = {"usage": {"prompt_tokens": 5, "total_tokens": 5}}
    good: dict[str, Any] = {"data": [{"index": n, "embedding": row} for n, row in enumerate(vectors)], **usage}
    if kind == "cohere":
        good = {"embeddings": {"float": vectors}, "meta": {"billed_units": {"input_tokens": 5}}}
    elif kind == "chat":
        good = {"choices": [{"message": {"content": "he", "role": "x"}, "finish_reason": "stop"}], **usage}
    answers.status = draw.choice((200, 200, 200, 200, 200, 400, 401, 404, 429, 500, 302, 204))
    refused = {"error": {"message": "no \x1b[31m", "code": "x", "type": "y"}}
    answers.body = json_like(draw, good if answers.status == 200 else refused)
    odd = draw.choice(("9" * 400, "nan", "Fri, 31 Dec 9999 23:59:59 -2359", "x", "-1", "1e400", "0"))
    headers: tuple[dict[str, str], ...] = (
        {},
        {},
        {"Retry-After": odd},
        {"Content-Encoding": "gzip"},
        {"Content-Length": "5"},
    )
    answers.headers = draw.choice(headers)
    if "Content-Encoding" in answers.headers and draw.random() < 0.7:
        answers.body = gzip.compress(answers.body)
    budget = Budget(requests=50, tokens=10_000)
    options: dict[str, Any] = {
        "base_url": answers.url,
        "max_tries": 2,
        "timeout": 5.0,
        "sleep": lambda _: None,
        "budget": budget,
    }
    provider: Any = kind
    if kind == "chat":
        ChatModel("m", **options).choose([Choice("The [MASK] said.", ("he", "she"))])
        return
    rows = ApiEmbedder(provider, "m", **options).embed_texts(["he said", "she said"])
    if not np.isfinite(rows).all():
        raise EscapedError("numbers that are not finite came through")


# The command line


def command_line(draw: random.Random, folder: Path) -> None:
    """Specs and options as people, and programs, might give them."""
    vectors = f"static:{good_vectors(folder)}"
    words = _write(folder / "mine.yaml", as_json(draw, LEXICON))
    odd = [*_ODD_TEXTS, "x" * 5000, "/" * 300, "x/" * 3000, ".", "..", "/", "~", "~nouser/x", "[/x]", "[bold", "a\\b",
           "café", "\udcff", "=", "&", "?", "#", ",", ",,", "+", "a+b", "a/b", "/,/", "%", "*", "static", ":", "a:b:c"]  # fmt: skip
    one = draw.choice(odd)
    options = ("case", "index", "layer", "base_url", "timeout", "dimensions", "pooling", "revision", "x", "")
    kinds = ("static", "hf", "openai", "cohere", "voyage", "chat", "gguf", "bundled", "reference", "own", "")
    specs = [
        f"{draw.choice(kinds)}:{one}", one, f"{vectors}?{draw.choice(options)}={one}", f"openai:m?base_url=http://{one}",
        f"{draw.choice(kinds)}:m?{draw.choice(options)}={one}&{draw.choice(options)}={draw.choice(odd)}", f"static:{folder}",
        f"gguf:{_write(folder / 'x.gguf', change_bytes(draw, b'GGUF' + bytes(64)))}", f"static:{folder / one[:200].strip('/~')}",
    ]  # fmt: skip
    spec = draw.choice(specs)
    group = draw.choice(
        (one, f"{words}.{one}", f"{one}.men", f"{words}.men,{one}", f"{one}+{draw.choice(odd)}", f"gender.{one}")
    )
    good = ["--targets", f"{words}.men,{words}.women", "--attributes", f"{words}.work,{words}.house"]
    flag = draw.choice(("--targets", "--attributes", "--pairs", "--templates", "--from", "--vectors", "--method", "--threshold",
                        "--labels", "--corpus", "--option", "--alternative", "--seed", "--permutations", "--budget", "--key"))  # fmt: skip
    value = draw.choice(
        (group, one, f"x={one}", "-5", "1e400", "9" * 400, "9" * 5000, "0", "many tokens", f"{'9' * 400} tokens")
    )
    kind = draw.choice(
        ("weat", "seat", "ripa", "mac", "rnsb", "cloze", "cabm", "ceat", "pairs", "direct_bias", "association", one)
    )
    audit = str(_audits() / "plain")
    cases: list[list[str]] = [
        ["audit", spec, "--dry-run"], ["audit", spec, "--suite", draw.choice((one, "weat", "gone.yaml")), "--out", str(folder / "o")],
        ["audit", vectors, "--suite", "gone.yaml", "--out", one or "x"], ["probe", kind, spec, *good],
        ["probe", kind, vectors, *good, flag, value], ["probe", "weat", vectors, flag, value],
        ["cloze", spec, one], ["unmask", spec, one], ["lexicons", one], ["lexicons", group], ["probes", one], ["models", one],
        ["suites", one], ["data", one], ["cache", "--model", one], ["report", one], ["report", audit, "--format", one],
        ["compare", one, audit], ["compare", f"{audit}:{one}", audit], ["check", audit, "--baseline", one],
        ["check", audit, "--baseline", audit, "--policy", one], ["mine", one, "--lexicon", group, "--out", str(folder / "m")],
        ["mine", str(words), "--lexicon", group, "--out", str(folder / "m"), draw.choice(("--lengths", "--keep", "--language", "--seed")), value],
        ["lab", "inject", "--model", spec, "--doses", draw.choice((one, "9", "nan", ".5,x")), "--out", str(folder / "i")],
        ["lab", "inject", "--model", vectors, "--probabilities", one, "--out", str(folder / "i")],
        ["lab", "stability", one], ["lab", "context-length", spec, "--mined", str(folder), "--out", str(folder / "c")],
        ["serve", one, "--port", "0"], ["serve", str(folder), "--port", "0", "--token", one], ["serve", str(folder), "--host", one or "x", "--port", "99999"],
        [one], ["audit", "gone:x", f"--{one}"], ["lab", one], ["--version", one],
    ]  # fmt: skip
    arguments = draw.choice(cases)
    if any("\0" in part for part in arguments) or _heavy(arguments):
        return  # no command line can hold a zero byte; sample and reference models are too heavy here
    here = Path.cwd()
    os.chdir(folder)
    try:
        command(*arguments, codes=(0, 1, 2) if arguments[0] == "check" else (0, 2))
    finally:
        os.chdir(here)


def _heavy(arguments: list[str]) -> bool:
    return (
        any(part.startswith(("reference:", "bundled:")) and len(part) < 40 for part in arguments)
        and "lexicons" not in arguments
    )


KINDS: dict[str, Kind] = {
    kind.__name__: kind
    for kind in (
        text_vectors, binary_vectors, npy_vectors, keyed_vectors, lexicon, suite, pack, plan, policy, own_set, table,
        json_stimuli, checkpoint, corpus, mined, cache, results, http, server, command_line,
    )
}  # fmt: skip
#: Kinds with many forms come more often.
ORDER = [*KINDS, "results", "results", "command_line", "command_line", "http", "corpus", "lexicon", "results"]


@contextlib.contextmanager
def prepared() -> Iterator[None]:
    """A cache and folders of its own, no keys, no network; everything that inputs are made of is there."""
    with tempfile.TemporaryDirectory() as root:
        os.environ.update(
            TILTMETER_CACHE=f"{root}/cache", TILTMETER_FUZZ_KEPT=f"{root}/kept", HF_HUB_OFFLINE="1", HF_HOME=f"{root}/hub",
            NO_PROXY="127.0.0.1", VOYAGE_API_KEY="", COLUMNS="140",
        )  # fmt: skip
        for name in [name for name in os.environ if name.endswith("_API_KEY") or name.startswith("TILTMETER_DATA")]:
            del os.environ[name]
        os.environ["TILTMETER_KEYS"] = ""
        tempfile.tempdir = root
        # In a process of its own: the renderer of charts starts threads, which no fork has.
        if (child := os.fork()) == 0:
            _audits(), _mined()
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0, "the inputs could not be made"
        _import_all()
        try:
            yield
        finally:
            tempfile.tempdir = None


def _import_all() -> None:
    """What inputs would import, once for all processes; nothing that starts threads."""
    import tiltmeter

    heavy = ("torch", "transformers.models.bert.modeling_bert", "transformers.models.auto.modeling_auto", "httpx")
    modules = pkgutil.walk_packages(tiltmeter.__path__, "tiltmeter.")
    further = (
        "scipy.stats",
        "statsmodels.stats.power",
        "sklearn.linear_model",
        "pyarrow.parquet",
        "zstandard",
        "pandas",
    )
    for name in (*heavy, *further, *(module.name for module in modules)):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def run_input(seed: int, number: int) -> str | None:
    """Make one input and put it to tiltmeter; what escaped, or None."""
    import traceback

    draw = random.Random(f"{seed}:{number}")
    kind = ORDER[number % len(ORDER)]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            KINDS[kind](draw, Path(folder))
        except TiltmeterError:
            return None
        except EscapedError as error:
            return str(error)
        except BaseException:
            return traceback.format_exc()
    return None


__all__ = ["KINDS", "ORDER", "EscapedError", "prepared", "run_input"]
