"""Exact tables: against plain Python and the slow reference, and everything that can go wrong."""

from __future__ import annotations

import dataclasses
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from functools import lru_cache
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nardy_rl import cli
from nardy_rl.errors import CheckpointError, ConfigError, InvalidPosition
from nardy_rl.players.exact import ExactPlayer
from nardy_rl.rules import Position, Rules, set_threads, variant
from nardy_rl.search import decisions_at, preroll_equities
from nardy_rl.solve import ExactTable, Progress, count_positions, is_table, solve
from nardy_rl.solve.index import place_of, position_at, position_index, side_rank
from nardy_rl.solve.solver import Solver, _Part
from nardy_rl.solve.storage import Workspace
from nardy_rl.solve.sweep import GAPS, gap_code
from tests.reference import reference_afterstates, reference_outcome

ROLLS = list(combinations_with_replacement(range(1, 7), 2))
CHANCES = [(1 if a == b else 2) / 36 for a, b in ROLLS]
MINE_FIRST, HIS_FIRST, I_STARTED = 1, 2, 4

Side = tuple[int, ...]
Spot = tuple[Side, Side, int]


def few(name: str, places: tuple[int, ...], **options: str) -> Rules:
    """A game with one checker on each of `places` to begin with."""
    start = tuple((place, places.count(place)) for place in sorted(set(places), reverse=True))
    return dataclasses.replace(
        variant(name, **options), name="few", checkers=len(places), start=start
    )


HIT = few("hypergammon", (24,))
HITS = few("hypergammon", (24, 23))
RACE_BLOCKED = few("long_nardy", (24,))
DRAWN = few("long_nardy_draw", (24,), koks="none_home")
NARDY = few("long_nardy", (24, 24), head_rule="any_double_first")


index_of = lru_cache(position_index)


@pytest.fixture(scope="session")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tables")

    @lru_cache
    def table(rules: Rules) -> ExactTable:
        made = solve(rules, folder / str(abs(hash(rules))))
        assert made is not None
        return made

    return table


# --- the numbering ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rules", [HIT, HITS, DRAWN, NARDY, variant("long_nardy_3"), variant("hypergammon")]
)
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_every_number_is_one_position_and_every_position_one_number(
    rules: Rules, data: st.DataObject
) -> None:
    index = index_of(rules)
    place = data.draw(st.integers(0, count_positions(rules) - 1))
    mine, his, flags = position_at(index, place)
    assert flags & ~rules.flag_mask == 0
    assert place_of(index, mine, his, flags) == place
    if flags & MINE_FIRST:
        assert (index.sides[mine] == rules.start_points()[0]).all()
    for rank in (mine, his):
        assert side_rank(index, index.sides, rank) == rank
        assert index.sides[rank].sum() == rules.checkers


@pytest.mark.parametrize("rules", [HIT, HITS, NARDY, variant("hypergammon")])
def test_the_ranks_are_all_the_ways_a_side_can_stand(rules: Rules) -> None:
    index = position_index(rules)
    places = range(26 if rules.contact == "hit" else 25)
    wanted = {
        tuple(np.bincount(held, minlength=26).tolist())
        for held in combinations_with_replacement(places, rules.checkers)
    }
    assert {tuple(side) for side in index.sides.tolist()} == wanted
    assert len(index.sides) == len(wanted)
    assert (index.pips == index.sides @ np.arange(26)).all()


@given(st.lists(st.integers(-2, 4), min_size=26, max_size=26))
@settings(max_examples=200, deadline=None)
def test_what_is_no_side_has_no_rank(counts: list[int]) -> None:
    index = index_of(HITS)
    board = np.array([counts], np.int8)
    is_side = min(counts) >= 0 and sum(counts) == 2
    assert (side_rank(index, board, 0) >= 0) == is_side


@settings(deadline=None)
@given(st.floats(0, 10) | st.sampled_from([float("inf"), 1e-300, GAPS[1], GAPS[254]]))
def test_a_gap_is_never_taken_for_a_larger_one(gap: float) -> None:
    code = gap_code(gap)
    assert GAPS[code] <= gap
    assert code >= 254 or gap < GAPS[code + 1] * 1.001
    assert (np.diff(GAPS) > 0).all()


# --- the values, another way ------------------------------------------------------------------


def _empty(out: Path) -> Workspace:
    workspace = Workspace(out, {})
    workspace.folder.mkdir()
    return workspace


class Plain:
    """A game solved in plain Python by value iteration, under the slow reference's rules."""

    def __init__(self, rules: Rules, roots: list[Spot]) -> None:
        self.rules = rules
        self.after: dict[Spot, list[list[float | Spot]]] = {}
        waiting = list(roots)
        while waiting:
            spot = waiting.pop()
            if spot in self.after:
                continue
            self.after[spot] = [self._results(spot, roll) for roll in ROLLS]
            waiting += [r for row in self.after[spot] for r in row if isinstance(r, tuple)]
        self.values = dict.fromkeys(self.after, 0.0)

    def _results(self, spot: Spot, roll: tuple[int, int]) -> list[float | Spot]:
        me, opp, flags = spot
        found, _ = reference_afterstates(self.rules, me, opp, roll, bool(flags & MINE_FIRST))
        results: list[float | Spot] = []
        for mine, his in found:
            over = reference_outcome(self.rules, mine, his, bool(flags & I_STARTED))
            if over is not None:
                results.append(float(over[0]))
                continue
            turned = (MINE_FIRST if flags & HIS_FIRST else 0) | (I_STARTED & ~flags)
            results.append((his, mine, turned & self.rules.flag_mask))
        return results

    def solve(self) -> None:
        """Value iteration in the order of the pips, until nothing changes."""
        change = np.inf
        order = sorted(self.after, key=lambda s: sum(p * (a + b) for p, (a, b) in enumerate(
            zip(s[0], s[1], strict=True))))  # fmt: skip
        while change > 1e-13:
            change = 0.0
            for spot in order:
                value = sum(
                    chance * max(r if isinstance(r, float) else -self.values[r] for r in row)
                    for chance, row in zip(CHANCES, self.after[spot], strict=True)
                )
                change = max(change, abs(value - self.values[spot]))
                self.values[spot] = value


def spot_of(places_me: tuple[int, ...], places_opp: tuple[int, ...], flags: int = 0) -> Spot:
    me, opp = (tuple(np.bincount(held, minlength=26).tolist()) for held in (places_me, places_opp))
    return me, opp, flags


ALL_FLAGS = MINE_FIRST | HIS_FIRST | I_STARTED


@pytest.mark.parametrize(
    ("rules", "root"),
    [
        (HIT, spot_of((24,), (24,))),
        (RACE_BLOCKED, spot_of((24,), (24,), MINE_FIRST | HIS_FIRST)),
        (DRAWN, spot_of((24,), (24,), ALL_FLAGS)),
        # Two of each, the last stretch: one checker home, the other with the enemy before it.
        (NARDY, spot_of((10, 2), (9, 1))),
    ],
    ids=["backgammon", "nardy", "nardy with a last roll", "two of nardy"],
)
def test_the_values_are_those_of_plain_value_iteration(
    rules: Rules, root: Spot, tables: Any
) -> None:
    plain = Plain(rules, [root])
    plain.solve()
    table = tables(rules)
    spots = list(plain.values)
    points = np.array([spot[:2] for spot in spots], np.int8)
    found = table.position_values(points, np.array([spot[2] for spot in spots], np.uint8))
    assert np.abs(found - [plain.values[spot] for spot in spots]).max() < 1e-9
    assert len(spots) > 200
    assert table.residual < 1e-10
    # Passes of both sides are among them: what makes a system of two values.
    stuck = [row for spot in spots for row in plain.after[spot] if len(row) == 1]
    assert any(isinstance(row[0], tuple) for row in stuck)


@pytest.mark.parametrize("rules", [HITS, NARDY], ids=["hits", "nardy"])
def test_a_look_ahead_is_what_the_reference_sees_with_any_values(
    rules: Rules, tmp_path: Path
) -> None:
    solver = Solver(rules, _empty(tmp_path / "t"))
    rng = np.random.default_rng(5)
    solved = solver.order
    solver.values[solved] = rng.uniform(-3, 3, len(solved))
    lines = solved[solved >= len(solver.index.pips) ** 2]
    chosen = np.concatenate([rng.choice(solved, 50, replace=False), lines[::29]])
    solver.order = np.ascontiguousarray(chosen)
    sums, passes = solver._greedy(_Part(0, len(chosen)))
    for k, place in enumerate(chosen):
        mine, his, flags = position_at(solver.index, place)
        spot = (tuple(solver.index.sides[mine]), tuple(solver.index.sides[his]), flags)
        value = 0.0
        passed = 0.0
        for roll, chance in zip(ROLLS, CHANCES, strict=True):
            found, dice = reference_afterstates(rules, spot[0], spot[1], roll, bool(flags & 1))
            if dice == 0:
                passed += chance
                continue
            values = []
            for me, opp in found:
                over = reference_outcome(rules, me, opp, False)
                to_roll, other = (
                    side_rank(solver.index, np.array([side], np.int8), 0) for side in (opp, me)
                )
                at = place_of(solver.index, to_roll, other, 0)
                values.append(-solver.values[at] if over is None else float(over[0]))
            value += chance * max(values)
        assert sums[k] == pytest.approx(value, abs=1e-12)
        assert passes[k] / 36 == pytest.approx(passed)


def test_finished_games_are_worth_their_score_and_what_cannot_be_nothing(tables: Any) -> None:
    table = tables(HIT)
    over = np.array([spot_of((25,), (0,))[:2], spot_of((3,), (0,))[:2]], np.int8)
    assert table.position_values(over, np.zeros(2, np.uint8)).tolist() == [-3.0, -2.0]
    for wrong in (
        spot_of((24,), (1,)),  # one point shared
        spot_of((24, 3), (1,)),  # two checkers
        spot_of((0,), (0,)),
    ):
        with pytest.raises(InvalidPosition, match="row 0 of 1"):
            table.position_values(np.array([wrong[:2]], np.int8), np.zeros(1, np.uint8))
    nardy = tables(NARDY)
    for me, opp, flags in (
        spot_of((24, 23), (24, 24), MINE_FIRST),
        spot_of((24, 0), (24, 24)),  # off before all were home
        spot_of((25, 3), (24, 24)),
    ):
        with pytest.raises(InvalidPosition):
            nardy.position_values(np.array([[me, opp]], np.int8), np.array([flags], np.uint8))


# --- as a valuer and as a player --------------------------------------------------------------


def test_the_table_values_decisions_and_the_start(tables: Any) -> None:
    for rules in (HIT, NARDY, DRAWN):
        table = tables(rules)
        start = Position.start(rules)
        points, flags = start.points[None], np.array([start.flags], np.uint8)
        ahead = preroll_equities(rules, table, points, flags)[0]
        assert table.start_value() == pytest.approx(ahead, abs=1e-6)
        assert table.position_values(points, flags)[0] == pytest.approx(table.start_value())
        assert table.card["start_value"] == table.start_value()
    # Backgammon's starter plays the two dice thrown: no double.
    values = tables(HIT).roll_values(points := HIT.start_points()[None], np.zeros(1, np.uint8))[0]
    singles = [value for value, (a, b) in zip(values, ROLLS, strict=True) if a != b]
    assert len(singles) == 15
    assert tables(HIT).opening_value() == pytest.approx(np.mean(singles))
    assert tables(HIT).opening_value() != tables(HIT).start_value()
    assert points.shape == (1, 2, 26)


def test_the_exact_player_loses_nothing_and_others_do(tables: Any) -> None:
    table = tables(HIT)
    rng = np.random.default_rng(3)
    squares = len(table.index.pips) ** 2
    open_ = np.flatnonzero(~np.isnan(table.values[:squares]))
    sides = [position_at(table.index, place)[:2] for place in rng.choice(open_, 400)]
    points = np.array([table.index.sides[list(pair)] for pair in sides], np.int8)
    points = points[(points[:, :, 0] < HIT.checkers).all(1)]
    rolls = rng.integers(1, 7, (len(points), 2)).astype(np.int8)
    decisions = decisions_at(HIT, points, np.zeros(len(points), np.uint8), rolls)
    values = table.result_values(decisions)
    assert table.equities(decisions).dtype == np.float32
    assert np.abs(table.equities(decisions) - values).max() < 1e-6
    player = ExactPlayer(table)
    rows = player.choose(decisions, rolls, np.zeros(len(points), np.uint64))
    offsets = decisions.legal.offsets
    for b, row in enumerate(rows):
        own = values[offsets[b] : offsets[b + 1]]
        assert offsets[b] <= row < offsets[b + 1]
        assert row == offsets[b] + int(np.argmax(own))
    assert (values[offsets[:-1]] < values[rows] - 0.01).any()
    assert player.name == table.name


# --- on the disk ------------------------------------------------------------------------------


def test_a_table_is_read_back_as_it_was(tmp_path: Path) -> None:
    rules = few("hypergammon", (24,), koks="none")
    out = tmp_path / "t"
    table = solve(rules, out, tolerance=1e-3, notes={"who": "test"})
    assert table is not None
    assert table.residual > 1e-13
    again = ExactTable.load(out, rules)
    assert (np.asarray(again.values) == np.asarray(table.values))[~np.isnan(table.values)].all()
    assert isinstance(again.values, np.memmap)
    assert again.rules == rules
    assert again.card["who"] == "test"
    assert is_table(out)
    assert not is_table(tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["t"]
    # Who starts, and how, makes no difference to a position.
    other = dataclasses.replace(rules, name="x", opening_roll="reroll", next_starter="winner")
    assert ExactTable.load(out, other).opening_value() == again.start_value()
    # It is not solved twice, nor overwritten by a better one.
    again_solved = solve(rules, out, tolerance=1e-3, progress=lambda _: pytest.fail("solved again"))
    assert again_solved is not None
    with pytest.raises(ConfigError, match="above tolerance"):
        solve(rules, out)


def test_the_values_do_not_depend_on_the_threads(tmp_path: Path) -> None:
    found = []
    try:
        for threads in (1, 3):
            set_threads(threads)
            table = solve(HIT, tmp_path / str(threads))
            assert table is not None
            found.append(table.card["sha256"])
    finally:
        set_threads(0)
    assert found[0] == found[1]


def test_stopping_anywhere_and_going_on_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nardy_rl.solve.solver._BLOCK", 100)
    rules = few("backgammon", (24,))
    whole = solve(rules, tmp_path / "whole")
    assert whole is not None
    asked = 0

    def seventh() -> bool:
        nonlocal asked
        asked += 1
        return asked % 7 == 0

    rounds, stages = 0, set()
    while (table := solve(rules, tmp_path / "parts", should_stop=seventh)) is None:
        rounds += 1
        state = json.loads((tmp_path / "parts.work" / "state.json").read_text())["state"]
        stages.add(state["stage"])
        assert not (tmp_path / "parts").exists()
    assert rounds > 5
    assert stages == {"sweep", "check", "follow"}
    assert table.card["sha256"] == whole.card["sha256"]
    assert table.residual == whole.residual
    assert not (tmp_path / "parts.work").exists()


_KILLED = """
import sys, time
from pathlib import Path
from nardy_rl.solve import solve, solver
from tests.test_solve import HIT
solver._BLOCK = 100
def slow(now):
    if now.stage == "check" and now.done > 200:
        print("here", flush=True)
        time.sleep(60)
solve(HIT, Path(sys.argv[1]), progress=slow, save_seconds=0)
"""


def test_a_killed_solve_goes_on_and_ends_the_same(
    tmp_path: Path, tables: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", _KILLED, str(tmp_path / "t")],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[1],
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    process.stdout.close()
    monkeypatch.setattr("nardy_rl.solve.solver._BLOCK", 100)
    seen: list[Progress] = []
    table = solve(HIT, tmp_path / "t", progress=seen.append)
    assert table is not None
    assert seen[0].stage == "check"
    assert seen[0].done == 300
    assert table.card["sha256"] == tables(HIT).card["sha256"]


def test_lost_choices_cost_time_only(tmp_path: Path, tables: Any) -> None:
    out = tmp_path / "t"
    in_sweep = len(Solver(HIT, _empty(tmp_path / "other")).levels)
    asked = iter(range(10**9))
    assert solve(HIT, out, should_stop=lambda: next(asked) == in_sweep + 5) is None
    assert json.loads((tmp_path / "t.work" / "state.json").read_text())["state"]["stage"] != "sweep"
    (tmp_path / "t.work" / "choices.int32").unlink()
    table = solve(HIT, out)
    assert table is not None
    assert np.nanmax(np.abs(table.values - tables(HIT).values)) < 1e-9


def test_two_solves_of_one_table_do_not_meet(tmp_path: Path) -> None:
    with (
        Workspace(tmp_path / "t", {}).locked(),
        pytest.raises(ConfigError, match="another solve"),
    ):
        solve(HIT, tmp_path / "t")


def test_unfinished_work_of_another_game_or_damaged_is_refused(tmp_path: Path) -> None:
    out = tmp_path / "t"
    assert solve(HIT, out, should_stop=lambda: True) is None
    with pytest.raises(ConfigError, match="another game"):
        solve(few("tavla", (24,)), out)
    file = tmp_path / "t.work" / "state.json"
    good = file.read_text()
    for bad in ("{", "[]", good.replace('"stage"', '"stages"'), good.replace("values-1", "gone")):
        file.write_text(bad)
        with pytest.raises(CheckpointError, match="damaged"):
            solve(HIT, out)
    file.write_text(good)
    values = tmp_path / "t.work" / "values-1.npy"
    values.write_bytes(values.read_bytes()[:-8])
    with pytest.raises(CheckpointError, match="damaged"):
        solve(HIT, out)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("made") / "t"
    assert solve(HIT, out) is not None
    return out


def test_bad_tables_are_refused_by_one_line(made: Path, tmp_path: Path) -> None:
    def refused(match: str, rules: Rules | None = None) -> None:
        with pytest.raises(CheckpointError, match=match) as error:
            ExactTable.load(bad, rules)
        assert "\n" not in str(error.value)

    bad = tmp_path / "none"
    refused("no such folder")
    bad.mkdir()
    refused("no exact table")
    shutil.copytree(made, bad, dirs_exist_ok=True)
    refused("not few", few("hypergammon", (24, 24)))
    refused("koks=backgammon, not none", few("hypergammon", (24,), koks="none"))
    card, values = bad / "card.json", bad / "values.npy"
    good, numbers = card.read_text(), values.read_bytes()
    for text, match in (
        ("{", "not JSON"),
        ("[]", "not the card"),
        ('{"checkpoint_format": 1}', "not the card"),
        (good.replace('"table_format": 1', '"table_format": 9'), "table_format: 9"),
        (good.replace('"rules_version": 1', '"rules_version": 0'), "rules_version"),
        (good.replace('"contact": "hit"', '"contact": "bump"'), "rules"),
        (good.replace('"checkers": 1', '"checkers": 2'), "rules"),
        (good.replace('"residual"', '"rest"'), "residual"),
    ):
        assert text != good
        card.write_text(text)
        refused(match)
    card.write_text(good)
    for content in (numbers[:-1], b"", b"junk" * 99, numbers[:200]):
        values.write_bytes(content)
        refused("solve the game again")
    changed = bytearray(numbers)
    changed[-3] ^= 1
    values.write_bytes(bytes(changed))
    refused("changed or swapped")
    values.unlink()
    refused("values.npy")


def test_no_solve_without_a_small_game_and_a_sane_tolerance(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"too many.*hypergammon"):
        solve(variant("long_nardy"), tmp_path / "t")
    for tolerance in (0.0, -1.0, float("nan"), float("inf"), 1e-15):
        with pytest.raises(ConfigError, match="tolerance"):
            solve(HIT, tmp_path / "t", tolerance=tolerance)
    (tmp_path / "t").mkdir()
    with pytest.raises(ConfigError, match="is no table"):
        solve(HIT, tmp_path / "t")
    assert list((tmp_path / "t").iterdir()) == []


def test_a_loose_tolerance_then_a_tight_one_goes_on_where_nothing_was_written(
    tmp_path: Path,
) -> None:
    rules = HIT
    workspace = Workspace(tmp_path / "t", {"x": 1})
    with workspace.locked():
        solver = Solver(rules, workspace)
        assert solver.run(0.1)
        loose = solver.state.last
        assert solver.run(1e-11)
        assert solver.state.last <= 1e-11 < loose <= 0.1


# --- the command line -------------------------------------------------------------------------


def test_solve_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    before = time.monotonic()
    assert cli.main(["solve", "variant=long_nardy_2"]) == 0
    assert time.monotonic() - before < 300
    out = capsys.readouterr().out
    assert "long_nardy_2: 80,082 positions" in out
    assert "+0.4327140203569" in out
    table = ExactTable.load(tmp_path / "tables" / "long_nardy_2", variant("long_nardy_2"))
    assert table.residual < 1e-14
    assert table.start_value() == pytest.approx(0.4327140203569199, abs=1e-13)
    assert "commit" in table.card
    assert cli.main(["solve", "variant=long_nardy_2"]) == 0
    assert "was there already" in capsys.readouterr().out
    kept = (tmp_path / "tables" / "long_nardy_2" / "card.json").read_text()
    words = ["solve", "variant=long_nardy_2", "variant.options.head_rule=strict"]
    assert cli.main([*words, "out=tables/long_nardy_2"]) == 2
    error = capsys.readouterr().err
    assert "head_rule=classic, not strict" in error
    assert error.count("\n") == 1
    assert (tmp_path / "tables" / "long_nardy_2" / "card.json").read_text() == kept


@pytest.mark.parametrize(
    ("words", "match"),
    [
        ([], "variant is missing"),
        (["variant=chess"], "unknown variant"),
        (["variant=backgammon"], "too many"),
        (["variant=long_nardy"], "long_nardy_3"),
        (["variant=hypergammon", "tolerance=0"], "tolerance"),
        (["variant=hypergammon", "tolerance=1e-20"], "tolerance"),
        (["variant=hypergammon", "threads=-1"], "threads"),
        (["variant=hypergammon", "variant.options.koks=maybe"], "koks"),
        (["variant=hypergammon", "folder=x"], "unknown setting"),
        (["variant=hypergammon", "out=taken"], "is no table"),
        (["variant=hypergammon", "out=taken/file"], "is no table"),
    ],
)
def test_what_is_asked_wrongly_is_one_line_and_status_2(
    words: list[str],
    match: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").write_text("mine")
    assert cli.main(["solve", *words]) == 2
    error = capsys.readouterr().err
    assert match in error
    assert error.count("\n") == 1
    assert [p.name for p in tmp_path.rglob("*")] == ["taken", "file"]
