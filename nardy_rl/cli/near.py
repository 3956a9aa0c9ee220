"""Near misses: what a mistyped word was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def near(word: str, known: Iterable[str], count: int = 3) -> list[str]:
    """The known words closest to `word`, best first; dotted keys also match by their last part.

    >>> near("learning_rat", ["train.learner.learning_rate", "train.learner.minibatch"])
    ['train.learner.learning_rate']
    >>> near("longnardy", ["long_nardy", "backgammon"])
    ['long_nardy']
    """
    words = list(dict.fromkeys(known))
    last = word.rsplit(".", 1)[-1].rsplit("/", 1)[-1].lower()

    def likeness(candidate: str) -> float:
        whole = difflib.SequenceMatcher(None, word.lower(), candidate.lower()).ratio()
        tail = candidate.rsplit(".", 1)[-1].rsplit("/", 1)[-1].lower()
        # The tail counts a little less, so that a hit on the whole key comes first.
        return max(whole, 0.98 * difflib.SequenceMatcher(None, last, tail).ratio())

    scored = sorted(((likeness(known), known) for known in words), key=lambda pair: -pair[0])
    # Far behind the best one is not near.
    floor = max(0.7, scored[0][0] - 0.15) if scored else 1.0
    return [known for score, known in scored[:count] if score >= floor]


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A clause for the end of an error's first half, or nothing where no word comes close.

    >>> did_you_mean("trian", ["train", "arena"])
    ' (did you mean train?)'
    >>> did_you_mean("qqq", ["train", "arena"])
    ''
    """
    found = near(word, known)
    return f" (did you mean {' or '.join(found)}?)" if found else ""
