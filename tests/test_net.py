"""The value net: shapes, seeds, equity, and what it refuses."""

import numpy as np
import pytest
import torch

from nardy_rl.net import ValueNet, can_grow, grown


def seeded(seed, hidden=(16, 8)):
    return ValueNet(20, hidden, (-2, -1, 1, 2), torch.Generator().manual_seed(seed))


def test_distribution_and_equity():
    net = seeded(1)
    units = torch.rand(7, 20, generator=torch.Generator().manual_seed(2))
    probabilities = net.distribution(units).detach().numpy()
    assert probabilities.shape == (7, 4)
    np.testing.assert_allclose(probabilities.sum(1), 1, atol=1e-6)
    np.testing.assert_allclose(
        net.equity(units).detach().numpy(), probabilities @ [-2, -1, 1, 2], atol=1e-6
    )


def test_forward_is_the_written_out_net():
    net = seeded(3)
    units = np.random.default_rng(0).random((5, 20), np.float32)
    weights = {name: value.detach().numpy() for name, value in net.named_parameters()}
    first = np.maximum(units @ weights["layers.0.weight"].T + weights["layers.0.bias"], 0)
    second = np.maximum(first @ weights["layers.2.weight"].T + weights["layers.2.bias"], 0)
    logits = second @ weights["layers.4.weight"].T + weights["layers.4.bias"]
    np.testing.assert_allclose(net(torch.from_numpy(units)).detach().numpy(), logits, atol=1e-6)


def test_weights_come_from_the_generator_alone():
    torch.manual_seed(0)
    before = torch.get_rng_state()
    one, same, other = seeded(1), seeded(1), seeded(2)
    assert torch.equal(torch.get_rng_state(), before)
    for name, value in one.state_dict().items():
        assert torch.equal(value, same.state_dict()[name])
        assert name.endswith("bias") or not torch.equal(value, other.state_dict()[name])


def test_only_weights_are_stored():
    net = seeded(1, hidden=())
    assert list(net.state_dict()) == ["layers.0.weight", "layers.0.bias"]
    assert not list(net.buffers())


@pytest.mark.parametrize("outcomes", [(1, -1), (-1, 2), (0,), (-1, -1, 1, 1)])
def test_outcomes_must_be_ascending_and_symmetric(outcomes):
    with pytest.raises(ValueError, match="ascending and symmetric"):
        ValueNet(20, (4,), outcomes)


def test_sizes_must_be_positive():
    with pytest.raises(ValueError, match=r"hidden=\(0,\)"):
        ValueNet(20, (0,))


SHAPES = [
    ((8,), (8,)),
    ((8,), (20,)),
    ((8,), (9, 8)),
    ((8,), (16, 12, 12)),
    ((8, 6), (8, 7, 6)),
    ((8, 6), (16, 16, 16)),
    ((), ()),
]


@pytest.mark.parametrize(("hidden", "wider"), SHAPES)
def test_a_grown_net_says_what_the_old_one_said_and_can_learn(hidden, wider):
    net = seeded(5, hidden)
    larger = grown(net, wider, torch.Generator().manual_seed(6))
    units = torch.rand(50, 20, generator=torch.Generator().manual_seed(7))
    assert larger.hidden == tuple(wider)
    torch.testing.assert_close(larger(units), net(units), atol=1e-6, rtol=1e-5)
    # Every new unit is reached: what it gives out moves with the first update, if it fires.
    loss = torch.nn.functional.cross_entropy(larger(units), torch.zeros(50, dtype=torch.long))
    loss.backward()
    if wider:
        moved = list(larger.parameters())[-2].grad
        assert moved is not None
        assert moved.abs().sum(0).count_nonzero() > wider[-1] / 2


def test_growing_leaves_the_old_net_and_the_generators_alone():
    torch.manual_seed(0)
    before, net = torch.get_rng_state(), seeded(1, (8,))
    one, same = grown(net, (16,)), grown(net, (16,))
    assert torch.equal(torch.get_rng_state(), before)
    for name, value in one.state_dict().items():
        assert torch.equal(value, same.state_dict()[name])
    assert net.state_dict()["layers.0.weight"].shape == (8, 20)


@pytest.mark.parametrize(
    ("hidden", "smaller"),
    [((8,), (7,)), ((8,), ()), ((8, 6), (8,)), ((8,), (8, 7)), ((8, 6), (7, 6)), ((), (4,))],
)
def test_a_net_does_not_shrink(hidden, smaller):
    assert not can_grow(hidden, smaller)
    with pytest.raises(ValueError, match="cannot grow"):
        grown(seeded(1, hidden), smaller)
