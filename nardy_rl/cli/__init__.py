"""The command line: `nardy-rl VERB [name=value ...]`.

The verbs are imported when they are asked for, so that `nardy-rl --help` costs no torch. Whatever
a user can get wrong ends here as one line on stderr and exit status 2.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from nardy_rl.cli.near import did_you_mean
from nardy_rl.errors import (
    AmbiguousPlay,
    CheckpointError,
    ConfigError,
    IllegalPlay,
    InvalidPosition,
    InvalidText,
)

__all__ = ["main"]

VERBS = {
    "train": "learn a variant by self-play, then play the baselines",
    "arena": "match two players on duplicate dice",
    "tournament": "every player against every other: cross-table and ratings",
    "judge": "what a net's choices lose, against exact tables, gnubg or rollouts",
    "analyse": "what each play of a roll is worth, or what a recorded game lost",
    "games": "files of games: list, convert, play and write down",
    "play": "play a game against any player, here in the terminal",
    "serve": "let GNU Backgammon play against a player, over a socket",
    "solve": "exact values of small games, as a table on disk",
    "export": "write a net as a portable file",
    "cards": "the figures of trained nets: measure, ship, table",
    "bench": "measure the speed of rules, self-play and training here",
    "variants": "list the games, or the options of one",
}
"""Each verb is the module of the same name in this package, with a function `run(words)`."""

USER_ERRORS = (
    AmbiguousPlay,
    CheckpointError,
    ConfigError,
    IllegalPlay,
    InvalidPosition,
    InvalidText,
    FileNotFoundError,
    FileExistsError,
    IsADirectoryError,
    NotADirectoryError,
    PermissionError,
)

HELP = """\
nardy-rl: self-play training of long nardy, backgammon and their relatives

usage: nardy-rl VERB [name=value ...]

{verbs}

examples:
  nardy-rl train                                      the default: long nardy, a few minutes
  nardy-rl train variant=backgammon net=h150          another game, another net
  nardy-rl train experiment=smoke                     everything once, in under a minute
  nardy-rl train resume=runs/long_nardy/2026-11-30_12-00-00-default
  nardy-rl train resume=RUN budget.games=500000 budget.minutes=null      and further
  nardy-rl arena a=RUN b=pips games=10000             a trained net against a baseline
  nardy-rl variants long_nardy                        the house rules that can be changed

`nardy-rl VERB --help` explains a verb. Everywhere: --debug (or NARDY_RL_DEBUG=1) shows the
traceback behind an error, --version the version.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0 done, 1 failed, 2 asked for wrongly."""
    words = list(sys.argv[1:] if argv is None else argv)
    debug = os.environ.get("NARDY_RL_DEBUG", "0") not in ("", "0")
    if "--debug" in words:
        words.remove("--debug")
        debug = True
    try:
        return dispatch(words)
    except USER_ERRORS as error:
        return failed(error, status=2, debug=debug)
    except BrokenPipeError:
        # The reader (`| head`) has gone; a second failure at interpreter exit would be noise.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except MemoryError as error:
        return failed(error, status=2, debug=debug)
    except RuntimeError as error:
        if "allocate" not in str(error) and "not enough memory" not in str(error):
            raise
        return failed(MemoryError(*error.args), status=2, debug=debug)
    except OSError as error:
        return failed(error, status=1, debug=debug)
    except KeyboardInterrupt:
        return 130


def dispatch(words: list[str]) -> int:
    """Hand the words after the verb to its module."""
    if "--version" in words:
        from importlib.metadata import version

        print(f"nardy-rl {version('nardy-rl')}")
        return 0
    if not words or words[0] in ("-h", "--help", "help"):
        print(HELP.format(verbs="\n".join(f"  {verb:<12}{text}" for verb, text in VERBS.items())))
        return 0
    verb, *rest = words
    if verb not in VERBS:
        raise ConfigError(
            f"unknown verb {verb!r}{did_you_mean(verb, VERBS)}; there are: {', '.join(VERBS)}"
        )
    module = importlib.import_module(f"nardy_rl.cli.{verb}")
    return int(module.run(rest))


def failed(error: Exception, *, status: int, debug: bool) -> int:
    """Say in one line what went wrong; with `debug`, let the traceback through instead."""
    if debug:
        raise error
    text = str(error)
    if isinstance(error, OSError):
        text = error.strerror or text
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            text = "the disk is full; what was saved before is intact"
        if error.filename:
            text = f"{error.filename}: {text}"
    if isinstance(error, MemoryError):
        text = f"not enough memory; take a smaller net or batch ({text or 'allocation failed'})"
    # One line: Hydra's and torch's messages can hold several.
    print(f"error: {' '.join(text.split())}", file=sys.stderr)
    return status
