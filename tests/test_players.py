"""Players: legal and uniform at random, the race by its definition, nets by their equities."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest
import torch

from nardy_rl.encoding import Encoding, encode
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.net import ValueNet
from nardy_rl.players import (
    NetPlayer,
    PipsPlayer,
    Player,
    RandomPlayer,
    make_player,
    make_valuer,
    rules_of,
)
from nardy_rl.players.baselines import _SHOTS
from nardy_rl.rules import (
    LegalAfterstates,
    Position,
    Rules,
    legal_afterstates,
    set_threads,
    variant,
    variants,
)
from nardy_rl.search import Lookahead, best_rows
from nardy_rl.train.checkpoint import save_checkpoint
from tests.reachable import play_turns

every_variant = pytest.mark.parametrize("name", variants())
KEYS = np.random.default_rng(5).integers(0, 2**64, 4096, dtype=np.uint64)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    """torch's threads wait for each other at every layer: beside other tests that costs minutes."""
    set_threads(1)
    yield
    set_threads(0)


def new_net(rules: Rules, hidden: tuple[int, ...] = (12,), seed: int = 1) -> ValueNet:
    generator = torch.Generator().manual_seed(seed)
    net = ValueNet(Encoding.of(rules).size, hidden, rules.outcomes, generator)
    with torch.no_grad():
        # Fresh nets are nearly indifferent; a player should have opinions.
        list(net.parameters())[-2].mul_(10.0)
    return net


@lru_cache
def decisions_of(name: str) -> tuple[Decisions, np.ndarray]:
    """Some hundred decisions from the start to the end of games, and their rolls."""
    rules = variant(name)
    turns = play_turns(rules, games=10, turns=112, rng=np.random.default_rng(3))
    kept = list(itertools.islice(turns, 0, None, 8))
    points = np.concatenate([turn.points for turn in kept])
    rolls = np.concatenate([turn.rolls for turn in kept])
    flags = np.concatenate([turn.flags for turn in kept]) & np.uint8(rules.flag_mask)
    legal = legal_afterstates(rules, points, rolls, flags=flags)
    after = (flags & np.uint8(254)).astype(np.uint8)
    return Decisions(points, after, np.zeros_like(after), legal), rolls


def choose(player: Player, decisions: Decisions, rolls: np.ndarray) -> np.ndarray:
    return player.choose(decisions, rolls, KEYS[: len(rolls)])


def decision(position: Position, roll: tuple[int, int]) -> tuple[Decisions, np.ndarray]:
    """A batch of one."""
    rolls = np.array([roll], np.int8)
    flags = np.array([position.flags], np.uint8)
    legal = legal_afterstates(position.rules, position.points[None], rolls, flags=flags)
    played = flags & np.uint8(254)
    return Decisions(position.points[None].copy(), played, np.zeros(1, np.uint8), legal), rolls


@every_variant
@pytest.mark.parametrize("kind", ["random", "pips", "net"])
def test_every_choice_is_one_of_the_decisions_own_results(name: str, kind: str) -> None:
    rules = variant(name)
    player = NetPlayer(rules, new_net(rules)) if kind == "net" else make_player(kind, rules)
    decisions, rolls = decisions_of(name)
    rows = choose(player, decisions, rolls)
    assert rows.dtype == np.int64
    assert (rows >= decisions.legal.offsets[:-1]).all()
    assert (rows < decisions.legal.offsets[1:]).all()
    assert (rows == choose(player, decisions, rolls)).all()


def test_random_is_uniform_and_follows_its_key() -> None:
    start = Position.start(variant("backgammon"))
    one, _ = decision(start, (3, 1))
    count, copies = len(one.legal.after), len(KEYS)
    many = Decisions(
        np.repeat(one.points, copies, 0),
        np.repeat(one.flags, copies),
        np.repeat(one.pending, copies),
        LegalAfterstates(
            np.tile(one.legal.after, (copies, 1, 1)),
            np.arange(copies + 1) * count,
            np.repeat(one.legal.dice_used, copies),
        ),
    )
    rows = RandomPlayer().choose(many, np.ones((copies, 2), np.int8), KEYS)
    index = rows - many.legal.offsets[:-1]
    seen = np.bincount(index, minlength=count)
    assert ((seen - copies / count) ** 2 / (copies / count)).sum() < 40  # 15 degrees of freedom
    backwards = RandomPlayer().choose(many, np.ones((copies, 2), np.int8), KEYS[::-1].copy())
    assert (backwards - many.legal.offsets[:-1] == index[::-1]).all()


def race_order(rules: Rules, board: np.ndarray) -> tuple[int, ...]:
    """What `PipsPlayer` says it looks at, written from its docstring; greater is better."""
    mine, his = board.astype(int)
    lead = 36 * int((np.arange(26) * (abs(his) - abs(mine))).sum())
    for point in range(1, 25):
        if rules.contact == "hit" and mine[point] == 1:
            behind = [q + point - 25 for q in range(26) if his[q] and q + point > 25]
            hits = sum(_hits(one, two, min(behind)) for one, two in _ROLLS) if behind else 0
            lead -= (25 - point) * hits
    return (lead, mine[0], *(-mine[25:0:-1]))


_ROLLS = list(itertools.product(range(1, 7), repeat=2))


def _hits(die1: int, die2: int, distance: int) -> bool:
    steps = [die1] * 4 if die1 == die2 else [die1, die2]
    return distance in (*itertools.accumulate(steps), die1, die2)


@every_variant
def test_pips_takes_the_best_by_its_own_rule(name: str) -> None:
    rules = variant(name)
    decisions, rolls = decisions_of(name)
    rows = choose(PipsPlayer(rules), decisions, rolls)
    for b, (low, high) in enumerate(itertools.pairwise(decisions.legal.offsets)):
        orders = [race_order(rules, board) for board in decisions.legal.after[low:high]]
        assert orders[rows[b] - low] == max(orders)


def pips_plays(position: Position, roll: tuple[int, int]) -> np.ndarray:
    decisions, rolls = decision(position, roll)
    after: np.ndarray = decisions.legal.after
    return after[choose(PipsPlayer(position.rules), decisions, rolls)[0]]


def test_pips_brings_up_the_rear() -> None:
    start = Position.from_points(variant("long_nardy"), me={24: 14, 15: 1}, opp={24: 15})
    assert pips_plays(start, (2, 1))[0, [24, 21, 15]].tolist() == [13, 1, 1]


def test_pips_bears_off_rather_than_fill_up() -> None:
    rules = variant("long_nardy")
    position = Position.from_points(rules, me={6: 2, 3: 2}, me_off=11, opp={24: 15})
    assert pips_plays(position, (3, 3))[0, [0, 6]].tolist() == [14, 1]


def test_pips_hits_where_it_gains() -> None:
    position = Position.from_points(
        variant("backgammon"), me={24: 2, 6: 8, 8: 5}, opp={5: 1, 4: 2, 3: 12}
    )
    assert pips_plays(position, (4, 2))[1, 25] == 1


def test_shots_on_an_open_road() -> None:
    known = {1: 11, 2: 12, 3: 14, 4: 15, 5: 15, 6: 17, 7: 6, 8: 6, 9: 5, 10: 3, 11: 2, 12: 3}
    known |= {15: 1, 16: 1, 18: 1, 20: 1, 24: 1}
    assert {distance: n for distance, n in enumerate(_SHOTS.tolist()) if n} == known


@pytest.mark.parametrize("hidden", [(12,), (16, 8)])
@pytest.mark.parametrize("name", ["long_nardy_draw", "backgammon"])
def test_a_net_takes_the_best_equity_and_final_scores_exactly(
    name: str, hidden: tuple[int, ...]
) -> None:
    rules = variant(name)
    net = new_net(rules, hidden)
    decisions, rolls = decisions_of(name)
    legal = decisions.legal
    computed = "auto" if len(hidden) == 1 else "float32"
    rows = choose(NetPlayer(rules, net, evaluator=computed, bearoff=False),
                  decisions, rolls)  # fmt: skip
    flags = np.repeat(decisions.flags, np.diff(legal.offsets))
    equity = net.equity(torch.from_numpy(encode(rules, legal.after, flags))).detach().numpy()
    ended = 0
    for b, (low, high) in enumerate(itertools.pairwise(legal.offsets)):
        worth = equity[low:high].copy()
        for i, board in enumerate(legal.after[low:high]):
            outcome = Position(rules, board, int(decisions.flags[b]), moved=True).outcome()
            if outcome is not None:
                worth[i], ended = outcome.score, ended + 1
        assert worth[rows[b] - low] >= worth.max() - 1e-5
    assert ended, "some decisions end the game"


# Widths in whole cache lines, as those of the deep nets in the configs: with others, rows lie at
# changing alignments, and MKL's product for few outputs rounds by them.
@pytest.mark.parametrize("hidden", [(160,), (48, 32)])
@pytest.mark.parametrize("evaluator", ["float32", "bfloat16"])
def test_a_dense_net_values_and_chooses_alike_in_any_company(
    hidden: tuple[int, ...], evaluator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = variant("backgammon")
    player = NetPlayer(rules, new_net(rules, hidden), evaluator=evaluator, bearoff=False)
    distributions, seen = player.evaluator.distributions, []

    def watched(decisions: Decisions) -> np.ndarray:
        seen.append(distributions(decisions).copy())
        return seen[-1]

    monkeypatch.setattr(player.evaluator, "distributions", watched)
    decisions, rolls = decisions_of("backgammon")
    together = choose(player, decisions, rolls) - decisions.legal.offsets[:-1]
    for b in range(0, len(rolls), 7):
        low, high = decisions.legal.offsets[b : b + 2]
        alone = Decisions(
            decisions.points[b : b + 1],
            decisions.flags[b : b + 1],
            decisions.pending[b : b + 1],
            LegalAfterstates(
                decisions.legal.after[low:high],
                np.array([0, high - low]),
                decisions.legal.dice_used[b : b + 1],
            ),
        )
        assert choose(player, alone, rolls[b : b + 1]) == together[b]
        assert (seen[-1][: high - low] == seen[0][low:high]).all(), "to the last bit"


def saved(parent: Path, rules: Rules, games: int = 300) -> Path:
    return save_checkpoint(
        parent, net=new_net(rules, (6,)), rules=rules, config={}, card={}, games=games
    )


def test_a_checkpoint_plays_by_its_path_or_its_runs(tmp_path: Path) -> None:
    rules = variant("long_nardy", head_rule="strict")
    saved(tmp_path / "checkpoints", rules, games=100)
    newest = saved(tmp_path / "checkpoints", rules)
    of_run, by_path = make_player(f"{tmp_path}/", rules), make_player(str(newest), rules)
    assert of_run.name == f"{tmp_path} (games-000000300)"
    assert by_path.name == str(newest)
    assert rules_of(str(tmp_path)) == rules
    assert rules_of("pips") is None
    # Only the name differs: the same game.
    saved(tmp_path / "draw", variant("long_nardy_draw"))
    again = tmp_path / "draw" / "games-000000300"
    make_player(str(again), variant("long_nardy", last_roll="draw_half"))


def test_a_player_that_cannot_play_is_refused_in_one_line(tmp_path: Path) -> None:
    rules = variant("long_nardy")
    strict = str(saved(tmp_path, variant("long_nardy", head_rule="strict")))
    with pytest.raises(
        ConfigError, match=r"'pip' \(did you mean pips\?\); there are: random, pips"
    ):
        make_player("pip", rules)
    with pytest.raises(ConfigError, match="unknown player ''"):
        make_player("", rules)
    with pytest.raises(CheckpointError, match="runs/none: there is no such folder"):
        make_player("runs/none", rules)
    with pytest.raises(CheckpointError, match=r"with head_rule=strict, not .*head_rule=classic"):
        make_player(strict, rules)
    with pytest.raises(CheckpointError, match="a net for long_nardy, not backgammon"):
        make_player(strict, variant("backgammon"))
    with pytest.raises(ConfigError, match="evaluator='fast'"):
        make_player(strict, variant("long_nardy", head_rule="strict"), evaluator="fast")


def test_how_far_a_player_looks_is_part_of_its_name(tmp_path: Path) -> None:
    rules = variant("long_nardy")
    path = str(saved(tmp_path, rules))
    decisions, rolls = decisions_of("long_nardy")
    player = make_player(f"{path}@1ply", rules)
    assert player.name == f"{path}@1ply"
    assert rules_of(f"{path}@rollout") == rules
    few = slice(0, 3)
    legal = legal_afterstates(rules, decisions.points[few], rolls[few], flags=decisions.flags[few])
    asked = Decisions(decisions.points[few], decisions.flags[few], decisions.pending[few], legal)
    best = best_rows(Lookahead(rules, make_valuer(path, rules), 1).equities(asked), legal.offsets)
    assert (player.choose(asked, rolls[few], KEYS[few]) == best).all()
    ahead = make_valuer(f"{path}@1ply", rules).equities(asked)
    assert (ahead == Lookahead(rules, make_valuer(path, rules), 1).equities(asked)).all()
    assert make_player(f"{path}@0ply", rules).name == path
    assert make_player(f"{path}@rollout", rules).name == f"{path}@rollout"
    # A folder whose own name looks like that is the folder.
    renamed = tmp_path / "bot@1ply"
    Path(path).rename(renamed)
    assert make_player(str(renamed), rules).name == str(renamed)


def test_a_way_to_look_that_is_not_there_is_refused(tmp_path: Path) -> None:
    rules = variant("long_nardy")
    path = str(saved(tmp_path, rules))
    with pytest.raises(ConfigError, match="pips does not look ahead"):
        make_player("pips@1ply", rules)
    with pytest.raises(ConfigError, match="4 plies are not allowed; allowed: 0 to 3"):
        make_player(f"{path}@4ply", rules)
    with pytest.raises(ConfigError, match="pips@ply: @ply is no way to look ahead"):
        make_player("pips@ply", rules)
    with pytest.raises(ConfigError, match=r"@rolout is no way .* @0ply to @3ply and @rollout"):
        make_player(f"{path}@rolout", rules)
    with pytest.raises(ConfigError, match="random has no equities"):
        make_valuer("random", rules)


def test_nets_know_the_ends_of_games_exactly() -> None:
    rules = variant("backgammon")
    place = Position.from_points(rules, me={3: 1, 1: 2}, opp={1: 2}, me_off=12, opp_off=13)
    legal = legal_afterstates(rules, place.points[None], np.array([[2, 1]], np.int8))
    nothing = np.zeros(1, np.uint8)
    asked = Decisions(place.points[None], nothing, nothing, legal)
    net = new_net(rules)
    equities = [
        make.evaluator.distributions(asked) @ np.array(rules.outcomes, np.float32)
        for make in (NetPlayer(rules, net), NetPlayer(rules, net, bearoff=False))
    ]
    # The opponent takes his two off whatever he throws.
    np.testing.assert_allclose(equities[0], -1.0, atol=1e-6)
    assert (np.abs(equities[1] + 1.0) > 0.01).all()
