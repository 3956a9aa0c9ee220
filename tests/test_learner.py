"""The learner against plain Adam, its schedules, and its promise to repeat itself."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch.nn import functional

from nardy_rl.encoding import Encoding, encode
from nardy_rl.errors import CheckpointError, ConfigError
from nardy_rl.net import ValueNet
from nardy_rl.rules import set_threads, variant
from nardy_rl.train import gradient as gradient_module
from nardy_rl.train.learner import Learner, LearnReport, learning_rate
from nardy_rl.train.settings import LearnerSettings

RULES = variant("long_nardy")
ENCODING = Encoding.of(RULES)
Data = tuple[NDArray[np.int8], NDArray[np.uint8], NDArray[np.float32]]


def positions(count: int, seed: int = 0) -> Data:
    random = np.random.default_rng(seed)
    points = np.zeros((count, 2, 26), np.int8)
    for board in points:
        for side in board:
            np.add.at(side, random.integers(0, 25, 15), 1)
    flags = random.integers(0, 4, count).astype(np.uint8)
    return points, flags, random.dirichlet(np.ones(4), count).astype(np.float32)


def new_learner(seed: int = 5, **settings: object) -> Learner:
    net = ValueNet(ENCODING.size, (12,), RULES.outcomes, torch.Generator().manual_seed(3))
    return Learner(net, ENCODING, LearnerSettings(**settings), seed, 1000)  # type: ignore[arg-type]


def learn(learner: Learner, data: Data, batch: int = 0) -> LearnReport:
    return learner.learn(*data, batch=batch, games_before=100 * batch, games=100)


def same(one: Learner, other: Learner) -> bool:
    ours, theirs = one.state(), other.state()
    return ours.keys() == theirs.keys() and all(torch.equal(ours[k], theirs[k]) for k in ours)


@pytest.mark.parametrize(
    ("schedule", "games", "expected"),
    [
        ({}, 700, 2.0),
        ({"schedule": "linear", "final_fraction": 0.5}, 500, 1.5),
        ({"schedule": "linear", "final_fraction": 0.5}, 5000, 1.0),
        ({"schedule": "cosine", "final_fraction": 0.0}, 500, 1.0),
        ({"schedule": "cosine", "final_fraction": 0.5}, 1000, 1.0),
        ({"schedule": "step", "final_fraction": 0.1}, 499, 2.0),
        ({"schedule": "step", "final_fraction": 0.1}, 500, 0.2),
        ({"schedule": "step", "final_fraction": 0.1}, 750, 0.02),
        ({"warmup_games": 200}, 50, 0.5),
        ({"warmup_games": 200}, 200, 2.0),
    ],
)
def test_schedules(schedule, games, expected):
    settings = LearnerSettings(learning_rate=2.0, **schedule)
    assert learning_rate(settings, games, 1000) == pytest.approx(expected)


@pytest.mark.parametrize("gradient", ["kernel", "torch"])
@pytest.mark.parametrize("clip_norm", [0.0, 0.01])
def test_updates_are_adam_on_the_mean_cross_entropy(monkeypatch, clip_norm, gradient):
    """Shards, flat weights and all, against torch's plain use on the same minibatches."""
    monkeypatch.setattr(gradient_module, "DENSE_SHARD", 7)
    monkeypatch.setattr(gradient_module, "SPARSE_SHARD", 7)
    data = positions(60)
    learner = new_learner(
        minibatch=20,
        learning_rate=0.01,
        clip_norm=clip_norm,
        weight_decay=0.1,
        gradient=gradient,
    )
    net = ValueNet(ENCODING.size, (12,), RULES.outcomes, torch.Generator().manual_seed(3))
    plain = torch.optim.AdamW(net.parameters(), lr=0.01, weight_decay=0.1)
    units, targets = torch.from_numpy(encode(RULES, *data[:2])), torch.from_numpy(data[2])
    losses, norms = [], []
    for batch in range(3):
        report = learn(learner, data, batch)
        order = torch.from_numpy(np.random.default_rng((5, batch, 0)).permutation(60))
        for chosen in order.split(20):
            plain.zero_grad()
            loss = functional.cross_entropy(net(units[chosen]), targets[chosen])
            loss.backward()
            norms.append(torch.nn.utils.clip_grad_norm_(net.parameters(), clip_norm or 1e9).item())
            plain.step()
            losses.append(loss.item())
    for ours, theirs in zip(learner.net.parameters(), net.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-4)
    assert report.loss == pytest.approx(np.mean(losses[-3:]), rel=1e-4)
    assert report.gradient_norm == pytest.approx(np.mean(norms[-3:]), rel=1e-3)
    assert (report.updates, report.positions) == (3, 60)


def test_fits_what_it_is_given():
    data = positions(64)
    learner = new_learner(minibatch=64, epochs=300, learning_rate=0.02)
    first = learn(new_learner(minibatch=64), data)
    learn(learner, data)
    last = learn(learner, data, batch=1)
    assert first.excess > 0.2
    assert 0 <= last.excess < 0.02
    assert last.loss > last.excess


def test_every_position_once_an_epoch(monkeypatch):
    seen: list[int] = []
    learner = new_learner(minibatch=10, epochs=2)
    compute = learner.gradient.of

    def spy(batch, chosen):
        seen.extend(chosen)
        return compute(batch, chosen)

    monkeypatch.setattr(learner.gradient, "of", spy)
    report = learn(learner, positions(205))
    assert report.updates == 2 * 21
    assert sorted(seen) == sorted([*range(205)] * 2)
    assert seen[:205] != seen[205:]


@pytest.mark.parametrize("gradient", ["kernel", "torch"])
def test_threads_do_not_change_a_bit(monkeypatch, gradient):
    monkeypatch.setattr(gradient_module, "DENSE_SHARD", 64)
    monkeypatch.setattr(gradient_module, "SPARSE_SHARD", 64)
    data = positions(600)
    learners = []
    try:
        for threads in (1, 3):
            set_threads(threads)
            learners.append(new_learner(minibatch=300, ema=0.9, gradient=gradient))
            learn(learners[-1], data)
    finally:
        set_threads(0)
    assert same(*learners)


def test_restored_state_goes_on_as_the_original():
    data = positions(100)
    unbroken = new_learner(minibatch=32, ema=0.9, schedule="cosine")
    learn(unbroken, data, 0)
    state = unbroken.state()
    learn(unbroken, data, 1)
    other = new_learner(minibatch=32, ema=0.9, schedule="cosine")
    other.restore(state)
    assert not same(unbroken, other)
    learn(other, data, 1)
    assert same(unbroken, other)


def test_seed_and_batch_fix_the_order():
    data = positions(100)
    base, again = new_learner(minibatch=32), new_learner(minibatch=32)
    seed, batch = new_learner(6, minibatch=32), new_learner(minibatch=32)
    for learner, number in ((base, 0), (again, 0), (seed, 0), (batch, 1)):
        learn(learner, data, number)
    assert same(base, again)
    assert not same(base, seed)
    assert not same(base, batch)


def test_averaged_weights():
    data = positions(40)
    learner = new_learner(minibatch=40, ema=0.5, learning_rate=0.05)
    average = torch.cat([p.detach().flatten() for p in learner.net.parameters()])
    for update in range(1, 8):
        learn(learner, data, update)
        decay = min(0.5, (1 + update) / (10 + update))
        weights = torch.cat([p.detach().flatten() for p in learner.net.parameters()])
        average = decay * average + (1 - decay) * weights
    played = torch.cat([p.detach().flatten() for p in learner.playing_net().parameters()])
    torch.testing.assert_close(played, average)
    assert not torch.allclose(played, weights)


def test_playing_net_is_a_copy():
    learner = new_learner(minibatch=40)
    net = learner.playing_net()
    before = [p.clone() for p in net.parameters()]
    learn(learner, positions(40))
    assert all(torch.equal(a, b) for a, b in zip(before, net.parameters(), strict=True))


def test_a_loss_that_is_not_finite_names_the_rate():
    learner = new_learner(minibatch=32)
    with torch.no_grad():
        next(learner.net.parameters()).fill_(float("inf"))
    with pytest.raises(ConfigError, match=r"learner\.learning_rate: 0\.001 made the loss"):
        learn(learner, positions(40))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (
            lambda state: state.pop("exp_avg.layers.0.weight"),
            r"exp_avg\.layers\.0\.weight: missing",
        ),
        (lambda state: state.update(odd=torch.zeros(1)), "odd: not of this learner"),
        (
            lambda state: state.update({"weight.layers.2.bias": torch.zeros(9)}),
            r"weight\.layers\.2\.bias: shape \[9\], expected \[4\]",
        ),
    ],
)
def test_restore_refuses_foreign_tensors(damage, message):
    learner = new_learner()
    state = learner.state()
    damage(state)
    with pytest.raises(CheckpointError, match=message):
        learner.restore(state)
