"""What `variant` accepts, and what it says of everything else."""

from __future__ import annotations

import dataclasses

import pytest

from nardy_rl.errors import ConfigError
from nardy_rl.rules import Rules, variant, variants

VALUES = {
    "head_rule": {"classic", "any_double_first", "any_double", "strict", "free"},
    "head_exception": {"blocked_by_head", "always"},
    "prime_rule": {"ahead", "home", "forbid", "allow"},
    "prime_check": {"turn_end", "every_step"},
    "prime_wrap": {"opponent_path", "circular", "own_path"},
    "last_roll": {"none", "draw_half", "draw_one"},
    "opening_roll": {"reroll", "use_opening_dice"},
    "next_starter": {"alternate", "winner", "roll"},
    "hit_run": {"allowed", "no_hide", "no_continue"},
    "hit_run_zone": {"home", "all"},
    "ladder_repeats": {"2", "4"},
    "ladder_from_turn": {"1", "2", "3", "4"},
    "unplayed": {"opponent", "lost"},
    "stall": {"stop", "skip_rung"},
    "runner": {"none", "pass_start"},
    "start_prime": {"none", "own", "opponent", "both"},
    "start_prime_points": {"5", "4"},
    "trapping_prime": {"allow", "open"},
    "mother": {"none", "wins", "at_once"},
}
NARDY_KOKS = {"none", "first_quarter", "none_home"}
BACKGAMMON_KOKS = {"backgammon", "none"}

NARDY_OPTIONS = {
    "head_rule": "classic",
    "head_exception": "blocked_by_head",
    "prime_rule": "ahead",
    "prime_check": "turn_end",
    "prime_wrap": "opponent_path",
    "last_roll": "none",
    "koks": "none",
    "opening_roll": "reroll",
    "next_starter": "alternate",
}

PRESETS = {
    "long_nardy": {},
    "long_nardy_federation": {"head_exception": "always", "opening_roll": "use_opening_dice"},
    "long_nardy_house": {"head_rule": "any_double", "next_starter": "winner"},
    "long_nardy_draw": {"last_roll": "draw_half"},
    "long_nardy_2": {},
    "long_nardy_3": {},
}


@pytest.mark.parametrize("name", PRESETS)
def test_nardy_presets_have_the_values_of_the_rule_text(name: str) -> None:
    found = {option.name: option.value for option in variant(name).options()}
    assert found == NARDY_OPTIONS | PRESETS[name]


@pytest.mark.parametrize(
    ("name", "start", "checkers", "options"),
    [
        ("backgammon", {24: 2, 13: 5, 8: 3, 6: 5}, 15, {}),
        ("nackgammon", {24: 2, 23: 2, 13: 4, 8: 3, 6: 4}, 15, {}),
        ("hypergammon", {24: 1, 23: 1, 22: 1}, 3, {}),
        (
            "tavla",
            {24: 2, 13: 5, 8: 3, 6: 5},
            15,
            {"opening_roll": "reroll", "hit_run": "no_continue", "koks": "none"},
        ),
        (
            "portes",
            {24: 2, 13: 5, 8: 3, 6: 5},
            15,
            {"opening_roll": "reroll", "hit_run": "no_continue", "koks": "none"},
        ),
    ],
)
def test_backgammon_presets_have_the_values_of_the_rule_text(
    name: str, start: dict[int, int], checkers: int, options: dict[str, str]
) -> None:
    rules = variant(name)
    assert (dict(rules.start), rules.checkers) == (start, checkers)
    found = {option.name: option.value for option in rules.options()}
    found.pop("next_starter")  # the rule text names no default for it
    expected = {
        "hit_run": "allowed",
        "hit_run_zone": "home",
        "koks": "backgammon",
        "opening_roll": "use_opening_dice",
    }
    assert found == expected | options


@pytest.mark.parametrize("name", variants())
def test_every_option_lists_exactly_the_values_of_the_rule_text(name: str) -> None:
    rules = variant(name)
    koks = NARDY_KOKS if rules.contact == "block" else BACKGAMMON_KOKS
    for option in rules.options():
        assert set(option.allowed) == (koks if option.name == "koks" else VALUES[option.name])
        assert option.source.startswith("RULES.md")


@pytest.mark.parametrize("name", variants())
def test_every_value_is_taken_and_makes_another_record(name: str) -> None:
    rules = variant(name)
    for option in rules.options():
        for value in option.allowed:
            changed = variant(name, **{option.name: value})
            assert getattr(changed, option.name) == value
            assert (changed == rules) == (value == option.value)
            assert hash(changed) == hash(variant(name, **{option.name: value}))


@pytest.mark.parametrize("name", variants())
def test_an_unknown_value_names_the_allowed_ones(name: str) -> None:
    for option in variant(name).options():
        with pytest.raises(ConfigError) as error:
            variant(name, **{option.name: "sometimes"})
        message = str(error.value)
        assert option.name in message
        assert "sometimes" in message
        assert all(value in message for value in option.allowed)
        assert "\n" not in message


@pytest.mark.parametrize("name", variants())
def test_an_unknown_option_names_the_ones_there_are(name: str) -> None:
    with pytest.raises(ConfigError) as error:
        variant(name, heed_rule="strict")
    message = str(error.value)
    assert "heed_rule" in message
    assert all(option.name in message for option in variant(name).options())
    assert "\n" not in message


@pytest.mark.parametrize(
    ("name", "option", "value"),
    [
        ("backgammon", "head_rule", "strict"),
        ("hypergammon", "last_roll", "draw_half"),
        ("long_nardy", "hit_run", "no_hide"),
    ],
)
def test_an_option_of_another_game_is_refused(name: str, option: str, value: str) -> None:
    with pytest.raises(ConfigError) as error:
        variant(name, **{option: value})
    assert option in str(error.value)
    assert all(own.name in str(error.value) for own in variant(name).options())


@pytest.mark.parametrize(
    ("name", "koks"), [("backgammon", "first_quarter"), ("long_nardy", "backgammon")]
)
def test_koks_of_another_game_is_refused(name: str, koks: str) -> None:
    with pytest.raises(ConfigError, match="koks"):
        variant(name, koks=koks)


@pytest.mark.parametrize("name", ["chess", "", "Long_Nardy", "long-nardy"])
def test_an_unknown_variant_names_the_ones_there_are(name: str) -> None:
    with pytest.raises(ConfigError) as error:
        variant(name)
    assert repr(name) in str(error.value)
    assert all(known in str(error.value) for known in variants())
    assert "\n" not in str(error.value)


def test_a_near_miss_is_named() -> None:
    with pytest.raises(ConfigError, match="did you mean long_nardy"):
        variant("long_nardi")


def test_six_one_says_what_is_known_of_it() -> None:
    """RULES.md section 5."""
    with pytest.raises(ConfigError) as error:
        variant("six_one")
    message = str(error.value)
    assert "long, six-one and short" in message
    assert "nothing else of the second" in message
    assert "no public page describes a game of that name" in message
    assert all(known in message for known in variants())
    assert "six_one" not in variants()
    assert "\n" not in message


@pytest.mark.parametrize("name", variants())
def test_rules_are_frozen(name: str) -> None:
    rules = variant(name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        rules.koks = "none"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("rules", "outcomes"),
    [
        (variant("long_nardy"), (-2, -1, 1, 2)),
        (variant("long_nardy_draw"), (-2, -1, 0, 1, 2)),
        (variant("long_nardy", koks="none_home"), (-3, -2, -1, 1, 2, 3)),
        (
            variant("long_nardy", koks="first_quarter", last_roll="draw_one"),
            (-3, -2, -1, 0, 1, 2, 3),
        ),
        (variant("backgammon"), (-3, -2, -1, 1, 2, 3)),
        (variant("tavla"), (-2, -1, 1, 2)),
    ],
)
def test_outcomes(rules: Rules, outcomes: tuple[int, ...]) -> None:
    assert rules.outcomes == outcomes
