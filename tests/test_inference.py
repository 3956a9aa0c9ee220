"""Evaluators against the definition: torch in float32."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nardy_rl.encoding import Encoding
from nardy_rl.env import Env
from nardy_rl.errors import ConfigError
from nardy_rl.inference import (
    Decisions,
    FloatEvaluator,
    KernelEvaluator,
    make_evaluator,
)
from nardy_rl.net import ValueNet
from nardy_rl.rules import variant, variants
from nardy_rl.selfplay import choose

KERNEL_TOLERANCE = 1e-5


def _net(rules, hidden=(80,), seed=0, spread=4.0) -> ValueNet:
    """A net with opinions: the last layer's weights are widened so that outputs differ."""
    net = ValueNet(
        Encoding.of(rules).size, hidden, rules.outcomes, torch.Generator().manual_seed(seed)
    )
    with torch.no_grad():
        for parameter in list(net.parameters())[-2:]:
            parameter.mul_(spread).add_(0.05)
    return net


def _decisions(rules, games=150, turns=25, seed=1) -> Decisions:
    """Decisions of random games, early and late ones, passes among them."""
    env = Env(rules, games=games, seed=seed)
    env.random_turns(turns)
    tables = env.tables
    return Decisions(
        tables.points.copy(), tables.flags & np.uint8(254), tables.pending.copy(), env.legal()
    )


@pytest.mark.parametrize("name", variants())
@pytest.mark.parametrize("turns", [0, 25, 80])
def test_kernel_agrees_with_torch(name, turns):
    rules = variant(name)
    encoding, net = Encoding.of(rules), _net(rules)
    decisions = _decisions(rules, turns=turns)
    kernel = KernelEvaluator(net, encoding).distributions(decisions)
    exact = FloatEvaluator(net, encoding).distributions(decisions)
    assert np.abs(kernel - exact).max() < KERNEL_TOLERANCE
    assert np.abs(exact.sum(1) - 1).max() < 1e-5
    assert exact.std(0).max() > 1e-3  # or the comparison would say nothing


@pytest.mark.parametrize("hidden", [(1,), (7,), (40,), (150,)])
def test_kernel_serves_any_width(hidden):
    rules = variant("long_nardy_draw")
    encoding, net = Encoding.of(rules), _net(rules, hidden)
    decisions = _decisions(rules)
    kernel = KernelEvaluator(net, encoding).distributions(decisions)
    exact = FloatEvaluator(net, encoding).distributions(decisions)
    assert np.abs(kernel - exact).max() < KERNEL_TOLERANCE


def test_first_turn_flags_reach_the_kernel():
    rules = variant("long_nardy")
    encoding, net = Encoding.of(rules), _net(rules)
    decisions = _decisions(rules, turns=0)
    moved = decisions._replace(flags=decisions.flags ^ np.uint8(2))
    kernel = KernelEvaluator(net, encoding)
    assert not np.array_equal(kernel.distributions(decisions), kernel.distributions(moved))
    exact = FloatEvaluator(net, encoding).distributions(moved)
    assert np.abs(kernel.distributions(moved) - exact).max() < KERNEL_TOLERANCE


@pytest.mark.parametrize("hidden", [(80,), (64, 64)])
def test_bfloat16_chooses_nearly_as_well(hidden):
    """Stated tolerance: at least 9 in 10 choices alike, at most 0.002 points lost on average."""
    rules = variant("backgammon")
    encoding, net = Encoding.of(rules), _net(rules, hidden)
    decisions = _decisions(rules, games=400)
    exact = FloatEvaluator(net, encoding).distributions(decisions)
    rough = FloatEvaluator(net, encoding, torch.bfloat16).distributions(decisions)
    assert not np.array_equal(exact, rough)
    scores = np.array(rules.outcomes, np.float32)
    best, chosen = choose(rules, decisions, exact), choose(rules, decisions, rough)
    lost = (exact[best] - exact[chosen]) @ scores
    assert (best == chosen).mean() >= 0.9
    assert 0 <= lost.mean() <= 0.002


def test_the_weights_are_copied():
    rules = variant("long_nardy")
    encoding, net = Encoding.of(rules), _net(rules)
    evaluator = KernelEvaluator(net, encoding)
    decisions = _decisions(rules)
    before = evaluator.distributions(decisions)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.zero_()
    assert np.array_equal(evaluator.distributions(decisions), before)


def test_auto_takes_what_serves_the_net():
    rules = variant("long_nardy")
    encoding = Encoding.of(rules)
    assert make_evaluator(_net(rules), encoding).name == "kernel"
    assert make_evaluator(_net(rules, (32, 32)), encoding).name in ("float32", "bfloat16")
    assert make_evaluator(_net(rules), encoding, "float32").name == "float32"


def test_unknown_and_unfit_evaluators_are_refused():
    rules = variant("long_nardy")
    encoding = Encoding.of(rules)
    with pytest.raises(ConfigError, match="auto, kernel, float32, bfloat16"):
        make_evaluator(_net(rules), encoding, "fast")
    with pytest.raises(ConfigError, match="one hidden layer"):
        make_evaluator(_net(rules, (8, 8)), encoding, "kernel")


def test_a_batch_without_decisions_is_empty():
    rules = variant("long_nardy")
    encoding, net = Encoding.of(rules), _net(rules)
    decisions = _decisions(rules, games=1)
    none = Decisions(
        decisions.points[:0],
        decisions.flags[:0],
        decisions.pending[:0],
        decisions.legal._replace(after=decisions.legal.after[:0], offsets=np.zeros(1, np.int64)),
    )
    for evaluator in (KernelEvaluator(net, encoding), FloatEvaluator(net, encoding)):
        assert evaluator.distributions(none).shape == (0, 4)
