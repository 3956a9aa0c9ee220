"""Every config file composes, and composes to settings that the trainer takes."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from nardy_rl.cli.configs import compose, config_dir, flatten, groups
from nardy_rl.cli.guide import comments, train_guide
from nardy_rl.cli.settings import settings_from, stages_from
from nardy_rl.rules.record import variant, variants
from nardy_rl.train.settings import TrainSettings


def runs_of(words: list[str]) -> list[TrainSettings]:
    """The settings of every run that these words ask for: of each stage of a recipe."""
    config = compose(words)
    stages = stages_from(config)
    if stages:
        return [stage.settings for stage in stages]
    return [settings_from({key: value for key, value in config.items() if key != "recipe"})]


CHOICES = [f"{group}={option}" for group, options in groups().items() for option in options]


@pytest.mark.parametrize("choice", CHOICES)
def test_every_choice_composes_to_settings(choice: str) -> None:
    for settings in runs_of([choice]):
        assert settings.budget.games or settings.budget.minutes


@pytest.mark.parametrize("experiment", groups()["experiment"])
def test_every_experiment_takes_another_variant(experiment: str) -> None:
    for settings in runs_of([f"experiment={experiment}", "variant=tavla"]):
        assert settings.variant.name == "tavla"


def test_every_variant_has_its_file_and_its_file_its_name() -> None:
    assert sorted(groups()["variant"]) == sorted(variants())
    for name in variants():
        lines = (config_dir() / "variant" / f"{name}.yaml").read_text().splitlines()
        assert any(line.startswith(f"name: {name} ") for line in lines)


def test_the_config_names_every_setting_and_no_other() -> None:
    config = compose()
    settings = settings_from(config).to_dict()
    there = {key for key in flatten(config) if not key.startswith(("variant.options", "run_dir"))}
    there = {key.removeprefix("train.") for key in there if not key.startswith("recipe.")}
    there -= {"resume"}
    wanted = {key for key in flatten(settings) if not key.startswith("variant.options")}
    assert there == wanted


def test_an_experiment_beats_the_defaults_and_the_command_line_beats_both() -> None:
    assert compose(["experiment=tdgammon_1992"])["net"]["hidden"] == [40]
    config = compose(["experiment=tdgammon_1992", "net=h150", "train.targets.lam=0.3"])
    assert config["net"]["hidden"] == [150]
    assert config["train"]["targets"]["lam"] == 0.3


def test_stored_settings_spell_out_every_option_of_the_rules() -> None:
    settings = settings_from(compose(["variant=long_nardy_house"]))
    options = {o.name: o.value for o in variant("long_nardy_house").options()}
    assert settings.to_dict()["variant"]["options"] == options


def test_whole_numbers_may_be_written_with_an_exponent() -> None:
    settings = settings_from(compose(["budget.games=1e6", "train.learner.horizon_games=2e5"]))
    assert settings.budget.games == 1_000_000
    assert settings.learner.horizon_games == 200_000


def test_the_guide_names_every_choice_and_explains_every_setting() -> None:
    guide = train_guide()
    for group, options in groups().items():
        assert f"\n  {group}\n" in guide
        assert all(f"\n    {option} " in guide for option in options)
    texts = comments()
    unexplained = [key for key in flatten(compose()) if key not in texts]
    assert unexplained == []


def test_every_config_file_begins_with_what_it_is() -> None:
    for file in Path(config_dir()).rglob("*.yaml"):
        lines = file.read_text().splitlines()
        first = next(line for line in lines if "@package" not in line)
        assert first.startswith("# "), file


@pytest.mark.parametrize("experiment", groups()["experiment"])
def test_an_experiment_chooses_files_so_that_a_choice_on_the_command_line_wins(
    experiment: str,
) -> None:
    text = (config_dir() / "experiment" / f"{experiment}.yaml").read_text()
    assert set(yaml.safe_load(text)) <= {"defaults", "name", "budget"}
    config = compose([f"experiment={experiment}", "train/targets=outcome", "net=h150"])
    assert config["train"]["targets"]["lam"] == 1.0
    assert config["net"]["hidden"] == [150]
