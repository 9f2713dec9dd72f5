"""An effect computed again from the items of its reading, by what the reading says of its statistic."""

from __future__ import annotations

import numpy as np

from tiltmeter.readings import Item, Reading


def effect_from_items(reading: Reading) -> float:
    statistic = reading.statistic
    assert statistic is not None
    counted = [item for item in reading.items if None not in [item.get(column) for column in statistic.of]]
    columns = np.array([[item.get(column) for column in statistic.of] for item in counted], dtype=float).T
    if statistic.name == "mean":
        return float(columns[0].mean())
    if statistic.name == "pearson":
        return float(np.corrcoef(*columns)[0, 1])
    if statistic.name == "mean of units":
        return float(np.mean(unit_means(counted, statistic.of[0])))
    assert statistic.name == "d of units"
    one, two = (
        unit_means([item for item in counted if item.group == group], statistic.of[0]) for group in statistic.between
    )
    return float((np.mean(one) - np.mean(two)) / np.std([*one, *two], ddof=1))


def unit_means(items: list[Item], column: str) -> list[float]:
    return [
        float(np.mean([item.get(column) for item in items if item.unit == unit]))
        for unit in dict.fromkeys(item.unit for item in items)
    ]
