"""What weights take and what is free, from headers and limits."""

from __future__ import annotations

import numpy as np
import pytest
from safetensors.numpy import save_file

from tiltmeter.errors import ModelFailed
from tiltmeter.models.transformers.weights import loading
from tiltmeter.models.transformers.weights.loading import StoredWeights, check_memory, free_memory, stored_weights

EIGHT_BILLION = StoredWeights({"BF16": 8_000_000_000}, 16_000_000_000)


def test_numbers_are_counted_by_type_over_all_files(tmp_path):
    save_file({"a": np.zeros((3, 4), np.float16), "b": np.zeros(5, np.float32)}, tmp_path / "1.safetensors")
    save_file({"c": np.zeros((2, 2), np.float16)}, tmp_path / "2.safetensors")
    weights = stored_weights(sorted(tmp_path.glob("*.safetensors")))
    assert weights.numbers == {"F16": 16, "F32": 5}
    assert (weights.type, weights.parameters, weights.bytes_in("float32")) == ("float16", 21, 84)


@pytest.mark.parametrize("content", [b"", b"short", (1 << 62).to_bytes(8, "little"), b"\x02\0\0\0\0\0\0\0[]"])
def test_a_damaged_header_counts_as_nothing(tmp_path, content):
    (tmp_path / "model.safetensors").write_bytes(content)
    weights = stored_weights([tmp_path / "model.safetensors"])
    assert (weights.numbers, weights.size) == ({}, len(content))


@pytest.mark.parametrize(
    ("width", "free", "advice"),
    [
        ("float32", 20_000_000_000, "add dtype=bfloat16"),
        ("bfloat16", 10_000_000_000, "add quantize=8bit"),
        ("bfloat16", 5_000_000_000, "add quantize=4bit"),
        ("bfloat16", 1_000_000_000, "use a machine with more memory"),
    ],
)
def test_what_does_not_fit_is_one_line_with_the_option_that_would(width, free, advice):
    with pytest.raises(ModelFailed) as caught:
        check_memory(EIGHT_BILLION, width, free, called="hf:some/8b")
    line = str(caught.value)
    assert f"'hf:some/8b' does not fit: 8.0 B parameters in {width} take" in line
    assert advice in line
    assert "completions:MODEL" in line
    assert "\n" not in line


def test_what_fits_or_is_not_known_is_not_refused():
    check_memory(EIGHT_BILLION, "bfloat16", 18_000_000_000, called="m")
    check_memory(EIGHT_BILLION, "bfloat16", None, called="m")
    assert (free_memory() or 1) > 0


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({"memory.max": "1000", "memory.current": "700", "memory.stat": "anon 5\ninactive_file 100\n"}, 400),
        ({"memory.max": "max", "memory.current": "700", "memory.stat": "inactive_file 100\n"}, None),
        (
            {
                "memory/memory.limit_in_bytes": "900",
                "memory/memory.usage_in_bytes": "300",
                "memory/memory.stat": "total_inactive_file 50\n",
            },
            650,
        ),
        ({}, None),
    ],
)
def test_a_container_limits_what_is_free(tmp_path, monkeypatch, files, free):
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(loading, "_CGROUP", tmp_path)
    assert loading._container_memory() == free
