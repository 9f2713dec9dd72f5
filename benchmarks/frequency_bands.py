"""How frequent are the words of the English lexicons? Prints src/tiltmeter/stimuli/lexicon/frequency_en.txt.

Run: python benchmarks/frequency_bands.py

GloVe 6B lists words by frequency. The bands are those of the neutral words: ranks below 2,000, 6,000 and 15,000, and
beyond. A word that GloVe does not have is left out: how frequent it is is not known.
"""

from __future__ import annotations

import textwrap
from bisect import bisect_right

from tiltmeter.models.registry import SAMPLES
from tiltmeter.models.static.static_vectors import _from_parquet
from tiltmeter.stimuli.lexicon.lexicon import lexicon_names, load_lexicon

LIMITS = (2_000, 6_000, 15_000)


def main() -> None:
    lexicons = [load_lexicon(name) for name in lexicon_names() if not name.startswith("neutral")]
    words = {
        word.lower()
        for lexicon in lexicons
        if lexicon.language == "en"
        for group in lexicon.groups.values()
        for word in group.texts
    }
    words |= {
        word.lower()
        for lexicon in lexicons
        if lexicon.language == "en"
        for pairs in lexicon.pairs.values()
        for pair in pairs.pairs
        for word in pair
    }
    folder = SAMPLES["glove"].folder()
    assert folder is not None, "bundled:glove is not installed"
    _, rank = _from_parquet(folder / "data" / "glove_6B_index.parquet", words)
    bands: dict[int, list[str]] = {}
    for word in sorted(words & rank.keys()):
        bands.setdefault(1 + bisect_right(LIMITS, rank[word]), []).append(word)
    print(
        "# Words of the English lexicons by their band of frequency: ranks in GloVe 6B below 2,000, 6,000 and 15,000,"
    )
    print("# 15,000, and beyond (Pennington, Socher and Manning, 2014, EMNLP). Made by benchmarks/frequency_bands.py.")
    for band, members in sorted(bands.items()):
        for line in textwrap.wrap(" ".join(members), 116):
            print(band, line)


if __name__ == "__main__":
    main()
