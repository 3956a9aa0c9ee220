"""Bear-off tables: known values, a slow recursion in fractions, games played out, files."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import lru_cache
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from nardy_rl import bearoff
from nardy_rl.bearoff import BearoffEvaluator, BearoffTable, build_table, load_table, with_bearoff
from nardy_rl.bearoff.table import home_positions, row_of
from nardy_rl.errors import ConfigError
from nardy_rl.inference import Decisions
from nardy_rl.rules import (
    LegalAfterstates,
    Rules,
    legal_afterstates,
    set_threads,
    variant,
    variants,
)
from nardy_rl.search import ROLL_CHANCES, ROLLS, NetValuer
from tests.reachable import play_turns
from tests.reference import reference_afterstates, reference_outcome

Home = tuple[int, ...]
"""Checkers on points 1..6."""


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    set_threads(1)
    yield
    set_threads(0)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NARDY_RL_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(bearoff.storage, "_loaded", {})


def small(name: str, checkers: int, **options: str) -> Rules:
    """A variant with fewer checkers."""
    return replace(variant(name, **options), checkers=checkers, start=((24, checkers),))


@lru_cache
def table_of(name: str, checkers: int = 15, **options: str) -> BearoffTable:
    return build_table(small(name, checkers, **options))


def all_homes(checkers: int) -> list[Home]:
    """Every home position, each after those that fewer pips lead to."""
    counts = product(range(checkers + 1), repeat=6)
    return sorted(
        (home for home in counts if sum(home) <= checkers),
        key=lambda home: sum(p * n for p, n in enumerate(home, 1)),
    )


def replies(rules: Rules, home: Home, roll: tuple[int, int]) -> set[Home]:
    """What the slow reference makes of a roll, the enemy being home."""
    me = {point: count for point, count in enumerate(home, 1) if count}
    results, _used = reference_afterstates(rules, me, {1: rules.checkers}, roll, False)
    return {mine[1:7] for mine, _his in results}


def tie_break(home: Home) -> Home:
    """Fewest checkers first, then the fewest beyond point 1, beyond point 2, .."""
    return tuple(sum(home[i:]) for i in range(6))


@lru_cache
def slow_table(
    checkers: int,
) -> tuple[dict[Home, list[Home]], dict[Home, list[Fraction]], dict[Home, list[Fraction]]]:
    """The play of fewest rolls in fractions: replies by roll, and both distributions."""
    rules = small("backgammon", checkers)
    none: Home = (0,) * 6
    rolls_there = 2 * checkers + 1
    now = [Fraction(1)] + [Fraction(0)] * (rolls_there - 1)
    chances = [Fraction(1 if a == b else 2, 36) for a, b in ROLLS.tolist()]
    played: dict[Home, list[Home]] = {none: [none] * 21}
    mean = {none: Fraction(0)}
    finish, first = {none: now}, {none: now}
    for home in all_homes(checkers)[1:]:
        played[home] = [
            min(replies(rules, home, (a, b)), key=lambda after: (mean[after], tie_break(after)))
            for a, b in ROLLS.tolist()
        ]
        total, off, one_off = Fraction(1), [Fraction(0)] * rolls_there, [Fraction(0)] * rolls_there
        for chance, after in zip(chances, played[home], strict=True):
            total += chance * mean[after]
            for rolls, share in enumerate(finish[after][:-1]):
                off[rolls + 1] += chance * share
            still = first[after] if sum(after) == sum(home) else now
            for rolls, share in enumerate(still[:-1]):
                one_off[rolls + 1] += chance * share
        mean[home] = total
        finish[home] = off
        first[home] = one_off
    return played, finish, first


# --- the table --------------------------------------------------------------------------------


def test_known_values() -> None:
    """One checker on the 6-point: 27 of 36 rolls take it off; fifteen there: 12.266 rolls."""
    table = table_of("backgammon")
    assert table.chances.shape == (54_264, 2, 31)
    one = table.chances[table.row((0, 0, 0, 0, 0, 1))]
    np.testing.assert_allclose(one[:, :3], [[0, 27 / 36, 9 / 36]] * 2, rtol=1e-6)
    assert table.mean_rolls((0, 0, 0, 0, 0, 1)) == pytest.approx((1.25, 1.25), abs=1e-6)
    assert table.mean_rolls((0, 0, 0, 0, 0, 15))[0] == pytest.approx(12.266, abs=0.0005)
    # The first of fifteen goes with any 6, and may go with 5-1, 4-2, 3-3 and 2-2.
    first = table.chances[table.row((0, 0, 0, 0, 0, 15)), 1]
    assert 11 / 36 <= first[1] <= 17 / 36


def test_rows_are_the_positions_in_order() -> None:
    sides = home_positions(7)
    assert [row_of(side) for side in sides] == list(range(1716))
    assert {tuple(side[1:7]) for side in sides.tolist()} == set(all_homes(7))
    assert (sides.sum(1) == 7).all()
    larger = home_positions(9)[: len(sides)]
    assert (larger[:, 1:] == sides[:, 1:]).all()  # a table of fewer checkers is the beginning
    keys = [tie_break(tuple(side[1:7])) for side in sides.tolist()]
    assert keys == sorted(keys)


def test_small_tables_are_those_of_the_slow_recursion() -> None:
    """Every position of up to four checkers, in fractions and by the reference's rules."""
    _played, finish, first = slow_table(4)
    table = table_of("backgammon", 4)
    for home in all_homes(4):
        for slow, fast in zip((finish, first), table.chances[table.row(home)], strict=True):
            np.testing.assert_allclose(fast, [float(share) for share in slow[home]], atol=1e-7)
            assert sum(slow[home]) == 1  # no roll more than the table has room for


def test_the_full_table_keeps_the_recursion() -> None:
    """Sampled positions of up to 15 checkers: one step by the reference, the rest by the table."""
    table = table_of("backgammon")
    rules = variant("backgammon")
    means = table.chances[:, 0].astype(float) @ np.arange(31)
    rng = np.random.default_rng(2)
    for row in [*rng.integers(1, len(means), 12), *rng.integers(38_760, len(means), 6)]:
        side = home_positions(15)[row]
        expected = np.zeros((2, 31))
        for chance, roll in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
            afters = replies(rules, tuple(side[1:7].tolist()), tuple(roll))
            best = min(afters, key=lambda home: (round(means[table.row(home)], 5), tie_break(home)))
            then = table.chances[table.row(best)].astype(float)
            if sum(best) < side[1:7].sum():
                then[1] = np.eye(31)[0]
            expected[:, 1:] += chance * then[:, :-1]
        np.testing.assert_allclose(table.chances[row], expected, atol=1e-6, err_msg=str(side))


def test_laws_of_the_distributions() -> None:
    """They add up to one; the first is off before the last; a checker less never costs."""
    table = table_of("backgammon")
    chances = table.chances.astype(float)
    assert (chances >= 0).all()
    np.testing.assert_allclose(chances.sum(2), 1, atol=2e-7)
    assert (chances[1:, :, 0] == 0).all()
    assert (chances[0, :, 0] == 1).all()
    done = chances.cumsum(2)
    assert (done[:, 1] >= done[:, 0] - 1e-6).all()
    means = chances[:, 0] @ np.arange(31)
    sides = home_positions(15)
    for point in range(1, 7):
        there = sides[sides[:, point] > 0]
        without = there.copy()
        without[:, point] -= 1
        here = np.array([row_of(side) for side in there])
        gained = means[here] - means[[row_of(side) for side in without]]
        assert (gained > -1e-5).all()  # (a pip less may cost: it can leave a gap)
        assert gained.max() < 1.3


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("long_nardy", {}),
        ("long_nardy", {"prime_rule": "home", "prime_wrap": "circular", "head_rule": "strict"}),
        ("long_nardy", {"prime_check": "every_step", "prime_wrap": "own_path"}),
        ("long_nardy", {"prime_rule": "allow", "last_roll": "draw_one", "koks": "none_home"}),
        ("backgammon", {"hit_run": "no_hide", "hit_run_zone": "all"}),
        ("tavla", {}),
    ],
)
def test_one_table_serves_all_plain_rules(name: str, options: dict[str, str]) -> None:
    made = table_of(name, 8, **options)
    assert made.kind == "plain"
    assert (made.chances == table_of("backgammon", 8).chances).all()


@pytest.mark.parametrize("check", ["turn_end", "every_step"])
def test_forbidden_primes_have_tables_of_their_own(check: str) -> None:
    """Ten checkers can hold all six points, which `prime_rule=forbid` does not let them."""
    rules = small("long_nardy", 10, prime_rule="forbid", prime_check=check)
    table = table_of("long_nardy", 10, prime_rule="forbid", prime_check=check)
    assert table.kind == f"no_primes_{check}"
    lost = np.isnan(table.chances).any((1, 2))
    assert lost.any()
    assert (home_positions(10)[lost, 1:7] > 0).all()
    np.testing.assert_allclose(table.chances[~lost].sum(2), 1, atol=1e-6)
    plain = table_of("long_nardy", 10).chances
    changed = np.flatnonzero((np.abs(table.chances - plain) > 1e-4).any((1, 2)) & ~lost)
    means = table.chances[:, 0] @ np.arange(21)
    for row in changed[:: len(changed) // 6]:
        home = tuple(home_positions(10)[row, 1:7].tolist())
        mean = 1.0
        for chance, roll in zip(ROLL_CHANCES, ROLLS.tolist(), strict=True):
            mean += chance * min(means[table.row(h)] for h in replies(rules, home, tuple(roll)))
        assert means[row] == pytest.approx(mean, abs=1e-5)


def test_threads_change_nothing() -> None:
    steps: list[tuple[int, int]] = []
    set_threads(3)
    made = build_table(small("backgammon", 8), lambda done, total: steps.append((done, total)))
    assert (made.chances == table_of("backgammon", 8).chances).all()
    assert steps == sorted(steps)
    assert steps[-1] == (3003, 3003)


def test_every_rule_there_is_was_considered() -> None:
    """A new field of the rules must be thought about before a lone bear-off may ignore it."""
    assert {field.name for field in fields(Rules)} == {
        *("name", "checkers", "start", "direction", "contact", "head_rule", "head_exception"),
        *("prime_rule", "prime_check", "prime_wrap", "last_roll", "koks", "opening_roll"),
        *("next_starter", "hit_run", "hit_run_zone"),
        *("ladder", "ladder_repeats", "ladder_from_turn", "unplayed", "stall"),
        *("runners", "runner", "start_prime", "start_prime_points", "trapping_prime", "mother"),
    }
    for name in variants():
        rules = variant(name)
        none = rules.ladder or rules.contact == "pin"
        assert bearoff.kind_of_play(rules) == (None if none else "plain")
    assert bearoff.kind_of_play(small("long_nardy", 5, prime_rule="forbid")) == "plain"


@pytest.mark.parametrize("home", [(0,) * 5, (0, 0, 0, 0, 0, -1), (4, 0, 0, 0, 0, 0)])
def test_positions_that_are_none_are_refused(home: Home) -> None:
    with pytest.raises(ValueError, match="six counts"):
        table_of("backgammon", 3).row(home)


# --- the evaluator ----------------------------------------------------------------------------


class Opinions:
    """An evaluator of random opinions, always the same."""

    name = "opinions"

    def __init__(self, rules: Rules) -> None:
        self.outcomes = len(rules.outcomes)

    def distributions(self, decisions: Decisions) -> np.ndarray:
        shape = (len(decisions.legal.after), self.outcomes)
        return np.random.default_rng(1).random(shape, np.float32)


def as_candidates(boards: np.ndarray, flags: np.ndarray) -> Decisions:
    """Decisions of one candidate each, which changes nothing."""
    count = len(boards)
    legal = LegalAfterstates(boards, np.arange(count + 1), np.zeros(count, np.int8))
    return Decisions(boards, flags, np.zeros(count, np.uint8), legal)


def games_played_out(rules: Rules) -> tuple[list[Home], np.ndarray]:
    """Outcome shares [2, N, N, K] of all pairs of home positions by two-sided recursion.

    [s, m, o]: of who just moved and has position m, against o; s: he started the game. Both play
    as `slow_table`; who wins and what is read off `reference_outcome`, turn by turn.
    """
    played, _finish, _first = slow_table(rules.checkers)
    homes = list(played)
    number = {home: i for i, home in enumerate(homes)}
    after = np.array([[number[reply] for reply in played[home]] for home in homes])
    count, outcomes = len(homes), list(rules.outcomes)
    shares = np.zeros((2, count, count, len(outcomes)))
    for total in range(2 * count - 1):
        mine = np.arange(max(0, total - count + 1), min(count, total + 1))
        his = total - mine
        for started in range(2):
            then = shares[1 - started, after[his], mine[:, None], ::-1]  # [pairs, 21, K]
            shares[started, mine, his] = np.einsum("r,prk->pk", ROLL_CHANCES, then)
        for m, o, started in product((0, total), (0, total), (0, 1)):
            if m + o != total or total >= count:
                continue
            sides = [{p: n for p, n in enumerate(homes[i], 1) if n} for i in (m, o)]
            outcome = reference_outcome(rules, sides[0], sides[1], bool(started))
            if outcome is not None:
                shares[started, m, o] = np.eye(len(outcomes))[outcomes.index(outcome[0])]
    return homes, shares


@pytest.mark.parametrize(
    "rules",
    [
        variant("hypergammon"),
        small("tavla", 4),
        small("long_nardy", 3, last_roll="draw_half", koks="none_home"),
        small("long_nardy", 5, last_roll="draw_one", koks="first_quarter"),
    ],
    ids=["hypergammon", "tavla-4", "drawn-3", "drawn-5"],
)
def test_shares_are_those_of_games_played_out(rules: Rules) -> None:
    """All pairs of positions, whoever started: wins, mars and draws, to 1e-6."""
    homes, expected = games_played_out(rules)
    count = len(homes)
    sides = np.zeros((count, 26), np.int8)
    sides[:, 1:7] = homes
    sides[:, 0] = rules.checkers - sides.sum(1)
    started, mine, his = np.indices((2, count, count)).reshape(3, -1)
    real = (mine > 0) | (his > 0)
    started, mine, his = started[real], mine[real], his[real]
    boards = np.stack([sides[mine], sides[his]], 1)
    flags = (4 * started * (rules.flag_mask & 4 > 0)).astype(np.uint8)
    table = table_of("backgammon", rules.checkers)
    got = BearoffEvaluator(Opinions(rules), rules, table).distributions(
        as_candidates(boards, flags)
    )
    np.testing.assert_allclose(got, expected[started, mine, his], atol=2e-6)
    mars = got[:, rules.outcomes.index(2)]
    assert mars[(his > 0) & (mine > 0)].max() > 0.1
    if rules.last_roll != "none":
        assert got[:, rules.outcomes.index(0)].max() > 0.5


@pytest.mark.parametrize(
    "name", [name for name in variants() if bearoff.kind_of_play(variant(name))]
)
def test_other_candidates_stay_to_the_bit(name: str) -> None:
    """Decisions of whole games: what is not a bear-off of both is what the inner one says."""
    rules = variant(name)
    parts = []
    for turn in play_turns(rules, games=12, turns=150, rng=np.random.default_rng(8)):
        near = turn.points[:, :, 9:].sum((1, 2)) <= 2
        near[0] = True
        parts.append((turn.points[near], turn.rolls[near], turn.flags[near]))
    points, rolls, flags = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
    flags = flags & np.uint8(rules.flag_mask)
    legal = legal_afterstates(rules, points, rolls, flags=flags)
    decisions = Decisions(points, flags & np.uint8(254), np.zeros_like(flags), legal)
    inner = Opinions(rules)
    evaluator = BearoffEvaluator(inner, rules, table_of("backgammon", rules.checkers))
    before, got = inner.distributions(decisions), evaluator.distributions(decisions)
    home = (legal.after[:, :, 7:] == 0).all((1, 2))
    assert 20 < home.sum() < len(home) - 20
    assert (got[~home] == before[~home]).all()
    assert (got[home] != before[home]).any(1).all()
    np.testing.assert_allclose(got[home].sum(1), 1, atol=1e-6)
    assert (got[home] >= 0).all()
    set_threads(3)
    assert (evaluator.distributions(decisions) == got).all()


def test_equities_are_points() -> None:
    """One checker on the ace each, my opponent to roll: he wins, and I may be mars."""
    rules = variant("backgammon")
    boards = np.zeros((2, 2, 26), np.int8)
    boards[:, :, 0], boards[:, :, 1] = 14, 1
    boards[1, 0, :2] = 0, 15
    valuer = NetValuer(rules, BearoffEvaluator(Opinions(rules), rules, table_of("backgammon")))
    equities = valuer.equities(as_candidates(boards, np.zeros(2, np.uint8)))
    np.testing.assert_allclose(equities, [-1, -2], atol=1e-6)


def test_forbidden_positions_are_left_to_the_net() -> None:
    options = {"prime_rule": "forbid", "prime_check": "turn_end"}
    rules = small("long_nardy", 10, **options)
    table = table_of("long_nardy", 10, **options)
    boards = np.zeros((1, 2, 26), np.int8)
    lost = np.flatnonzero(np.isnan(table.chances[:, 0, 0]))
    boards[0] = home_positions(10)[lost[0]]
    decisions = as_candidates(boards, np.zeros(1, np.uint8))
    got = BearoffEvaluator(Opinions(rules), rules, table).distributions(decisions)
    assert (got == Opinions(rules).distributions(decisions)).all()


def test_the_table_comes_with_the_first_bearoff(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rules = variant("hypergammon")
    inner = Opinions(rules)
    evaluator = with_bearoff(inner, rules)
    assert evaluator.inner is inner  # type: ignore[attr-defined]
    assert with_bearoff(evaluator, rules) is evaluator
    boards = np.repeat(rules.start_points()[None], 2, axis=0)
    evaluator.distributions(as_candidates(boards, np.zeros(2, np.uint8)))
    assert not (tmp_path / "cache").exists()
    boards[1] = 0
    boards[1, :, 6] = 3
    evaluator.distributions(as_candidates(boards, np.zeros(2, np.uint8)))
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_variants_without_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = variant("hypergammon")
    with pytest.raises(ConfigError, match="15 checkers; hypergammon needs plain play with 3"):
        BearoffEvaluator(Opinions(rules), rules, table_of("backgammon"))
    monkeypatch.setattr(bearoff.evaluator, "kind_of_play", lambda rules: None)
    monkeypatch.setattr(bearoff.table, "kind_of_play", lambda rules: None)
    monkeypatch.setattr(bearoff.storage, "kind_of_play", lambda rules: None)
    inner = Opinions(rules)
    assert with_bearoff(inner, rules) is inner
    for make in (build_table, load_table, lambda rules: BearoffEvaluator(inner, rules)):
        with pytest.raises(ConfigError, match="hypergammon: there is no bear-off table"):
            make(rules)


# --- files ------------------------------------------------------------------------------------

SMALL = small("backgammon", 5)


def forget() -> None:
    bearoff.storage._loaded.clear()


def test_a_table_is_made_once_and_mapped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = load_table(SMALL)
    assert load_table(small("long_nardy", 5)) is made  # the same play
    forget()
    monkeypatch.setattr(bearoff.storage, "build_table", None)
    read = load_table(SMALL)
    assert isinstance(read.chances.base, np.memmap)
    assert not read.chances.flags.writeable
    assert (read.chances == table_of("backgammon", 5).chances).all()
    [path] = (tmp_path / "cache").iterdir()
    assert path.name.startswith("bearoff-plain-5-v")
    assert (np.load(path) == read.chances).all()


def damages() -> dict[str, object]:
    return {
        "empty": lambda whole: b"",
        "cut": lambda whole: whole[:-1],
        "longer": lambda whole: whole + b"\0",
        "bit": lambda whole: whole[:5000] + bytes([whole[5000] ^ 1]) + whole[5001:],
        "digest": lambda whole: whole[:-1] + bytes([whole[-1] ^ 1]),
        "shape": lambda whole: whole.replace(b"(462, 2, 11)", b"(462, 11, 2)"),
        "text": lambda whole: b"x" * len(whole),
    }


@pytest.mark.parametrize("damage", damages())
def test_damaged_files_are_made_anew(tmp_path: Path, damage: str) -> None:
    good = load_table(SMALL).chances.copy()
    [path] = (tmp_path / "cache").iterdir()
    whole = path.read_bytes()
    path.unlink()  # the table in use is mapped: replace the file, as a program would
    path.write_bytes(damages()[damage](whole))  # type: ignore[operator]
    forget()
    with pytest.warns(RuntimeWarning, match="made anew"):
        assert (load_table(SMALL).chances == good).all()
    assert path.read_bytes() == whole
    assert list((tmp_path / "cache").iterdir()) == [path]


def test_other_versions_have_other_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load_table(SMALL)
    forget()
    monkeypatch.setattr(bearoff.storage, "RULES_VERSION", 99)
    load_table(SMALL)
    assert len(list((tmp_path / "cache").iterdir())) == 2


@pytest.mark.parametrize("where", ["write", "fsync", "replace"])
def test_a_full_disk_costs_only_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    if where == "write":
        monkeypatch.setattr(bearoff.storage, "_head", full)
    else:
        monkeypatch.setattr(os, where, full)
    with pytest.warns(RuntimeWarning, match="stays in memory"):
        table = load_table(SMALL)
    assert (table.chances == table_of("backgammon", 5).chances).all()
    assert list((tmp_path / "cache").iterdir()) == []
    assert load_table(SMALL) is table


def test_a_folder_that_cannot_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NARDY_RL_CACHE", str(tmp_path / "file" / "cache"))
    with pytest.warns(RuntimeWarning, match="NARDY_RL_CACHE names another folder"):
        assert load_table(SMALL).checkers == 5


def test_where_the_cache_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert bearoff.cache_folder() == tmp_path / "cache"
    monkeypatch.setenv("NARDY_RL_CACHE", "")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert bearoff.cache_folder() == tmp_path / "nardy_rl"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert bearoff.cache_folder() == tmp_path / ".cache" / "nardy_rl"
    load_table(SMALL, tmp_path / "named")
    assert len(list((tmp_path / "named").iterdir())) == 1


def test_progress_is_shown_on_a_terminal_only(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bearoff.storage.show_progress(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    bearoff.storage.show_progress(1, 2)
    bearoff.storage.show_progress(2, 2)
    assert "50 %\rbear-off table, made once: 100 %\n" in capsys.readouterr().err
