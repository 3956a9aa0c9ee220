"""A process of its own in which GNU Backgammon's nets answer; `nardy_rl.players.gnubg` starts it.

Run by its path, so it imports nothing of this package. After a line with its version it answers
requests on stdin: a header `HEADER` (what, plies, count), then the boards. A board is 50 bytes:
the places 1..24 and the bar, each side in its own numbering, first the side that is not on roll.

* `VALUES`: boards of 50 bytes; answers five float32 each, of the side on roll: the chances to win,
  to win a gammon or more, to win a backgammon, to lose a gammon or more, to lose a backgammon.
* `BEST`: boards followed by two dice, 52 bytes; answers the board after the best play, 50 bytes,
  first the side that played. There must be a legal play.

It ends when stdin does.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from importlib.metadata import version
from typing import IO

HEADER = struct.Struct("<BBI")
VALUES, BEST = 0, 1
SIDE = 25
BOARD = 2 * SIDE


def serve(source: IO[bytes], sink: IO[bytes]) -> None:
    """Answer requests until the source ends."""
    import gnubg_nn  # type: ignore[import-untyped]

    sink.write(f"gnubg-nn {version('gnubg-nn')}\n".encode())
    sink.flush()
    while len(header := source.read(HEADER.size)) == HEADER.size:
        what, plies, count = HEADER.unpack(header)
        width = BOARD if what == VALUES else BOARD + 2
        rows = source.read(count * width)
        values, boards = array("f"), bytearray()
        for low in range(0, len(rows), width):
            board = [list(rows[low : low + SIDE]), list(rows[low + SIDE : low + BOARD])]
            if what == VALUES:
                values.extend(gnubg_nn.probabilities(board, plies))
            else:
                die1, die2 = rows[low + BOARD : low + width]
                _, key, *_ = gnubg_nn.best_move(board, die1, die2, n=plies, b=1)
                for side in gnubg_nn.board_from_position_key(key):
                    boards.extend(side)
        sink.write(values.tobytes() if what == VALUES else boards)
        sink.flush()


if __name__ == "__main__":
    # Whatever the library prints must not get among the answers.
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)
