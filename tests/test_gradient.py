"""The kernel's gradient against torch's autograd."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from nardy_rl.encoding import Encoding
from nardy_rl.env import Env
from nardy_rl.errors import ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.rules import variant
from nardy_rl.train.gradient import Batch, DenseGradient, SparseGradient, make_gradient


def _case(name: str, hidden: tuple[int, ...], total: int = 700) -> tuple[ValueNet, Encoding, Batch]:
    rules = variant(name)
    encoding = Encoding.of(rules)
    generator = torch.Generator().manual_seed(4)
    net = ValueNet(encoding.size, hidden, rules.outcomes, generator)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter.add_(0.05 * torch.randn(parameter.shape, generator=generator))
    env = Env(rules, games=total, seed=3)
    env.random_turns(30)
    random = np.random.default_rng(2)
    targets = random.dirichlet(np.ones(len(rules.outcomes)), total).astype(np.float32)
    targets[::7] = np.eye(len(rules.outcomes), dtype=np.float32)[0]
    flags = random.integers(0, 8, total).astype(np.uint8)
    return net, encoding, Batch(env.points.copy(), flags, targets)


@pytest.mark.parametrize("name", ["long_nardy", "long_nardy_draw", "backgammon", "hypergammon"])
@pytest.mark.parametrize("width", [5, 80])
def test_kernel_agrees_with_autograd(name, width):
    net, encoding, batch = _case(name, (width,))
    chosen = np.random.default_rng(0).permutation(700)[:600]
    loss, gradient = SparseGradient(net, encoding).of(batch, chosen)
    exact_loss, exact = DenseGradient(net, encoding).of(batch, chosen)
    assert loss == pytest.approx(exact_loss, rel=1e-5)
    assert gradient.shape == exact.shape
    assert float(exact.abs().max()) > 1e-3
    assert float((gradient - exact).abs().max()) < 1e-5 * max(1.0, float(exact.abs().max()))


def test_room_is_used_again_without_traces():
    net, encoding, batch = _case("backgammon", (9,))
    kernel = SparseGradient(net, encoding)
    few = np.arange(30)
    before = kernel.of(batch, few)[1].clone()
    kernel.of(batch, np.arange(700))
    assert torch.equal(kernel.of(batch, few)[1], before)


def test_auto_takes_the_kernel_where_it_serves():
    net, encoding, _ = _case("long_nardy", (8,))
    deep, *_ = _case("long_nardy", (8, 8))
    assert isinstance(make_gradient(net, encoding), SparseGradient)
    assert isinstance(make_gradient(net, encoding, "torch"), DenseGradient)
    assert isinstance(make_gradient(deep, encoding), DenseGradient)
    with pytest.raises(ConfigError, match="one hidden layer"):
        make_gradient(deep, encoding, "kernel")
