"""The case files of tests/cases, read into plain records."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nardy_rl.rules import Rules, variant

FOLDER = Path(__file__).parent / "cases"

Places = dict[int, int]


@dataclass(frozen=True)
class Case:
    """One position and roll with what two earlier references found to be legal.

    `me` and `opp` map own distance to go to checkers, 0 borne off and 25 the bar.
    `after_me` lists my checkers on the board in every result, or is None where not recorded.
    """

    name: str
    rules: Rules
    me: Places
    opp: Places
    roll: tuple[int, int]
    first_turn: bool
    dice_used: int
    count: int
    after_me: list[Places] | None


def read_cases() -> list[Case]:
    """Every case of every file, in file order."""
    return [
        _case(json.loads(line))
        for path in sorted(FOLDER.glob("*.jsonl"))
        for line in path.read_text(encoding="utf-8").splitlines()
    ]


def _case(row: dict[str, Any]) -> Case:
    rules = variant(row["variant"], **row["options"])
    after_me = row.get("after_me")
    return Case(
        name=row["case"],
        rules=rules,
        me={**_places(row["me"]), 0: row["me_off"]},
        opp={**_places(row["opp"]), 0: row["opp_off"]},
        roll=(row["roll"][0], row["roll"][1]),
        first_turn=row.get("first_turn", False),
        dice_used=row["dice_used"],
        count=row["count"],
        after_me=None if after_me is None else [_places(after) for after in after_me],
    )


def _places(row: dict[str, int]) -> Places:
    return {int(place): count for place, count in row.items()}
