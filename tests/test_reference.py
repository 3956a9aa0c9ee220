"""The slow reference against the recorded cases and counts, and the kernels against it."""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest

from nardy_rl.rules import Rules, legal_afterstates, variant
from tests.case_files import Case, read_cases
from tests.comparison import FAMILIES, compare, compare_batch, nearly_walls
from tests.reachable import MINE_FIRST, start_points
from tests.reference import reference_afterstates, reference_outcome

ROLLS = list(combinations_with_replacement(range(1, 7), 2))

BACKGAMMON_OPENINGS = (
    "11:42 21:15 22:75 31:16 32:17 33:73 41:14 42:18 43:17 44:52 51:8 52:8 53:9 54:9 55:4 "
    "61:10 62:14 63:14 64:14 65:7 66:11"
)

STRETCHES = {
    "long_nardy": 3,
    "backgammon": 2,
    "nackgammon": 1,
    "hypergammon": 1,
    "mad_gyulbar": 1,
    "gul_bara": 1,
    "fevga": 1,
    "moultezim": 1,
    "plakoto": 1,
}
PARTS, GAMES, TURNS = 4, 4, 200
"""A stretch is long enough for every manner of play to finish games and start new ones."""


@pytest.mark.parametrize("case", read_cases(), ids=lambda case: case.name)
def test_reference_gives_the_recorded_results(case: Case) -> None:
    results, dice_used = reference_afterstates(
        case.rules, case.me, case.opp, case.roll, case.first_turn
    )
    assert (len(results), dice_used) == (case.count, case.dice_used)
    if case.after_me is not None:
        mine = [
            sorted((place, count) for place, count in enumerate(me) if place and count)
            for me, _ in results
        ]
        assert sorted(mine) == sorted(sorted(after.items()) for after in case.after_me)


@pytest.mark.parametrize(
    ("options", "first_ply", "second_ply"),
    [({}, 22, 484), ({"head_rule": "strict"}, 21, 441), ({"head_rule": "any_double"}, 28, 770)],
    ids=str,
)
def test_long_nardy_start_counts(options: dict[str, str], first_ply: int, second_ply: int) -> None:
    """RULES.md section 1: results over the 21 rolls, of the first and of the second player."""
    rules = variant("long_nardy", **options)
    start = [0] * 24 + [15, 0]
    first = [
        after
        for roll in ROLLS
        for after in reference_afterstates(rules, start, start, roll, True)[0]
    ]
    replies = [
        after
        for me, opp in first
        for roll in ROLLS
        for after in reference_afterstates(rules, opp, me, roll, True)[0]
    ]
    assert (len(first), len(replies)) == (first_ply, second_ply)

    points = np.repeat(np.array([[start, start]], dtype=np.int8), len(ROLLS), axis=0)
    rolls = np.array(ROLLS, dtype=np.int8)
    found = legal_afterstates(rules, points, rolls, np.ones(len(ROLLS), dtype=bool))
    assert len(found.after) == first_ply
    turned = np.repeat(found.after[:, ::-1], len(ROLLS), axis=0)
    found = legal_afterstates(
        rules, turned, np.tile(rolls, (first_ply, 1)), np.ones(len(turned), dtype=bool)
    )
    assert len(found.after) == second_ply


@pytest.mark.parametrize("head_exception", ["blocked_by_head", "always"])
@pytest.mark.parametrize(
    "head_rule", ["classic", "any_double_first", "any_double", "strict", "free"]
)
def test_kernels_agree_on_every_first_turn(head_rule: str, head_exception: str) -> None:
    """Every roll of the first player, every result, every roll of the second."""
    rules = variant("long_nardy", head_rule=head_rule, head_exception=head_exception)
    rolls = np.array(ROLLS, dtype=np.int8)
    points = np.repeat(start_points(rules)[None], len(rolls), axis=0)
    first_turn = np.full(len(rolls), MINE_FIRST, dtype=np.uint8)
    assert not compare_batch(rules, points, rolls, first_turn).disagreements

    first = np.unique(legal_afterstates(rules, points, rolls, flags=first_turn).after, axis=0)
    replies = np.repeat(first[:, ::-1], len(rolls), axis=0)
    rolls = np.tile(rolls, (len(first), 1))
    first_turn = np.full(len(rolls), MINE_FIRST, dtype=np.uint8)
    assert not compare_batch(rules, replies, rolls, first_turn).disagreements


@pytest.mark.parametrize("opening", BACKGAMMON_OPENINGS.split())
def test_backgammon_opening_counts(opening: str) -> None:
    dice, count = opening.split(":")
    roll = (int(dice[0]), int(dice[1]))
    rules = variant("backgammon")
    start = {24: 2, 13: 5, 8: 3, 6: 5}
    assert len(reference_afterstates(rules, start, start, roll, False)[0]) == int(count)
    row = [start.get(place, 0) for place in range(26)]
    found = legal_afterstates(
        rules, np.array([[row, row]], dtype=np.int8), np.array([roll], dtype=np.int8)
    )
    assert len(found.after) == int(count)


@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
@pytest.mark.parametrize("name", FAMILIES)
def test_kernels_agree_with_the_reference(name: str, part: int) -> None:
    triples = 0
    for stretch in range(STRETCHES[name]):
        for tally in compare(name, games=GAMES, turns=TURNS, seed=(part, stretch)):
            triples += tally.triples
            assert not tally.disagreements, tally.disagreements[0]
    # Fewer where a position is over by the options that judge it.
    assert triples >= 0.8 * STRETCHES[name] * GAMES * TURNS


@pytest.mark.parametrize("prime_wrap", ["opponent_path", "circular", "own_path"])
@pytest.mark.parametrize("prime_rule", ["ahead", "home", "forbid"])
def test_kernels_agree_on_nearly_walls(prime_rule: str, prime_wrap: str) -> None:
    rng = np.random.default_rng([ord(prime_rule[0]), ord(prime_wrap[0])])
    for prime_check in ("turn_end", "every_step"):
        rules = variant(
            "long_nardy", prime_rule=prime_rule, prime_wrap=prime_wrap, prime_check=prime_check
        )
        points = nearly_walls(160, rng)
        rolls = rng.integers(1, 7, size=(160, 2)).astype(np.int8)
        tally = compare_batch(rules, points, rolls, np.zeros(160, dtype=np.uint8))
        assert not tally.disagreements, tally.disagreements[0]


def test_the_comparison_is_as_large_as_promised() -> None:
    assert sum(STRETCHES.values()) * PARTS * GAMES * TURNS >= 20_000


@pytest.mark.parametrize(
    ("rules", "me", "opp", "started", "expected"),
    [
        (variant("long_nardy"), {}, {24: 15}, True, (2, 0.0)),
        (variant("long_nardy"), {}, {1: 14}, True, (1, 0.0)),
        (variant("long_nardy"), {1: 1}, {1: 1}, True, None),
        (variant("long_nardy"), {1: 3}, {}, True, (-1, 0.0)),
        (variant("long_nardy"), {7: 15}, {}, False, (-2, 0.0)),
        (variant("long_nardy", koks="first_quarter"), {}, {19: 1, 1: 14}, True, (3, 0.0)),
        (variant("long_nardy", koks="first_quarter"), {}, {18: 1, 1: 14}, True, (2, 0.0)),
        (variant("long_nardy", koks="none_home"), {}, {7: 15}, False, (3, 0.0)),
        (variant("long_nardy", koks="none_home"), {}, {7: 14, 6: 1}, False, (2, 0.0)),
        (variant("long_nardy_draw"), {}, {1: 4}, True, None),
        (variant("long_nardy_draw"), {}, {1: 5}, True, (1, 0.0)),
        (variant("long_nardy_draw"), {}, {1: 4}, False, (1, 0.0)),
        (variant("long_nardy_draw"), {1: 1}, {}, False, (-1, 0.0)),
        (variant("long_nardy_draw"), {}, {}, False, (0, 0.5)),
        (variant("long_nardy", last_roll="draw_one"), {}, {}, False, (0, 1.0)),
        (variant("backgammon"), {}, {25: 1, 1: 14}, True, (3, 0.0)),
        (variant("backgammon"), {}, {19: 1, 1: 14}, True, (3, 0.0)),
        (variant("backgammon"), {}, {18: 1, 1: 14}, True, (2, 0.0)),
        (variant("backgammon"), {}, {25: 1, 1: 13}, True, (1, 0.0)),
        (variant("tavla"), {}, {25: 1, 1: 14}, True, (2, 0.0)),
        (variant("hypergammon"), {}, {24: 1, 1: 2}, True, (3, 0.0)),
        (variant("hypergammon"), {}, {24: 1, 1: 1}, True, (1, 0.0)),
    ],
)
def test_reference_outcome(
    rules: Rules,
    me: dict[int, int],
    opp: dict[int, int],
    started: bool,
    expected: tuple[int, float] | None,
) -> None:
    assert reference_outcome(rules, me, opp, started) == expected
