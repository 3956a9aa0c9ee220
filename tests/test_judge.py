"""Judging: losses, reliability and Bellman residuals, against exact values worked out by hand."""

from __future__ import annotations

import itertools
import json
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import cli
from nardy_rl.encoding import Encoding
from nardy_rl.errors import ConfigError
from nardy_rl.inference import KernelEvaluator
from nardy_rl.judge import (
    Judgement,
    Sample,
    Sieve,
    as_data,
    bellman,
    blunders,
    calibration,
    clustered,
    judge_losses,
    judged,
    read_sample,
    reliability,
    root_mean_square,
    self_play_sample,
    write_report,
    write_sample,
)
from nardy_rl.judge import judges as judges_room
from nardy_rl.net import ValueNet
from nardy_rl.players import PipsPlayer, RandomPlayer, ValuerPlayer
from nardy_rl.rules import set_threads, variant
from nardy_rl.search import preroll_equities, turned
from nardy_rl.selfplay import collect
from nardy_rl.solve import ExactTable, solve
from nardy_rl.train.checkpoint import save_checkpoint
from nardy_rl.train.stopping import StopSignals
from tests.pip_values import PipValuer

RULES = variant("long_nardy_2")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("judge") / "table"
    assert solve(RULES, folder) is not None
    return folder


@pytest.fixture(scope="module")
def table(solved: Path) -> ExactTable:
    return ExactTable.load(solved, RULES)


@pytest.fixture(scope="module")
def net(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A checkpoint that knows nothing."""
    shape = (Encoding.of(RULES).size, (8,), RULES.outcomes)
    folder = tmp_path_factory.mktemp("judge") / "net"
    return save_checkpoint(folder, net=ValueNet(*shape), rules=RULES, config={}, card={})


@pytest.fixture(scope="module")
def sample() -> Sample:
    return self_play_sample(RULES, RandomPlayer(), 300, seed=5)


# Estimates.


def test_the_error_is_that_of_a_ratio_over_games() -> None:
    # Games 0 and 1 lose 3 in 2 and 1 in 1 decisions; the mean is 4/3, the sums less theirs are
    # 3 - 8/3 and 1 - 4/3, so the error is sqrt(2 * (1/9 + 1/9)) / 3.
    found = clustered([1.0, 2.0, 1.0], [7, 7, 9])
    assert found.value == pytest.approx(4 / 3)
    assert found.se == pytest.approx(2 / 3 / 3)
    assert np.isnan(clustered([], []).value)


def test_the_error_is_the_spread_of_repeated_means() -> None:
    rng = np.random.default_rng(1)
    means, errors, roots, root_errors = [], [], [], []
    for _ in range(400):
        lengths = rng.integers(1, 9, 60)
        games = np.repeat(np.arange(60), lengths)
        # What a game's decisions share is most of their spread; long games lose more.
        shared = rng.normal(0.1 * lengths, 1.0)
        values = shared[games] + rng.normal(0, 0.3, len(games))
        found, root = clustered(values, games), root_mean_square(values, games)
        means.append(found.value)
        errors.append(found.se)
        roots.append(root.value)
        root_errors.append(root.se)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.1)
    assert np.mean(root_errors) == pytest.approx(np.std(roots), rel=0.1)


# Decisions.


def test_fresh_decisions_are_the_games_of_the_player() -> None:
    player = PipsPlayer(RULES)
    found = self_play_sample(RULES, player, 400, seed=3)
    assert len(found) == 400
    decisions = found.decisions()
    rows = player.choose(decisions, found.rolls, found.keys)
    seen, flags = turned(RULES, decisions.legal.after[rows], decisions.flags)
    follows = np.flatnonzero(found.game[1:] == found.game[:-1])
    assert len(follows) > 300
    np.testing.assert_array_equal(seen[follows], found.points[follows + 1])
    np.testing.assert_array_equal(flags[follows], found.flags[follows + 1])
    first = np.flatnonzero(np.diff(found.game, prepend=-1))
    np.testing.assert_array_equal(
        found.points[first, 0], RULES.start_points()[:1].repeat(len(first), 0)
    )


def test_decisions_do_not_depend_on_threads() -> None:
    samples = []
    for threads in (1, 3):
        set_threads(threads)
        samples.append(self_play_sample(RULES, PipsPlayer(RULES), 500, seed=4, stray=0.2, one_in=3))
    set_threads(0)
    for one, other in zip(*(vars(s).values() for s in samples), strict=True):
        assert np.array_equal(one, other)


def test_one_in_keeps_some_and_strays_go_elsewhere() -> None:
    player = PipsPlayer(RULES)

    def rows(found: Sample) -> list[bytes]:
        return [a.tobytes() + b.tobytes() for a, b in zip(found.points, found.rolls, strict=True)]

    every = self_play_sample(RULES, player, 2500, seed=6)
    some = self_play_sample(RULES, player, 400, seed=6, one_in=5)
    assert set(rows(some)) < set(rows(every))
    assert 4 < len(every.part(every.game <= some.game[-1])) / len(some) < 6
    strayed = self_play_sample(RULES, player, 2500, seed=6, stray=0.5)
    assert not set(rows(strayed)) <= set(rows(every))


def test_a_file_holds_what_was_written(tmp_path: Path, sample: Sample) -> None:
    file = tmp_path / "deep" / "frozen.jsonl"
    write_sample(file, sample)
    found = read_sample(file, RULES)
    for name in ("points", "flags", "rolls", "game"):
        np.testing.assert_array_equal(getattr(found, name), getattr(sample, name))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", "no decisions"),
        ("nonsense", "line 1"),
        ("[1]", "expected"),
        ('{"id": 3, "roll": [1, 2]}', "expected"),
        ('{"id": "long_nardy.1BByYLotaNGV_vOP", "roll": [6, 5]}', "another game"),
        ('{"id": "GOOD"}', "roll=None"),
        ('{"id": "GOOD", "roll": [0, 7]}', "two dice"),
        ('{"id": "GOOD", "roll": [1, 2], "game": "x"}', "game"),
        ('{"id": "MOVED", "roll": [1, 2]}', "just moved"),
        ('{"id": "GOOD!", "roll": [1, 2]}', "no position id"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, line: str, expected: str) -> None:
    from nardy_rl.notation import to_id
    from nardy_rl.rules import Position

    start = Position.start(RULES)
    text = line.replace("GOOD", to_id(start)).replace("MOVED", to_id(start.flip()))
    file = tmp_path / "bad.jsonl"
    file.write_text(text + "\n")
    with pytest.raises(ConfigError, match=expected):
        read_sample(file, RULES)


@pytest.mark.parametrize("wrong", [{"stray": 1.5}, {"one_in": 0}, {"seed": -1}, {"ply_cap": 0}])
def test_samples_out_of_range_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        self_play_sample(RULES, RandomPlayer(), 10, **wrong)  # type: ignore[arg-type]


# Losses.


def worth(table: ExactTable, sample: Sample, at: int) -> np.ndarray:
    """Exact values of all plays of one decision, one by one, as what is left to the other."""
    values = []
    for play in sample.position(at).plays(sample.roll(at)):
        seen = play.after.flip()
        flags = np.array([seen.flags], np.uint8)
        values.append(-float(table.position_values(seen.points[None], flags)[0]))
    return np.array(values)


def test_losses_are_those_found_play_by_play(table: ExactTable, sample: Sample) -> None:
    player = RandomPlayer()
    found = judge_losses(sample, player, table, block=64)
    decisions = sample.decisions()
    rows = player.choose(decisions, sample.rolls, sample.keys) - decisions.legal.offsets[:-1]
    total = 0.0
    contested: list[int] = []
    for at in range(len(sample)):
        values = worth(table, sample, at)
        if len(values) == 1:
            continue
        k = len(contested)
        contested.append(at)
        assert found.chosen[k] == rows[at]
        assert found.results[k] == len(values)
        assert found.loss[k] == pytest.approx(values.max() - values[rows[at]], abs=1e-12)
        assert values[found.best[k]] == pytest.approx(values.max(), abs=1e-12)
        assert found.chosen_equity[k] == pytest.approx(values[rows[at]], abs=1e-12)
        total += values.max() - values[rows[at]]
    assert found.at.tolist() == contested
    figures = found.figures
    assert figures.loss.value == pytest.approx(total / len(sample))
    assert figures.contested_loss.value == pytest.approx(total / len(contested))
    assert figures.best_share.value == pytest.approx(np.mean(found.loss < 1e-6))
    assert 0 < figures.best_share.value < 1
    assert figures.largest == max(found.loss)
    assert found.loss[found.worst(5)].tolist() == sorted(found.loss, reverse=True)[:5]
    # Nobody states errors, and the random player has no values.
    assert np.isnan(figures.sure_share.value)
    assert np.isnan(figures.bias.value)


def test_who_judges_himself_loses_nothing(table: ExactTable, sample: Sample) -> None:
    found = judge_losses(sample, ValuerPlayer(RULES, table), table, valuer=table)
    assert found.figures.best_share.value == 1.0
    assert found.figures.largest < 1e-6
    assert abs(found.figures.bias.value) < 1e-6
    assert found.figures.rms.value < 1e-6
    assert len(found.worst(10)) == 0


def test_values_are_held_against_the_judge(table: ExactTable, sample: Sample) -> None:
    own = PipValuer(RULES)
    found = judge_losses(sample, ValuerPlayer(RULES, own), table, valuer=own)
    after = [
        sample.position(at).plays(sample.roll(at))[int(chosen)].after.points
        for at, chosen in zip(found.at, found.chosen, strict=True)
    ]
    off = own.of_boards(np.stack(after)) - found.chosen_equity
    assert found.figures.bias.value == pytest.approx(off.mean())
    assert found.figures.rms.value == pytest.approx(np.sqrt((off**2).mean()))


def test_behind_a_sieve_the_chosen_result_is_still_judged(
    table: ExactTable, sample: Sample
) -> None:
    own = PipValuer(RULES)
    full = judge_losses(sample, RandomPlayer(), table)
    found = judge_losses(sample, RandomPlayer(), table, sieve=Sieve(own, keep=1))
    assert found.at.tolist() == full.at.tolist()
    np.testing.assert_array_equal(found.chosen, full.chosen)
    for k, at in enumerate(found.at):
        values = worth(table, sample, int(at))
        boards = np.stack([p.after.points for p in sample.position(at).plays(sample.roll(at))])
        favourite, chosen = int(np.argmax(own.of_boards(boards))), int(found.chosen[k])
        expected = max(values[favourite], values[chosen]) - values[chosen]
        assert found.loss[k] == pytest.approx(expected, abs=1e-12)
    assert (found.loss <= full.loss + 1e-12).all()
    assert (found.loss < full.loss - 1e-3).any()


def test_it_ends_when_asked_to(table: ExactTable, sample: Sample) -> None:
    told: list[int] = []
    found = judge_losses(
        sample,
        RandomPlayer(),
        table,
        block=50,
        progress=told.append,
        should_stop=lambda: len(told) == 2,
    )
    assert told == [50, 100]
    assert found.figures.decisions == 100
    nothing = judge_losses(sample, RandomPlayer(), table, should_stop=lambda: True)
    assert np.isnan(nothing.figures.loss.value)
    assert as_data(Judgement("none", {}, losses=nothing))["losses"]["loss"]["value"] is None


# Judges.


def test_a_lookahead_judges_every_result_as_deeply(net: Path, sample: Sample) -> None:
    who = judged(str(net), RULES)
    appointed = judges_room.lookahead_judge(RULES, who, 1, keep=10_000, margin=1e9)
    part = sample.part(slice(40))
    found = judge_losses(part, RandomPlayer(), appointed.judge, sieve=appointed.sieve)
    assert who.base_valuer is not None
    for k, at in enumerate(found.at):
        values = []
        for play in part.position(at).plays(part.roll(at)):
            seen = play.after.flip()
            outcome = seen.outcome()
            flags = np.array([seen.flags], np.uint8)
            values.append(
                -outcome.score
                if outcome is not None
                else -preroll_equities(RULES, who.base_valuer, seen.points[None], flags)[0]
            )
        assert found.loss[k] == pytest.approx(max(values) - values[found.chosen[k]], abs=1e-5)


def test_rollouts_by_exact_values_are_exact(table: ExactTable, sample: Sample) -> None:
    who = judged("random", RULES)
    exact = type(who)(**{**vars(who), "base_valuer": table})
    appointed = judges_room.rollout_judge(RULES, exact, 36, 3, keep=1000, margin=9.0)
    part = sample.part(slice(60))
    found = judge_losses(part, RandomPlayer(), appointed.judge, sieve=appointed.sieve)
    truth = judge_losses(part, RandomPlayer(), table)
    np.testing.assert_allclose(found.loss, truth.loss, atol=1e-5)
    # All luck is taken out, nothing else is left.
    assert found.error.max() < 1e-5
    lost = truth.loss > 1e-4
    assert found.figures.sure_share.value == pytest.approx(lost.mean(), abs=0.05)


@pytest.mark.skipif(find_spec("gnubg_nn") is None, reason="gnubg-nn is not installed")
def test_gnubg_judges_itself_by_its_best_results() -> None:
    backgammon = variant("backgammon")
    who = judged("gnubg", backgammon)
    part = self_play_sample(backgammon, PipsPlayer(backgammon), 60, seed=1, one_in=9)
    deep = judges_room.gnubg_judge(backgammon, 0)
    assert judge_losses(part, who.player, deep.judge, valuer=who.valuer).figures.largest == 0
    appointed = judges_room.gnubg_judge(backgammon, 1, keep=2)
    found = judge_losses(part.part(slice(6)), PipsPlayer(backgammon), appointed.judge,
                         sieve=appointed.sieve)  # fmt: skip
    assert found.figures.loss.value > 0.01


def test_a_baseline_has_no_values_to_look_ahead_by() -> None:
    with pytest.raises(ConfigError, match="net=PATH"):
        judges_room.lookahead_judge(RULES, judged("pips", RULES))


# Reliability.


def test_a_calibrated_prediction_is_found_to_be_one() -> None:
    rng = np.random.default_rng(2)
    predicted = rng.random(20_000)
    observed = rng.random(20_000) < predicted
    found = reliability("win", predicted, observed, np.arange(20_000))
    assert found.count.tolist() == [2000] * 10
    gaps = (found.predicted - found.observed) / found.se
    assert np.abs(gaps).max() < 4
    assert (gaps**2).sum() < 30  # chi-square of 10: 1 in 1,000
    assert abs(found.bias.value) < 4 * found.bias.se
    assert found.brier.value == pytest.approx(1 / 6, abs=0.005)


def test_overconfidence_is_found() -> None:
    rng = np.random.default_rng(3)
    predicted = rng.random(20_000)
    observed = rng.random(20_000) < 0.5 + (predicted - 0.5) / 2
    found = reliability("win", predicted, observed, np.arange(20_000))
    gaps = (found.predicted - found.observed) / found.se
    assert gaps[0] < -10
    assert gaps[-1] > 10
    assert abs(found.bias.value) < 4 * found.bias.se
    assert found.error == pytest.approx(0.125, abs=0.02)


def test_predictions_of_one_game_count_as_one() -> None:
    rng = np.random.default_rng(4)
    predicted = np.full(500, 0.3)
    observed = rng.random(500) < 0.3
    once = reliability("win", predicted, observed, np.arange(500))
    often = reliability("win", predicted.repeat(9), observed.repeat(9), np.arange(500).repeat(9))
    assert often.bias.se == pytest.approx(once.bias.se)
    assert often.count.tolist() == [4500]


def test_calibration_counts_games_as_they_ended() -> None:
    evaluator = KernelEvaluator(
        ValueNet(Encoding.of(RULES).size, (8,), RULES.outcomes), Encoding.of(RULES)
    )
    win, mars = calibration(RULES, evaluator, 30, seed=8)
    episodes = collect(RULES, evaluator, 30, seed=8)
    came = {1: 0, 2: 0}
    said = {1: 0.0, 2: 0.0}
    plays = 0
    for game, (low, high) in enumerate(itertools.pairwise(episodes.offsets.tolist())):
        for row in range(low, high - 1):
            mine = episodes.mover[row] == episodes.mover[high - 1]
            score = int(episodes.score[game]) * (1 if mine else -1)
            plays += 1
            for least in came:
                came[least] += score >= least
                shares = zip(RULES.outcomes, episodes.values[row], strict=True)
                said[least] += sum(float(share) for outcome, share in shares if outcome >= least)
    for part, least in ((win, 1), (mars, 2)):
        assert part.count.sum() == plays
        assert part.observed @ part.count == pytest.approx(came[least])
        assert part.predicted @ part.count == pytest.approx(said[least], rel=1e-4)
    assert 0 < came[2] < came[1] < plays


# Bellman residuals.


def test_exact_values_agree_with_each_other(table: ExactTable, sample: Sample) -> None:
    found = bellman(sample, ValuerPlayer(RULES, table), table)
    assert len(found.residuals) > 200
    assert found.largest < 1e-5


def test_residuals_are_those_found_roll_by_roll(sample: Sample) -> None:
    own = PipValuer(RULES)
    player = ValuerPlayer(RULES, own)
    part = sample.part(slice(25))
    found = bellman(part, player, own, block=7)
    decisions = part.decisions()
    rows = player.choose(decisions, part.rolls, part.keys) - decisions.legal.offsets[:-1]
    expected = []
    for at in range(len(part)):
        after = part.position(at).plays(part.roll(at))[int(rows[at])].after
        if after.outcome() is not None:
            continue
        left = 0.0
        for die1, die2 in itertools.product(range(1, 7), repeat=2):
            boards = np.stack([play.after.points for play in after.flip().plays((die1, die2))])
            left += float(own.of_boards(boards).max()) / 36
        expected.append(float(own.of_boards(after.points[None])[0]) + left)
    np.testing.assert_allclose(found.residuals, expected, atol=1e-6)
    assert found.rms.value == pytest.approx(np.sqrt(np.mean(np.square(expected))), abs=1e-6)
    assert found.mean.value == pytest.approx(np.mean(expected), abs=1e-6)


# Reports and the command.


def test_a_report_has_its_pictures_and_figures(
    tmp_path: Path, table: ExactTable, sample: Sample
) -> None:
    losses = judge_losses(sample, RandomPlayer(), table)
    worst = blunders(losses, 2)
    rng = np.random.default_rng(5)
    shares = rng.random(300)
    parts = (reliability("win", shares, rng.random(300) < shares, np.arange(300)),)
    judgement = Judgement("a title <b>", {"seed": 1}, losses, worst, parts)
    write_report(tmp_path, Judgement("old", {}, losses, blunders(losses, 5)))
    written = {path.name for path in write_report(tmp_path, judgement)}
    assert written == {path.name for path in tmp_path.iterdir()}
    assert "blunder_02_best.svg" in written
    assert "blunder_03_best.svg" not in written
    assert (tmp_path / "reliability.png").read_bytes().startswith(b"\x89PNG")
    data = json.loads((tmp_path / "judgement.json").read_text())
    assert data["seed"] == 1
    assert data["losses"]["loss"]["value"] == losses.figures.loss.value
    assert data["blunders"][0]["loss"] == max(losses.loss)
    html = (tmp_path / "report.html").read_text()
    assert html.count("<svg") == 4
    assert "a title &lt;b&gt;" in html
    markdown = (tmp_path / "report.md").read_text()
    for text in (worst[0].id, worst[0].board, f"played {worst[0].chosen}, best {worst[0].best}"):
        assert text in markdown


def words(folder: Path, *more: str) -> list[str]:
    return ["judge", "seed=2", "worst=1", "threads=1", f"out={folder}", *more]


def test_the_command_judges_a_net(
    tmp_path: Path, solved: Path, net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = ["positions=300", "games=40", "bellman=200", "match=4"]
    given = [f"checkpoint={net}", "by=exact", f"table={solved}", *counts]
    found = []
    for name in "ab":
        save = f"save={tmp_path / name / 'frozen.jsonl'}"
        assert cli.main(words(tmp_path / name, *given, save)) == 0
        data = json.loads((tmp_path / name / "judgement.json").read_text())
        assert data["judge"]["card"]["sha256"]
        assert len(data["player"]["sha256"]) == 64
        found.append(
            {k: data[k] for k in ("losses", "reliability", "bellman", "plies", "blunders")}
        )
    assert found[0] == found[1]
    assert found[0]["losses"]["decisions"] == 300
    assert found[0]["plies"]["games"] == 4
    out = capsys.readouterr().out
    for text in ("Reliability: win", "Bellman residual", "1 ply against own 0 plies", "Blunder 1"):
        assert text in out
    # The same decisions from the file give the same losses.
    again = [*given[:3], f"positions={tmp_path / 'a' / 'frozen.jsonl'}", "only=losses"]
    assert cli.main(words(tmp_path / "c", *again)) == 0
    data = json.loads((tmp_path / "c" / "judgement.json").read_text())
    assert data["losses"] == found[0]["losses"]
    assert "bellman" not in data


def test_the_command_judges_with_plies_and_without_a_table(
    tmp_path: Path, net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by = ["by=rollout", "trials=36", "horizon=2", "positions=20", "only=losses"]
    assert cli.main(words(tmp_path, f"checkpoint={net}@1ply", *by)) == 0
    assert "2 errors of the judge" in capsys.readouterr().out
    by = ["by=lookahead", "plies=1", f"net={net}", "positions=50", "variant=long_nardy_2"]
    assert cli.main(words(tmp_path, "checkpoint=pips", *by)) == 0
    data = json.loads((tmp_path / "judgement.json").read_text())
    assert data["losses"]["bias"]["value"] is None
    assert "reliability" not in data


def test_an_interrupted_judgement_shows_what_there_is(
    net: Path, solved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = itertools.count()
    monkeypatch.setattr(StopSignals, "wanted", lambda self: next(asked) > 40)
    given = ["judge", f"checkpoint={net}", "by=exact", f"table={solved}", "positions=5000"]
    assert cli.main(given) == 130
    assert "ended early: bellman" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["by=exact"], "checkpoint is missing"),
        (["checkpoint=NET"], "by is missing"),
        (["checkpoint=NET", "by=exact"], "table is missing"),
        (["checkpoint=NET", "by=exakt"], "did you mean exact?"),
        (["checkpoint=NET", "by=exact", "table=/nope"], "table: /nope"),
        (["checkpoint=NET", "by=exact", "table=NET"], "not the card of an exact table"),
        (["checkpoint=NET", "by=gnubg"], "gnubg does not play long_nardy_2"),
        (["checkpoint=NET", "by=lookahead", "plies=4"], "plies: '4'"),
        (["checkpoint=NET", "by=lookahead", "trials=36"], "trials goes with by=rollout"),
        (["checkpoint=NET", "by=lookahead", "table=x"], "table goes with by=exact"),
        (["checkpoint=NET", "by=lookahead", "net=pips"], "pips has none"),
        (["checkpoint=NET", "by=lookahead", "only=losess"], "did you mean losses?"),
        (["checkpoint=NET", "by=lookahead", "positions=0"], "positions: '0'"),
        (["checkpoint=NET", "by=lookahead", "positions=none.jsonl"], "none.jsonl"),
        (["checkpoint=NET", "by=lookahead", "stray=2"], "stray: '2'"),
        (["checkpoint=NET", "by=lookahead", "variant=long_nardy"], "checkpoint: "),
        (["checkpoint=pips", "only=bellman"], "pips has none"),
        (["checkpoint=pipss", "by=lookahead"], "did you mean pips?"),
        (["checkpoint=NET", "checkpiont=x"], "did you mean checkpoint?"),
    ],
)
def test_the_command_refuses_in_one_line(
    given: list[str], expected: str, net: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["judge", *(word.replace("NET", str(net)) for word in given)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert expected in err


def test_help_names_every_setting(capsys: pytest.CaptureFixture[str]) -> None:
    from nardy_rl.cli.judge import SETTINGS

    assert cli.main(["judge", "--help"]) == 0
    text = capsys.readouterr().out
    for name in SETTINGS:
        assert f"{name}=" in text or name == "variant.options."
