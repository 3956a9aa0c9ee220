"""Games played whole are the games played in lockstep, to every decision."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from numpy.typing import NDArray

from nardy_rl.arena import play_match
from nardy_rl.arena.duel import kernels_of
from nardy_rl.inference import Decisions
from nardy_rl.players import NetPlayer, PipsPlayer, Player
from nardy_rl.rules import set_threads, variant, variants
from tests.test_players import new_net


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


class InLockstep(NetPlayer):
    """The same player, but not to be seen through."""

    def choose(
        self, decisions: Decisions, rolls: NDArray[np.int8], keys: NDArray[np.uint64]
    ) -> NDArray[np.int64]:
        return super().choose(decisions, rolls, keys)


@pytest.mark.parametrize("bearoff", [(True, True), (True, False), (False, False)])
@pytest.mark.parametrize("name", variants())
def test_a_duel_is_the_match_in_lockstep(name: str, bearoff: tuple[bool, bool]) -> None:
    rules = variant(name)
    nets = new_net(rules, (12,), seed=1), new_net(rules, (20,), seed=2)
    results = []
    for make in (NetPlayer, InLockstep):
        first, second = (
            make(rules, net, evaluator="kernel", bearoff=table)
            for net, table in zip(nets, bearoff, strict=True)
        )
        results.append(play_match(rules, first, second, 8, seed=3, ply_cap=150).played)
    whole, apart = results
    for ours, theirs in zip(whole, apart, strict=True):
        np.testing.assert_array_equal(ours, theirs)


def test_threads_and_blocks_decide_nothing() -> None:
    rules = variant("backgammon")
    players = NetPlayer(rules, new_net(rules)), NetPlayer(rules, new_net(rules, (8,), seed=5))
    once = play_match(rules, *players, 100, seed=1, ply_cap=400)
    set_threads(2)
    assert play_match(rules, *players, 100, seed=1, ply_cap=400, block_pairs=9) == once


def test_only_nets_of_one_hidden_layer_at_no_plies_duel() -> None:
    rules = variant("long_nardy")
    net = NetPlayer(rules, new_net(rules))
    assert kernels_of(rules, (net, net)) is not None
    others: list[Player] = [
        PipsPlayer(rules),
        InLockstep(rules, new_net(rules)),
        NetPlayer(rules, new_net(rules), plies=1),
        NetPlayer(rules, new_net(rules, (8, 8)), evaluator="float32"),
        NetPlayer(rules, new_net(rules), evaluator="float32"),
        NetPlayer(variant("long_nardy_draw"), new_net(variant("long_nardy_draw"))),
    ]
    for other in others:
        assert kernels_of(rules, (net, other)) is None
        assert kernels_of(rules, (other, net)) is None


def test_a_duel_can_be_stopped_and_tells_how_far_it_is() -> None:
    rules = variant("backgammon")
    player = NetPlayer(rules, new_net(rules))
    told: list[int] = []
    result = play_match(
        rules,
        player,
        player,
        1000,
        ply_cap=50,
        block_pairs=100,
        progress=told.append,
        should_stop=lambda: len(told) == 2,
    )
    assert told == [200, 400]
    assert result.played.score.size == 400
    assert result.ppg.value == 0 or result.games == 0
