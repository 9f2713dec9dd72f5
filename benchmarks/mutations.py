"""How a good input is made a bad one: bytes are changed anywhere, values by others of another type or size."""

from __future__ import annotations

import copy
import json
import random
import re
from typing import Any

#: Stand for what no Python value can: nesting and numbers beyond what JSON writers write.
_DEEP, _DIGITS = "@deep@", "@digits@"
#: Values that are of another type, size or meaning than any that is expected.
ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1, 7, 3.5, -0.0, 1e308, float("nan"), float("inf"), 10**30, 10**400, _DIGITS),
    *("", " ", "x", "x" * 70_000, "\ud800", "\0", "\x1b[31m", "../..", "~nouser", "[/x]", "{}", "{0.x}", "%s"),
    *("١٢", "1e999", "nan", "https://[", "-", "--", "\u202e", "e\u0301", "a\nb", "<b>", "he", "[MASK]", "{word}"),
    *([], {}, [[]], [None], [1, "a"], ["a", "a"], {"": None}, {"kind": "other"}, {"a": {"b": [{}]}}, _DEEP),
)
#: What means something of its own in YAML.
_YAML = (
    *("!!python/object/apply:os.system ['true']", "!!timestamp x", "!!binary ///", "&a [*a]", "<<: *a", "? [a] : b"),
    *("!!int x", "0x_", "1__0", "!!float .", "1:99:99", "=", "2001-99-99", "!!set {a}", "!!omap [a]", "*nothing"),
    *("!!null x", "!<!> x", "%YAML 9.9", "---\n---", "...", "'", '"\\xzz"', "|9\n x", "- - - -", "\t", "@", "`", "!"),
    *("[" * 30_000, "{a: " * 2000, "9" * 5000, "a: &a x\nb: [*a, *a]", "!!str [x]", "!!bool maybe", "\ufeff", "\x85"),
    "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(f"{b}: &{b} [{','.join(f'*{a}' for _ in range(9))}]\n"
                                             for a, b in zip("abcdefgh", "bcdefghi", strict=True)),
)  # fmt: skip
_BYTES = (
    *(b"\0", b"\xff\xfe", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\r", b"\n", b"\n\n", b" ", b"\t"),
    *(b",", b'"', b"'", b"[", b"]", b"{", b"}", b"-1", b"NaN", b"1e999", b"9" * 5000, b"[" * 5000, b'{"a":' * 3000),
)


def change_bytes(draw: random.Random, content: bytes) -> bytes:
    """The content with one to three changes anywhere in it."""
    for _ in range(draw.choice((1, 1, 2, 3))):
        at, end = sorted((draw.randint(0, len(content)), draw.randint(0, len(content))))
        content = _changed(draw, content, at, min(end, at + 200))
    return content


def _changed(draw: random.Random, content: bytes, at: int, end: int) -> bytes:
    before, some, after = content[:at], content[at:end], content[end:]
    way = draw.randrange(8)
    if way in (0, 1):
        return _flipped(draw, content, at if way else at // 50)  # headers decide most
    if way == 2:
        return _other_number(draw, content)
    if way == 3:
        return before
    if way == 4:
        return before + after
    more = {5: bytes(draw.randrange(256) for _ in range(8)), 6: draw.choice(_BYTES), 7: some * draw.choice((1, 30))}
    return before + more[way] + some + after


def _flipped(draw: random.Random, content: bytes, at: int) -> bytes:
    if at >= len(content):
        return content
    return content[:at] + bytes([content[at] ^ 1 << draw.randrange(8)]) + content[at + 1 :]


def _other_number(draw: random.Random, content: bytes) -> bytes:
    places = [match.span() for match in re.finditer(rb"\d+", content[:20_000])]
    if not places:
        return content
    start, end = draw.choice(places)
    number = draw.choice((b"0", b"-1", b"2147483648", b"18446744073709551616", b"9" * 400, b"1e9", b"0.5", b""))
    return content[:start] + number + content[end:]


def change_value(draw: random.Random, value: Any) -> Any:
    """A copy of JSON-like values in which one to three are others, are missing, or have another name."""
    root = [copy.deepcopy(value)]
    for _ in range(draw.choice((1, 1, 2, 3))):
        places = list(_places(root))
        holder, key = draw.choice(places)
        action = draw.randrange(6)
        if action == 0 and holder is not root:
            del holder[key]
        elif action == 1 and isinstance(holder, dict):
            holder[draw.choice(("", "x", "name", "\ud800", "1", "x" * 5000))] = holder.pop(key)
        elif action == 2 and holder is not root:
            other, there = draw.choice(places)
            holder[key] = copy.deepcopy(other[there])
        else:
            holder[key] = copy.deepcopy(draw.choice(ODD))
    return root[0]


def _places(holder: Any) -> Any:
    """Every place in nested lists and mappings, as what holds it and its key there."""
    for key in list(holder) if isinstance(holder, dict) else range(len(holder)):
        yield holder, key
        if isinstance(holder[key], dict | list):
            yield from _places(holder[key])


def as_json(draw: random.Random, value: Any) -> bytes:
    """Values as JSON, with nesting and numbers where they stand for such."""
    depth = draw.choice((60, 900, 100_000))
    text = json.dumps(value, ensure_ascii=draw.random() < 0.5)
    text = text.replace(f'"{_DEEP}"', "[" * depth + "]" * depth).replace(f'"{_DIGITS}"', "9" * 6000)
    return text.encode(errors="surrogatepass")


def json_like(draw: random.Random, value: Any) -> bytes:
    """A JSON file that is wrong in its values, in its bytes, or in both."""
    way = draw.randrange(4)
    content = as_json(draw, value if way == 0 else change_value(draw, value))
    return change_bytes(draw, content) if way in (0, 1) else content


def yaml_like(draw: random.Random, value: Any) -> bytes:
    """A YAML file that is wrong in its values, in its bytes, or by what YAML alone can say."""
    import yaml

    way = draw.randrange(5)
    changed = value if way < 2 else change_value(draw, value)
    content = as_json(draw, changed)
    if draw.random() < 0.5 and _DEEP not in str(changed) and _DIGITS not in str(changed):
        content = yaml.safe_dump(changed, allow_unicode=True, sort_keys=False).encode(errors="surrogatepass")
    if way == 1:
        at = draw.choice([0, *(match.end() for match in re.finditer(rb"[:\n,\[] ?", content)), len(content)])
        return content[:at] + draw.choice(_YAML).encode() + content[at:]
    return change_bytes(draw, content) if way in (0, 2) else content
