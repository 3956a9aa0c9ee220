"""Every variant learns: its smoke run, from nothing, beats random (`make smoke`)."""

from __future__ import annotations

from pathlib import Path

import pytest

from nardy_rl import cli
from nardy_rl.arena import play_match
from nardy_rl.players import RandomPlayer, make_player
from nardy_rl.rules import variant, variants

pytestmark = pytest.mark.smoke


@pytest.mark.parametrize("name", variants())
def test_the_smoke_run_beats_random(name: str, tmp_path: Path) -> None:
    run = tmp_path / "run"
    words = [f"variant={name}", "experiment=smoke", "eval=none", f"hydra.run.dir={run}"]
    assert cli.main(["train", *words]) == 0
    rules = variant(name)
    # Few checkers leave little to choose, so little to win, and much noise.
    games = 4000 if rules.checkers == 15 else 40_000
    result = play_match(rules, make_player(str(run), rules), RandomPlayer(), games, seed=11)
    assert result.ppg.value > 4 * result.ppg.se
