"""The kernels against every case of the shared case files."""

from __future__ import annotations

import numpy as np
import pytest

from nardy_rl.rules import Position, legal_afterstates
from tests.case_files import Case, read_cases

CASES = read_cases()


def test_all_case_files_are_here() -> None:
    assert len(CASES) == 441


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_kernels_give_the_recorded_results(case: Case) -> None:
    points = _points(case)
    found = legal_afterstates(
        case.rules,
        points[None],
        np.array([case.roll], dtype=np.int8),
        np.array([case.first_turn]),
    )
    assert found.dice_used.tolist() == [case.dice_used]
    assert found.offsets.tolist() == [0, case.count]
    assert len({after.tobytes() for after in found.after}) == case.count
    if case.after_me is not None:
        mine = [_on_board(after[0]) for after in found.after]
        assert sorted(mine) == sorted(sorted(after.items()) for after in case.after_me)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_position_plays_give_the_recorded_results(case: Case) -> None:
    position = Position.from_points(
        case.rules,
        me={place: count for place, count in case.me.items() if 1 <= place <= 24},
        opp={place: count for place, count in case.opp.items() if 1 <= place <= 24},
        me_off=case.me.get(0, 0),
        opp_off=case.opp.get(0, 0),
        me_bar=case.me.get(25, 0),
        opp_bar=case.opp.get(25, 0),
        first_turn=(case.first_turn, False),
    )
    plays = position.plays(case.roll)
    assert len(plays) == case.count
    assert {play.dice_used for play in plays} == {case.dice_used}
    assert len({play.after for play in plays}) == case.count


def _points(case: Case) -> np.ndarray:
    points = np.zeros((2, 26), dtype=np.int8)
    for row, side in enumerate((case.me, case.opp)):
        for place, count in side.items():
            points[row, place] = count
    return points


def _on_board(row: np.ndarray) -> list[tuple[int, int]]:
    return [(place, int(row[place])) for place in range(1, 26) if row[place]]
