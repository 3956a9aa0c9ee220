"""The players of a tournament: made and checked before the first game, with short names."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.players import BASELINES, Player, make_player, make_valuer
from nardy_rl.rules.record import Rules
from nardy_rl.search import Valuer
from nardy_rl.train.checkpoint import FOLDER, checkpoint_at

_BLOCK = 1 << 20

_AS_IT_COMES = "@0ply"
"""Says no more than the text without it."""


@dataclass(frozen=True)
class Entrant:
    """A player that takes part.

    Attributes:
        text: as it was named, see `make_player`.
        label: for tables: the end of its path, as much of it as no other entrant has.
        source: the checkpoint folder or file that its text led to; empty for a player by name.
        sha256: of the weights there, or of what else is there; empty for a player by name.
        identity: alike for two entrants exactly where they play alike.
        player: that plays.
    """

    text: str
    label: str
    source: str
    sha256: str
    identity: str
    player: Player = field(compare=False)


def entrants(texts: Sequence[str], rules: Rules, *, evaluator: str = "auto") -> tuple[Entrant, ...]:
    """Make every player, or none.

    Args:
        texts: as `make_player` takes them, at least two.
        rules: of the game.
        evaluator: how nets are computed.

    Raises:
        ConfigError: fewer than two, one that is named twice or the same net by two names, or an
            unknown one.
        CheckpointError: see `make_player`.
    """
    if len(texts) < 2:
        raise ConfigError(f"players: {len(texts)} given; a tournament takes two or more")
    labels = short_names(texts)
    made: list[Entrant] = []
    for text, label in zip(texts, labels, strict=True):
        try:
            entrant = _entrant(text, label, rules, evaluator)
        except (CheckpointError, ConfigError) as error:
            raise type(error)(f"players: {error}") from error
        for other in made:
            if other.identity == entrant.identity:
                twice = "is there twice" if other.text == text else f"plays as {other.text} does"
                raise ConfigError(
                    f"players: {text} {twice}; a player against itself scores exactly 0, "
                    "name each one once"
                )
        made.append(entrant)
    return tuple(made)


def luck_judge(text: str, rules: Rules, *, evaluator: str = "auto") -> tuple[Valuer, str]:
    """Whose values measure the luck of the dice, and its identity as of an `Entrant`.

    Raises:
        ConfigError: a player without values.
        CheckpointError: see `make_valuer`.
    """
    try:
        judge = make_valuer(text, rules, evaluator=evaluator)
    except (CheckpointError, ConfigError) as error:
        raise type(error)(f"luck: {error}") from error
    return judge, _identified(text, judge)[2]


def short_names(texts: Sequence[str]) -> list[str]:
    """The end of each text, as many parts of its path as tell it from the others.

    >>> short_names(["runs/a/one", "runs/b/one", "pips", "runs/a/two/checkpoints/games-9@1ply"])
    ['a/one', 'b/one', 'pips', 'games-9@1ply']
    """
    parts = [[part for part in text.strip("/").split("/") if part != FOLDER] for text in texts]
    # A path that is nothing but the folder of checkpoints keeps its name.
    parts = [part or [text] for part, text in zip(parts, texts, strict=True)]
    names = []
    for own in parts:
        length = 1
        while length < len(own) and sum(other[-length:] == own[-length:] for other in parts) > 1:
            length += 1
        names.append("/".join(own[-length:]))
    return names if len(set(names)) == len(names) else list(texts)


def _entrant(text: str, label: str, rules: Rules, evaluator: str) -> Entrant:
    player = make_player(text, rules, evaluator=evaluator)
    return Entrant(text, label, *_identified(text, player), player)


def _identified(text: str, made: Player | Valuer) -> tuple[str, str, str]:
    """Source, sha256 and identity of what a text named; see `Entrant`."""
    place, how = _place(text)
    if place is None:
        return "", "", text.removesuffix(_AS_IT_COMES)
    source = place
    if place.is_dir():
        try:
            source = checkpoint_at(place)
        except CheckpointError:
            source = place  # a folder of another kind, such as a table
    sha256 = _sha256(source)
    # The same net computed otherwise rounds otherwise.
    computed = getattr(getattr(made, "evaluator", None), "name", "")
    words = ["sha256:" + sha256, how, computed]
    return str(source), sha256, " ".join(word for word in words if word)


def _place(text: str) -> tuple[Path | None, str]:
    """Where a text leads on the disk, and how what is there plays: PATH[@HOW]."""
    if _is_path(text):
        return Path(text), ""
    what, at, how = text.rpartition("@")
    if at and _is_path(what):
        return Path(what), "" if f"@{how}" == _AS_IT_COMES else how
    return None, ""


def _is_path(text: str) -> bool:
    """Whether something is there that is no player by that name."""
    return Path(text).exists() and text not in BASELINES


def _sha256(place: Path) -> str:
    """Of a file; of a checkpoint's weights; of a folder's files and their names otherwise."""
    digest = hashlib.sha256()
    model = place / "model.safetensors"
    if place.is_file() or model.is_file():
        _feed(digest, model if model.is_file() else place)
        return digest.hexdigest()
    for file in sorted(path for path in place.rglob("*") if path.is_file()):
        digest.update(f"{file.relative_to(place)}\0{file.stat().st_size}\0".encode())
        _feed(digest, file)
    return digest.hexdigest()


def _feed(digest: hashlib._Hash, file: Path) -> None:
    with open(file, "rb") as content:
        while block := content.read(_BLOCK):
            digest.update(block)
