"""What `nardy-rl train --help` teaches, read from the config files themselves."""

from __future__ import annotations

import re
from pathlib import Path

from nardy_rl.cli.configs import TRAIN, compose, config_dir, flatten, groups

INTRO = """\
nardy-rl train: learn a variant by self-play, then play the baselines

usage: nardy-rl train [name=value ...] [-m]

examples:
  nardy-rl train                                        long nardy, a few minutes
  nardy-rl train variant=backgammon net=h256x3 train.learner.learning_rate=1e-3
  nardy-rl train variant.options.head_rule=strict       a house rule; `nardy-rl variants` lists them
  nardy-rl train experiment=strong_wide                 a recipe: stages, from small to strong
  nardy-rl train experiment=strong budget.minutes=60    another, stopped after an hour
  nardy-rl train net.hidden=[128,64] name=odd           a net of your own
  nardy-rl train -m seed=1,2,3 net=h40,h80              a sweep: all six runs, one after the other
  nardy-rl train --cfg job                              print the composed config and stop

A run goes to runs/<variant>/<date>_<time>-<name>, never over another one. Ctrl-C saves and stops;
to go on exactly where it was, with the config stored there:

  nardy-rl train resume=runs/long_nardy/2026-11-30_12-00-00-default
  nardy-rl train resume=RUN budget.games=500000 budget.minutes=null

goes on further than first planned. A learning-rate schedule still ends where it was to end when
the run began (train.learner.horizon_games, else budget.games); from there the rate stays as it is.

A recipe (experiment=strong, recipe=staged, recipe=wide) is a training in stages, each from the net
of the one before. recipe.scale=0.1 makes all its stages a tenth as long; what differs in a stage
is below recipe.stages.NAME, as in recipe.stages.tail.budget.games=50000. resume=RUN goes on in the
stage that was cut off; budget.minutes counts from the beginning of the first.

To watch it: tensorboard --logdir runs
"""


def train_guide() -> str:
    """The help of `nardy-rl train`: examples, groups with their choices, settings with defaults."""
    lines = [INTRO, "Choices (group=name):", ""]
    for group, options in groups().items():
        lines.append(f"  {group}")
        lines += [
            f"    {option:<24}{_headline(config_dir() / group / f'{option}.yaml')}"
            for option in options
        ]
    lines += ["", "Settings (name=value) and what they are by default:", ""]
    texts = comments()
    for key, value in flatten(compose()).items():
        shown = "null" if value is None else str(value).replace("'", "")
        lines.append(f"  {f'{key}={shown}':<48}{texts.get(key, '')}".rstrip())
    return "\n".join(lines)


def comments() -> dict[str, str]:
    """The comment behind each setting in the config files, by its dotted key."""
    folder = config_dir()
    files = [(folder / f"{TRAIN}.yaml", "")]
    for group in groups():
        if group not in ("experiment", "debug"):
            files += [(f, group.replace("/", ".")) for f in sorted((folder / group).glob("*.yaml"))]
    texts: dict[str, str] = {}
    for file, prefix in files:
        path: list[tuple[int, str]] = []
        for line in file.read_text(encoding="utf-8").splitlines():
            found = re.match(r"^( *)(\w+):(.*)$", line)
            if not found:
                continue
            indent, name = len(found[1]), found[2]
            path = [(depth, part) for depth, part in path if depth < indent] + [(indent, name)]
            key = ".".join(filter(None, [prefix, *(part for _, part in path)]))
            if " # " in found[3]:
                texts.setdefault(key, found[3].split(" # ", 1)[1].strip())
    return texts


def _headline(file: Path) -> str:
    """The first sentence of the comment at the head of a config file."""
    text = []
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        if "@package" not in line:
            text.append(line.lstrip("# "))
    sentence = " ".join(text).split(". ")[0]
    return sentence.rstrip(".")
