"""Reading and checking the `name=value` words of a command line, before anything is created.

Hydra would refuse a wrong word too, but in terms of its own machinery and without saying what was
probably meant. Here each word is looked up among the config groups, the keys of the composed
config and the options of the variant.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from nardy_rl.cli.configs import compose, flatten, groups
from nardy_rl.cli.near import did_you_mean, near
from nardy_rl.errors import ConfigError

if TYPE_CHECKING:
    from hydra.core.override_parser.types import Override

OPTIONS = "variant.options."
"""Keys below this come from the rules of the variant, not from a config file."""

JOBS_CHECKED = 1000
"""A sweep is checked job by job before it starts, at most this many."""


def parse(words: Sequence[str]) -> list[Override]:
    """The words as Hydra reads them; `ConfigError` for one that is no `name=value`."""
    from hydra.core.override_parser.overrides_parser import OverridesParser
    from hydra.errors import HydraException

    parser = OverridesParser.create()
    parsed = []
    for word in words:
        if "=" not in word and not word.startswith("~"):
            homes = [f"{group}={word}" for group, names in groups().items() if word in names]
            raise ConfigError(f"expected name=value, got {word!r}{_meant(homes)}")
        try:
            parsed.append(parser.parse_override(word))
        except HydraException as error:
            raise ConfigError(f"cannot read {word!r}: {str(error).splitlines()[0]}") from error
    return parsed


def expand(words: Sequence[str]) -> list[list[str]]:
    """The jobs of a sweep: one list of single-valued words for each combination, in order.

    A range that only a foreign sweeper understands (`interval(..)`) stays as it is.
    """
    choices: list[list[str]] = []
    for override, word in zip(parse(words), words, strict=True):
        if override.is_sweep_override() and override.is_discrete_sweep():
            key = override.get_key_element()
            choices.append([f"{key}={value}" for value in override.sweep_string_iterator()])
        else:
            choices.append([word])
    return [list(job) for job in itertools.islice(itertools.product(*choices), JOBS_CHECKED)]


def check(words: Sequence[str]) -> list[str]:
    """Check the words of one job; returns them ready for Hydra.

    Raises `ConfigError` naming the near misses for: an unknown group option, an unknown key, a
    section named as if it were a key, an unknown option of the variant or value of it.
    """
    overrides = parse(words)
    known = groups()
    chosen = [w for o, w in zip(overrides, words, strict=True) if o.key_or_group in known]
    for override in overrides:
        _check_kind(override)
        if override.key_or_group in known:
            _check_group(override, known[override.key_or_group])
    keys = flatten(compose(chosen))
    ready = []
    for override, word in zip(overrides, words, strict=True):
        key = override.key_or_group
        if key == OPTIONS.rstrip("."):
            raise ConfigError(
                f"{word}: give each option by its name, variant.options.NAME=VALUE; "
                "`nardy-rl variants NAME` lists them"
            )
        if key.startswith(OPTIONS):
            # Options that the config file does not mention are there all the same.
            ready.append("++" + word.lstrip("+"))
            continue
        if key not in known and not key.startswith(("hydra.", "hydra/")):
            _check_key(key, keys, known)
        ready.append(word)
    return ready


def values(words: Sequence[str], key: str) -> list[Any]:
    """Every value that the words give to `key`, in order."""
    return [o.value() for o in parse(words) if o.key_or_group == key]


def _check_kind(override: Override) -> None:
    if override.is_delete():
        raise ConfigError(f"{override.input_line}: nothing can be taken out of the config")
    if override.is_sweep_override():
        raise ConfigError(f"{override.input_line}: several values; add -m to train with each")


def _check_group(override: Override, options: Iterable[str]) -> None:
    value = override.value()
    for choice in value if isinstance(value, list) else [value]:
        name = str(choice)
        if choice is None or name in options:
            continue
        if override.key_or_group == "variant":
            # The rules know why there is no `six_one`.
            from nardy_rl.rules.record import variant

            variant(name)
        raise ConfigError(
            f"{override.key_or_group}={name}: no such choice{did_you_mean(name, options)}; "
            f"there are: {', '.join(options)}"
        )


def _check_key(key: str, keys: Iterable[str], known: Iterable[str]) -> None:
    keys, known = list(keys), list(known)
    if key in keys:
        return
    below = [name for name in keys if name.startswith(f"{key}.")]
    if below:
        as_group = key.replace(".", "/")
        hint = f"{as_group}=.. chooses a file, or " if as_group in known else ""
        shown = ", ".join(below[:12]) + (", .." if len(below) > 12 else "")
        raise ConfigError(f"{key} is a section, not a setting; {hint}set one of: {shown}")
    found = near(key, [*keys, *known])
    hint = _meant(found) or "; `nardy-rl train --help` lists them all"
    raise ConfigError(f"unknown setting {key!r}{hint}")


def _meant(found: Sequence[str]) -> str:
    return f" (did you mean {' or '.join(found)}?)" if found else ""
