"""How strong a net in training is: matches against fixed opponents on always the same dice."""

from __future__ import annotations

from collections.abc import Sequence

from nardy_rl.arena.match import PLY_CAP, play_match
from nardy_rl.arena.result import MatchResult
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.players import NetPlayer, make_player
from nardy_rl.rules.record import Rules


class Evaluation:
    """Measures nets: `evaluation(net, games)` plays a match against each opponent.

    Made by `evaluation`. What it returns is what `train.loop.Evaluate` asks for: figures by
    `OPPONENT/NAME`, the opponent as it was named, the names of `MatchResult.figures`.

    Attributes:
        results: of the last call, a match for each opponent.
    """

    def __init__(
        self, rules: Rules, opponents: Sequence[str], seed: int, ply_cap: int, evaluator: str
    ) -> None:
        self._rules = rules
        self._seed = seed
        self._ply_cap = ply_cap
        self._evaluator = evaluator
        self._opponents = {}
        for text in opponents:
            try:
                self._opponents[text] = make_player(text, rules)
            except (CheckpointError, ConfigError) as error:
                raise type(error)(f"eval.opponents: {error}") from error
        self.results: tuple[MatchResult, ...] = ()

    def __call__(self, net: ValueNet, games: int) -> dict[str, float]:
        """Play `games` games, rounded up to pairs, against each opponent."""
        player = NetPlayer(self._rules, net, "net", self._evaluator)
        self.results = tuple(
            play_match(self._rules, player, opponent, games, seed=self._seed, ply_cap=self._ply_cap)
            for opponent in self._opponents.values()
        )
        return {
            f"{text}/{name}": value
            for text, result in zip(self._opponents, self.results, strict=True)
            for name, value in result.figures().items()
        }


def evaluation(
    rules: Rules,
    opponents: Sequence[str] = ("random", "pips"),
    seed: int = 1,
    *,
    ply_cap: int = PLY_CAP,
    evaluator: str = "auto",
) -> Evaluation:
    """What `train.loop.train` takes as `evaluate`.

    Args:
        rules: of the game.
        opponents: as `make_player` takes them.
        seed: of the matches' dice, the same at every measurement, so that two measurements
            differ by the net alone.
        ply_cap: see `play_match`.
        evaluator: how the net is computed, see `inference.make_evaluator`.

    Raises:
        ConfigError, CheckpointError: an opponent that is not there or plays another game.
    """
    return Evaluation(rules, opponents, seed, ply_cap, evaluator)
