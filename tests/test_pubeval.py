"""pubeval: its published answers, its definition done slowly, and gnubg's copy of it."""

from __future__ import annotations

import itertools
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

from nardy_rl.arena import play_match
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.players import PubevalPlayer, RandomPlayer, make_player
from nardy_rl.players.pubeval import FINISHED, pubeval_score, pubeval_weights
from nardy_rl.rules import LegalAfterstates, Position, legal_afterstates, variant
from tests.reachable import play_turns

BACKGAMMON = variant("backgammon")
KEYS = np.zeros(4096, np.uint64)
SHARED = Path(__file__).parents[2] / "shared" / "pubeval"


@lru_cache
def decisions_of(name: str = "backgammon") -> tuple[Decisions, np.ndarray]:
    """A few hundred decisions from the start to the end of games, and their rolls."""
    rules = variant(name)
    turns = play_turns(rules, games=12, turns=120, rng=np.random.default_rng(8))
    kept = list(itertools.islice(turns, 0, None, 6))
    points = np.concatenate([turn.points for turn in kept])
    rolls = np.concatenate([turn.rolls for turn in kept])
    none = np.zeros(len(points), np.uint8)
    return Decisions(points, none, none, legal_afterstates(rules, points, rolls)), rolls


def reference_score(weights: list[float], board: np.ndarray) -> float:
    """The definition as README.md words it: pos[0..27], x[0..121], w . x."""
    mine, his = board.astype(int)
    pos = [-his[25], *(mine[p] - his[25 - p] for p in range(1, 25)), mine[25], mine[0], -his[0]]
    if pos[26] == 15:
        return FINISHED
    x = [0.0] * 122
    for i in range(24):
        n = pos[24 - i]
        x[5 * i : 5 * i + 5] = [n == -1, n == 1, n >= 2, n == 3, (n - 3) / 2 if n >= 4 else 0]
    x[120], x[121] = -pos[0] / 2, pos[26] / 15
    return sum(w * value for w, value in zip(weights, x, strict=True))


def reference_scores(decisions: Decisions) -> np.ndarray:
    contact, race = (weights.tolist() for weights in pubeval_weights())
    scores = []
    for b, (mine, his) in enumerate(decisions.points):
        low, high = decisions.legal.offsets[b : b + 2]
        met = any(mine[p] and his[q] and p + q > 25 for p in range(1, 26) for q in range(1, 26))
        for row in range(low, high):
            scores.append(reference_score(contact if met else race, decisions.legal.after[row]))
    return np.array(scores)


def board_of(mine: dict[int, int], his: dict[int, int]) -> np.ndarray:
    board = np.zeros((2, 26), np.int8)
    for side, counts in enumerate((mine, his)):
        for place, count in counts.items():
            board[side, place] = count
        board[side, 0] = 15 - board[side].sum()
    return board


def test_the_weights_are_the_published_ones() -> None:
    weights = pubeval_weights()
    for name, theirs in weights._asdict().items():
        assert theirs.shape == (122,)
        if SHARED.is_dir():
            assert (theirs == np.loadtxt(SHARED / f"{name}.txt")).all()
    assert weights.contact.sum() == pytest.approx(-6.72565, abs=1e-5)
    assert weights.race.sum() == pytest.approx(-31.29905, abs=1e-5)


@pytest.mark.parametrize(
    ("roll", "play", "score"),
    [
        ((3, 1), "8/5 6/5", 10.34312),
        ((3, 1), "24/23 13/10", 6.61369),
        ((6, 5), "24/13", 8.01652),
        ((6, 1), "13/7 8/7", 8.71917),
        ((4, 2), "8/4 6/4", 9.50657),
        ((2, 1), "13/11 6/5", 6.31827),
    ],
)
def test_known_answers_after_opening_plays(roll: tuple[int, int], play: str, score: float) -> None:
    start = Position.start(BACKGAMMON)
    legal = legal_afterstates(BACKGAMMON, start.points[None], [roll])
    none = np.zeros(1, np.uint8)
    scores = PubevalPlayer(BACKGAMMON).scores(Decisions(start.points[None], none, none, legal))
    wanted = next(p for p in start.plays(roll) if str(p) == play)
    row = int((legal.after == wanted.after.points).all((1, 2)).argmax())
    assert scores[row] == pytest.approx(score, abs=1e-5)


def test_known_answers_of_positions() -> None:
    weights = pubeval_weights()
    start = BACKGAMMON.start_points()
    assert pubeval_score(weights.contact, start) == pytest.approx(6.84055, abs=1e-5)
    race = board_of({6: 5, 5: 4, 4: 3, 3: 2, 2: 1}, {25 - p: 5 for p in (19, 20, 21)})
    assert pubeval_score(weights.race, race) == pytest.approx(14.65972, abs=1e-5)


def test_every_score_is_that_of_the_definition() -> None:
    decisions, rolls = decisions_of()
    player = PubevalPlayer(BACKGAMMON)
    expected = reference_scores(decisions)
    np.testing.assert_allclose(player.scores(decisions), expected, atol=1e-9)
    chosen = player.choose(decisions, rolls, KEYS[: len(rolls)])
    low, high = decisions.legal.offsets[:-1], decisions.legal.offsets[1:]
    assert (low <= chosen).all()
    assert (chosen < high).all()
    for b, row in enumerate(chosen):
        assert expected[row] == pytest.approx(expected[low[b] : high[b]].max(), abs=1e-9)


def test_the_position_before_the_move_chooses_the_weights() -> None:
    # The last two to pass: 13 and 12 stand on one point each, one pip apart.
    before = board_of({13: 2, 3: 13}, {13: 2, 3: 13})
    roll = (6, 6)
    legal = legal_afterstates(BACKGAMMON, before[None], [roll])
    none = np.zeros(1, np.uint8)
    scores = PubevalPlayer(BACKGAMMON).scores(Decisions(before[None], none, none, legal))
    passed = legal.after[:, 0, 8:].sum(1) == 0
    assert passed.any()
    contact, race = (w.tolist() for w in pubeval_weights())
    for row in np.flatnonzero(passed):
        by_contact = reference_score(contact, legal.after[row])
        assert abs(by_contact - reference_score(race, legal.after[row])) > 0.1
        assert scores[row] == pytest.approx(by_contact, abs=1e-9)


def test_gnubg_has_the_same_scores() -> None:
    gnubg = pytest.importorskip("gnubg_nn")
    decisions, _ = decisions_of()
    scores = PubevalPlayer(BACKGAMMON).scores(decisions)
    rows = np.flatnonzero(decisions.legal.after[:, 0, 0] < 15)[::7]
    theirs = [
        gnubg.pub_eval_score([mine[1:].tolist(), his[1:].tolist()])
        for mine, his in decisions.legal.after[rows]
    ]
    # gnubg chooses the weights by the position after the move: only where both agree.
    counts = np.diff(decisions.legal.offsets)
    met = np.repeat(farthest(decisions.points) > 25, counts) == (
        farthest(decisions.legal.after) > 25
    )
    assert met[rows].sum() > 500
    np.testing.assert_allclose(scores[rows][met[rows]], np.array(theirs)[met[rows]], atol=1e-4)


def farthest(points: np.ndarray) -> np.ndarray:
    """The farthest checkers' pips of both sides together, [N]; above 25 the sides still meet."""
    return (np.arange(26) * (points > 0)).max(2).sum(1)


def test_all_off_beats_everything() -> None:
    before = board_of({1: 1}, {25: 1, 6: 14})
    legal = legal_afterstates(BACKGAMMON, before[None], [(1, 2)])
    none = np.zeros(1, np.uint8)
    assert PubevalPlayer(BACKGAMMON).scores(Decisions(before[None], none, none, legal)) == FINISHED


def test_a_choice_depends_on_its_own_decision_alone() -> None:
    decisions, rolls = decisions_of()
    player = PubevalPlayer(BACKGAMMON)
    together = player.choose(decisions, rolls, KEYS[: len(rolls)])
    for b in range(0, len(rolls), 31):
        low, high = decisions.legal.offsets[b : b + 2]
        one = LegalAfterstates(
            decisions.legal.after[low:high],
            np.array([0, high - low]),
            decisions.legal.dice_used[b : b + 1],
        )
        alone = Decisions(
            decisions.points[b : b + 1], decisions.flags[:1], decisions.pending[:1], one
        )
        assert player.choose(alone, rolls[b : b + 1], KEYS[:1])[0] + low == together[b]


def test_against_itself_exactly_0_and_far_above_random() -> None:
    player = make_player("pubeval", BACKGAMMON)
    assert player.name == "pubeval"
    assert play_match(BACKGAMMON, player, player, 400, seed=3).ppg == (0.0, 0.0)
    against = play_match(BACKGAMMON, player, RandomPlayer(), 400, seed=3)
    assert against.ppg.value - 4 * against.ppg.se > 1.5


@pytest.mark.parametrize("name", ["nackgammon", "tavla"])
def test_relatives_of_backgammon_are_played(name: str) -> None:
    rules = variant(name)
    player = PubevalPlayer(rules)
    assert play_match(rules, player, player, 20, seed=1).games == 20


@pytest.mark.parametrize("name", ["long_nardy", "hypergammon"])
def test_other_games_are_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"pubeval does not play {name}; .*15 checkers"):
        make_player("pubeval", variant(name))
