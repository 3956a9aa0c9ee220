"""Who is judged: a player with, where it has them, its own values."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from nardy_rl.errors import CheckpointError
from nardy_rl.inference import Evaluator
from nardy_rl.players import Player, make_player, make_valuer
from nardy_rl.rules import Rules
from nardy_rl.search import Valuer
from nardy_rl.train.checkpoint import checkpoint_at


@dataclass(frozen=True)
class Judged:
    """A player to be judged.

    Attributes:
        text: as it was named.
        source: the checkpoint or file that it comes from; empty for a player by name.
        sha256: of the weights or the file there.
        player: who chooses.
        base: the same at 0 plies, who plays the games that positions are taken from.
        valuer: its own values, as it plays; None for a player without.
        base_valuer: at 0 plies; likewise.
        evaluator: of its net; None where there is none.
    """

    text: str
    source: str
    sha256: str
    player: Player
    base: Player
    valuer: Valuer | None
    base_valuer: Valuer | None
    evaluator: Evaluator | None


def judged(text: str, rules: Rules, *, evaluator: str = "auto") -> Judged:
    """The player that `text` names, WHAT or WHAT@HOW.

    Raises as `make_player`.
    """
    player = make_player(text, rules, evaluator=evaluator)
    what = without_plies(text)
    base = player if what == text else make_player(what, rules, evaluator=evaluator)
    base_valuer: Valuer | None = getattr(base, "valuer", None)
    valuer = base_valuer
    if base_valuer is not None and player is not base:
        # Not the player's own: it has no need to value a choice that is the only one.
        valuer = make_valuer(text, rules, evaluator=evaluator)
    computed: Evaluator | None = getattr(base, "evaluator", None)
    source, sha256 = _source(what)
    return Judged(text, source, sha256, player, base, valuer, base_valuer, computed)


def without_plies(text: str) -> str:
    """WHAT of WHAT@HOW; a path that is there is all WHAT.

    >>> without_plies("gnubg@2ply"), without_plies("pips")
    ('gnubg', 'pips')
    """
    what, at, _ = text.rpartition("@")
    return what if at and not Path(text).exists() else text


def _source(what: str) -> tuple[str, str]:
    """Where a player comes from, with the sha256 of its weights or file; empty for a name."""
    path = Path(what)
    if "/" not in what and not path.exists():
        return "", ""
    if path.is_dir():
        try:
            path = checkpoint_at(path)
        except CheckpointError:
            return str(path), ""
    file = path / "model.safetensors" if path.is_dir() else path
    if not file.is_file():
        return str(path), ""
    with open(file, "rb") as content:
        return str(path), hashlib.file_digest(content, "sha256").hexdigest()
