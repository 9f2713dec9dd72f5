"""Results of other tools, read from their own files, to stand beside readings: lm-evaluation-harness and MTEB.

They are not readings: there are no items behind them, no verdict and often no interval. What a tool said is kept as it
said it.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from pydantic import BaseModel, ConfigDict, Field

from tiltmeter.errors import BadInput
from tiltmeter.files import check, read_json, write_atomically

FILE = "peers.json"
_SCHEMA_VERSION = 1


@dataclasses.dataclass(frozen=True, slots=True)
class PeerResult:
    """One number of another tool: ``stderr`` and ``n`` where it says them, ``better`` which way it says is better."""

    tool: str
    version: str
    model: str
    task: str
    metric: str
    value: float
    stderr: float | None = None
    n: int | None = None
    better: str = ""
    file: str = ""

    @property
    def probe(self) -> str:
        """The kind of probe that reads the same data set here; nothing where none does.

        >>> PeerResult("lm-evaluation-harness", "0.4.9", "gpt2", "crows_pairs_english", "pct_stereotype", 0.6).probe
        'pairs'
        """
        return next((probe for start, probe in _SAME_DATA.items() if self.task.lower().startswith(start)), "")

    def is_of(self, model: str) -> bool:
        """Whether readings call the model so: by its spec, or by its name alone.

        >>> PeerResult("MTEB", "1.14", "somebody/small", "STS12", "main_score", 0.7).is_of("hf:somebody/small")
        True
        """
        return model.partition("?")[0].partition(":")[2] == self.model or model == self.model


_SAME_DATA = {
    "crows_pairs": "pairs",
    "bbq": "bbq",
    "winogender": "pronouns",
    "wino_bias": "pronouns",
    "winobias": "pronouns",
    "stereoset": "stereoset",
}


class _Harness(BaseModel):
    """The parts of a result file of lm-evaluation-harness that are used."""

    model_config = ConfigDict(extra="ignore")
    results: dict[str, dict[str, Any]]
    config: dict[str, Any] = {}
    higher_is_better: dict[str, dict[str, bool | None] | None] = {}
    samples: dict[str, dict[str, int]] = Field(default={}, alias="n-samples")
    model_name: str = ""
    lm_eval_version: str = ""


class _Mteb(BaseModel):
    """The parts of a result file of MTEB that are used."""

    model_config = ConfigDict(extra="ignore")
    task_name: str
    mteb_version: str = ""
    scores: dict[str, list[dict[str, Any]]]


class _Meta(BaseModel):
    model_config = ConfigDict(extra="ignore")
    name: str = ""


def read_peer_results(paths: Iterable[Path]) -> list[PeerResult]:
    """The results in files, and in all JSON files of folders, of either tool."""
    results = list[PeerResult]()
    for path in paths:
        if not path.exists():
            raise BadInput(f"{path}: no such file or folder")
        files = sorted(path.rglob("*.json")) if path.is_dir() else [path]
        for file in files:
            if file.name in ("model_meta.json", FILE):
                continue
            content = read_json(file)
            if isinstance(content, dict) and isinstance(content.get("results"), dict):
                results += _of_harness(file, check(file.name, content, _Harness))
            elif isinstance(content, dict) and {"task_name", "scores"} <= set(content):
                results += _of_mteb(file, check(file.name, content, _Mteb))
            elif not path.is_dir():
                raise BadInput(f"{file.name}: no result of lm-evaluation-harness ('results') or MTEB ('scores')")
    if not results:
        raise BadInput("no result of lm-evaluation-harness or MTEB was found: name their JSON files or their folder")
    return results


def _of_harness(file: Path, content: _Harness) -> Iterator[PeerResult]:
    model = content.model_name or _model_named(content.config)
    for task, scores in content.results.items():
        ways = content.higher_is_better.get(task) or {}
        n = content.samples.get(task, {}).get("effective")
        for key, value in scores.items():
            metric, _, chosen = key.partition(",")
            if metric.endswith("_stderr") or not _is_number(value):
                continue
            stderr = scores.get(f"{metric}_stderr,{chosen}" if chosen else f"{metric}_stderr")
            way = ways.get(metric)
            yield PeerResult(
                "lm-evaluation-harness",
                content.lm_eval_version,
                model,
                task,
                metric if chosen in ("", "none") else f"{metric} ({chosen})",
                float(value),
                float(stderr) if _is_number(stderr) else None,
                n,
                "" if way is None else "higher is better" if way else "lower is better",
                file.name,
            )


def _model_named(config: Mapping[str, Any]) -> str:
    arguments = config.get("model_args")
    if isinstance(arguments, str):
        arguments = dict(part.split("=", 1) for part in arguments.split(",") if "=" in part)
    named = arguments.get("pretrained") or arguments.get("model") if isinstance(arguments, dict) else None
    return str(named or config.get("model") or "unnamed")


def _of_mteb(file: Path, content: _Mteb) -> Iterator[PeerResult]:
    meta = file.with_name("model_meta.json")
    named = check(meta.name, read_json(meta), _Meta).name if meta.is_file() else ""
    # Without it, MTEB's folders say it: MODEL/REVISION/TASK.json, the slash of a name as two underscores.
    model = named or file.parent.parent.name.replace("__", "/") or "unnamed"
    for split, rows in content.scores.items():
        for row in rows:
            value, subset = row.get("main_score"), str(row.get("hf_subset", "default"))
            if _is_number(value):
                task = content.task_name if subset == "default" else f"{content.task_name} ({subset})"
                metric = f"main score, {split}"
                version = content.mteb_version
                yield PeerResult(
                    "MTEB", version, model, task, metric, float(value), better="higher is better", file=file.name
                )


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def save_peer_results(results: Sequence[PeerResult], folder: Path) -> Path:
    """Write results into a folder that the dashboard shows; those of the same file before are replaced."""
    path = folder / FILE
    kept = [one for one in (load_peer_results(folder) if path.is_file() else []) if one.file not in _files(results)]
    rows = [dataclasses.asdict(one) for one in (*kept, *results)]
    content = {"schema_version": _SCHEMA_VERSION, "results": rows}
    write_atomically(path, (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode())
    return path


def _files(results: Sequence[PeerResult]) -> set[str]:
    return {one.file for one in results}


class _Stored(BaseModel):
    schema_version: int
    results: list[PeerResult]


def load_peer_results(folder: Path) -> list[PeerResult]:
    """The results that were imported into a folder."""
    return check(FILE, read_json(folder / FILE), _Stored).results
