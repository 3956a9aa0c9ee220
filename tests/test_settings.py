"""The settings of a run: plain dicts and back, and one clear line for each thing refused."""

import pytest

from nardy_rl.errors import ConfigError
from nardy_rl.train.settings import TrainSettings


def test_defaults_survive_the_way_there_and_back():
    settings = TrainSettings()
    assert TrainSettings.from_dict(settings.to_dict()) == settings
    assert TrainSettings.from_dict({}) == settings


def test_lists_and_whole_numbers_as_yaml_has_them():
    settings = TrainSettings.from_dict(
        {"net": {"hidden": [40, 20]}, "targets": {"lam": 1}, "budget": {"minutes": 2}}
    )
    assert settings.net.hidden == (40, 20)
    assert type(settings.targets.lam) is float
    assert type(settings.budget.minutes) is float


def test_horizon_is_the_budget_unless_given():
    assert TrainSettings.from_dict({"budget": {"games": 7}}).horizon_games == 7
    given = {"budget": {"games": 7}, "learner": {"horizon_games": 50}}
    assert TrainSettings.from_dict(given).horizon_games == 50


REFUSED = [
    ({"learner": {"learning_rat": 1}}, "learner.learning_rat: there is no such setting", "rate"),
    ({"lerner": {}}, "lerner: there is no such setting", "learner"),
    ({"learner": {"learning_rate": 0.0}}, "learner.learning_rate: 0.0 is not allowed", "> 0"),
    ({"learner": {"learning_rate": float("nan")}}, "learner.learning_rate: nan", "> 0"),
    ({"learner": {"learning_rate": "fast"}}, "learner.learning_rate: 'fast'", "numbers"),
    ({"learner": {"minibatch": 0}}, "learner.minibatch: 0 is not allowed", ">= 1"),
    ({"learner": {"minibatch": 10.5}}, "learner.minibatch: 10.5 is not allowed", "whole numbers"),
    ({"learner": {"minibatch": True}}, "learner.minibatch: True is not allowed", "whole numbers"),
    ({"learner": {"schedule": "exp"}}, "learner.schedule: 'exp' is not allowed", "cosine"),
    ({"learner": {"step_at": [0.7, 0.2]}}, "learner.step_at", "ascending"),
    ({"learner": {"betas": [0.9]}}, "learner.betas", "two numbers"),
    ({"learner": {"betas": [0.9, 1.0]}}, "learner.betas: 1.0 is not allowed", "< 1"),
    ({"learner": {"ema": 1.0}}, "learner.ema: 1.0 is not allowed", "< 1"),
    ({"learner": 3}, "learner: 3 is not allowed", "LearnerSettings"),
    ({"net": {"hidden": 80}}, "net.hidden: 80 is not allowed", "list"),
    ({"net": {"hidden": [80, 0]}}, "net.hidden: 0 is not allowed", ">= 1"),
    ({"net": {"warm_start": 5}}, "net.warm_start: 5 is not allowed", "path"),
    ({"targets": {"lam": 1.1}}, "targets.lam: 1.1 is not allowed", "<= 1"),
    ({"selfplay": {"evaluator": "gpu"}}, "selfplay.evaluator: 'gpu'", "bfloat16"),
    ({"selfplay": {"games_per_batch": 0}}, "selfplay.games_per_batch: 0", ">= 1"),
    ({"selfplay": {"ply_cap": 1}}, "selfplay.ply_cap: 1", ">= 2"),
    ({"selfplay": {"threads": -1}}, "selfplay.threads: -1", ">= 0"),
    ({"budget": {"games": -5}}, "budget.games: -5 is not allowed", ">= 1"),
    ({"budget": {"minutes": -1}}, "budget.minutes: -1.0 is not allowed", "> 0"),
    ({"budget": {"games": None}}, "budget: ", "budget.games or budget.minutes"),
    ({"eval": {"games": 1}}, "eval.games: 1 is not allowed", ">= 2"),
    ({"eval": {"opponents": [""]}}, "eval.opponents", "list of players"),
    ({"checkpoint": {"keep": 0}}, "checkpoint.keep: 0 is not allowed", ">= 1"),
    ({"checkpoint": {"every_seconds": -1.0}}, "checkpoint.every_seconds: -1.0", ">= 0"),
    ({"seed": -1}, "seed: -1 is not allowed", ">= 0"),
    ({"name": ""}, "name: '' is not allowed", "name"),
    ({"variant": {"name": 5}}, "variant.name: 5 is not allowed", "variant"),
    ({"variant": {"options": [1]}}, "variant.options", "mapping"),
    (
        {"learner": {"schedule": "linear"}, "budget": {"games": None, "minutes": 1}},
        "learner.horizon_games: None is not allowed",
        "learner.schedule=linear",
    ),
]


@pytest.mark.parametrize(("values", "where", "allowed"), REFUSED)
def test_refusals_name_field_value_and_allowed(values, where, allowed):
    with pytest.raises(ConfigError) as caught:
        TrainSettings.from_dict(values)
    text = str(caught.value)
    assert text.startswith(where)
    assert allowed in text
    assert "\n" not in text
