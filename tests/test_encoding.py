"""The encoder against its definition, written out slowly, on boards of every kind."""

import numpy as np
import pytest

from nardy_rl.encoding import Encoding, encode, encode_chosen
from nardy_rl.rules import parallel
from nardy_rl.rules.record import variant

CASES = [
    ("long_nardy", {}, 2 * 24 * 4 + 2 + 2),
    ("long_nardy", {"head_rule": "strict"}, 2 * 24 * 4 + 2),
    ("long_nardy", {"head_rule": "any_double_first"}, 2 * 24 * 4 + 2 + 2),
    ("long_nardy_draw", {}, 2 * 24 * 4 + 2 + 3),
    ("backgammon", {}, 2 * 24 * 4 + 4),
    ("hypergammon", {}, 2 * 24 * 4 + 4),
]


def encode_reference(rules, points, flags):
    """One row, by the definition: name -> value for every unit."""
    units = {}
    for side, who in enumerate(("me", "opponent")):
        for point in range(1, 25):
            count = int(points[side, point])
            for level in (1, 2, 3):
                units[f"{who} {point} >= {level}"] = float(count >= level)
            units[f"{who} {point} beyond 3, halved"] = max(0, count - 3) / 2
        if rules.contact == "hit":
            units[f"{who} bar"] = points[side, 25] / 2
        units[f"{who} off"] = float(points[side, 0] * np.float32(1 / rules.checkers))
    if rules.contact == "block" and rules.head_rule in ("classic", "any_double_first"):
        units["my first turn to come"] = float(flags & 1)
        units["opponent's first turn to come"] = float(flags >> 1 & 1)
    if rules.last_roll != "none":
        units["I started the game"] = float(flags >> 2 & 1)
    return units


def random_boards(checkers, count, seed):
    """Boards with checkers thrown anywhere, bar and off included, and any flags."""
    random = np.random.default_rng(seed)
    points = np.zeros((count, 2, 26), np.int8)
    for board in points:
        for side in board:
            spread = random.integers(1, 27)
            places = random.integers(0, 26, spread)
            np.add.at(side, random.choice(places, checkers), 1)
    return points, random.integers(0, 8, count).astype(np.uint8)


@pytest.mark.parametrize(("name", "options", "size"), CASES)
def test_rows_are_the_definition(name, options, size):
    rules = variant(name, **options)
    encoding = Encoding.of(rules)
    points, flags = random_boards(rules.checkers, 200, seed=3)
    rows = encode(rules, points, flags)
    assert rows.shape == (200, size)
    assert rows.dtype == np.float32
    for row, board, flag in zip(rows, points, flags, strict=True):
        expected = encode_reference(rules, board, int(flag))
        assert dict(zip(encoding.names, row, strict=True)) == expected


@pytest.mark.parametrize(("name", "options", "size"), CASES)
def test_arrays_describe_the_same_units(name, options, size):
    encoding = Encoding.of(variant(name, **options))
    owned: list[int] = []
    for side in range(2):
        for location in range(26):
            width = {0: 0, 1: 4, 2: 1}[int(encoding.kind[side, location])]
            first = int(encoding.base[side, location])
            assert (first == -1) == (width == 0)
            owned += range(first, first + width)
    owned += [unit for unit in encoding.flag_units if unit >= 0]
    assert sorted(owned) == list(range(size))
    assert len(set(encoding.names)) == encoding.size == size


def test_threads_do_not_change_rows():
    rules = variant("backgammon")
    points, flags = random_boards(15, 9000, seed=5)
    try:
        parallel.set_threads(1)
        one = encode(rules, points, flags)
        parallel.set_threads(3)
        three = encode(rules, points, flags)
    finally:
        parallel.set_threads(0)
    np.testing.assert_array_equal(one, three)


def test_chosen_rows_overwrite_a_used_buffer():
    rules = variant("long_nardy")
    encoding = Encoding.of(rules)
    points, flags = random_boards(15, 50, seed=7)
    chosen = np.array([4, 49, 4, 0])
    buffer = np.full((4, encoding.size), np.nan, np.float32)
    encode_chosen(encoding, points, flags, chosen, buffer)
    np.testing.assert_array_equal(buffer, encode(encoding, points[chosen], flags[chosen]))


def test_equal_rules_share_one_encoding():
    assert Encoding.of(variant("long_nardy")) is Encoding.of(variant("long_nardy"))


def test_bad_arguments_are_named():
    rules = variant("backgammon")
    points, flags = random_boards(15, 3, seed=1)
    with pytest.raises(ValueError, match=r"points: shape \(3, 26\)"):
        encode(rules, points[:, 0], flags)
    with pytest.raises(ValueError, match=r"flags: shape \(2,\), expected \(3,\)"):
        encode(rules, points, flags[:2])
    with pytest.raises(ValueError, match="pending"):
        encode(rules, points, flags, np.ones(3, np.uint8))
