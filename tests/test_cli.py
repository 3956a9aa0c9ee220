"""The command line as a user meets it: help, near misses, one-line errors, exit statuses."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from nardy_rl import cli
from nardy_rl.cli import near, overrides
from nardy_rl.cli import train as train_verb
from nardy_rl.errors import ConfigError
from nardy_rl.rules import variants

SHIPPED = Path(__file__).parents[1] / "checkpoints" / "long_nardy"


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, to see what a command leaves behind."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """Run a command that must be refused; returns its one line."""
    assert cli.main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    return err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["trian"], "did you mean train?"),
        (["train", "train.lerner.learning_rate=1"], "train.learner.learning_rate"),
        (["train", "learning_rate=1"], "did you mean train.learner.learning_rate?"),
        (["train", "train.learner.learning_rte=1"], "did you mean train.learner.learning_rate"),
        (["train", "variant=longnardy"], "long_nardy"),
        (["train", "variant=six_one"], "no public page describes"),
        (["train", "vriant=tavla"], "did you mean variant"),
        (["train", "experiment=smok"], "did you mean smoke?"),
        (["train", "train/learner=adma"], "did you mean adam"),
        (["train", "train.learner=adam"], "train/learner=.. chooses a file"),
        (["train", "backgammon"], "did you mean variant=backgammon?"),
        (["train", "seed"], "expected name=value"),
        (["train", "seed=1,2"], "add -m"),
        (["train", "seed=[1"], "cannot read"),
        (["train", "~net"], "nothing can be taken out"),
        (["train", "+nonsense=1"], "unknown setting 'nonsense'"),
        (["train", "--multrun"], "did you mean --multirun"),
        (["train", "variant.options.head_rul=strict"], "head_rule"),
        (["train", "variant.options.head_rule=strickt"], "strict"),
        (["train", "variant=backgammon", "variant.options.head_rule=strict"], "hit_run"),
        (["train", "variant.name=chess"], "unknown variant 'chess'"),
        (["train", "budget.games=-5"], "budget.games: -5"),
        (["train", "budget.games=many"], "budget.games: 'many'"),
        (["train", "budget.games=null", "budget.minutes=null"], "budget"),
        (["train", "train.learner.minibatch=0"], "train.learner.minibatch: 0"),
        (["train", "train.selfplay.evaluator=gpu"], "kernel"),
        (["train", "net.hidden=80"], "net.hidden: 80"),
        (["train", "name=a/b"], "name"),
        (["train", "-m", "seed=1,2", "net=h80,h81"], "net=h81"),
        (["train", "resume=nowhere"], "nowhere"),
        (["train", "resume="], "resume: is empty"),
        (["train", f"resume={SHIPPED}"], f"begin a new run with net.warm_start={SHIPPED}"),
        (["train", "net.warm_start=/nope"], "net.warm_start: /nope"),
        (["train", f"net.warm_start={SHIPPED}", "net=h40"], "net.hidden: "),
        (["train", f"net.warm_start={SHIPPED}", "variant=tavla"], "net.warm_start: "),
        (["train", "net=h256x2", "train.selfplay.evaluator=kernel"], "train.selfplay.evaluator"),
        (["train", "net=h256x2", "train.learner.gradient=kernel"], "train.learner.gradient"),
        (["train", "net.hidden=[65536,65536,65536]"], "net.hidden: 3 layers with 8,589,934,592"),
        (["train", "run_dir=/proc/foo"], "run_dir: /proc/foo cannot be written"),
        (["train", "variant.options={a: 1}"], "variant.options.NAME=VALUE"),
        (["arena", "a=pips", "b=random", "seed=99999999999999999999"], "<= 9223372036854775807"),
        (["arena", "a=pips", "b=random", "games=1e30"], "<= 1000000000"),
        (["variants", "chess"], "unknown variant 'chess'"),
        (
            ["arena", "a=pips", "b=pips", "mars_with_cube=false"],
            "mars_with_cube=false needs a cube",
        ),
        (["games", "some.jsonl", "to="], "to: is empty"),
        (
            ["train", "variant=mad_gyulbar", "train/targets=every_roll", "experiment=smoke"],
            "targets.every_roll: True is not allowed; allowed: false with mad_gyulbar",
        ),
    ],
)
def test_a_wrong_word_is_one_line_with_what_would_be_right(
    words: list[str], expected: str, nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert expected in refused(capsys, *words)
    assert list(nowhere.iterdir()) == []


def test_an_existing_folder_is_not_overwritten(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (nowhere / "mine").mkdir()
    (nowhere / "mine" / "thesis.txt").write_text("precious")
    text = refused(capsys, "train", "run_dir=mine")
    assert "not overwritten" in text
    assert "resume=" not in text
    assert "not overwritten" in refused(capsys, "train", "hydra.run.dir=mine")
    assert [p.name for p in (nowhere / "mine").iterdir()] == ["thesis.txt"]


def test_two_runs_of_one_second_have_two_folders(nowhere: Path) -> None:
    first = train_verb.new_folder(Path("runs/tavla"), "x")
    second = train_verb.new_folder(Path("runs/tavla"), "x")
    assert first != second
    assert first.parent == second.parent == Path("runs/tavla")


@pytest.mark.parametrize("existing", [False, True])
def test_of_many_starts_at_once_one_has_the_folder(nowhere: Path, existing: bool) -> None:
    folder = nowhere / "deep" / "run"
    if existing:
        folder.mkdir(parents=True)
    with ThreadPoolExecutor(16) as pool:
        claimed = list(pool.map(lambda _: train_verb._claimed(folder), range(64)))
    assert sum(claimed) == 1


@pytest.mark.parametrize(
    "error", [MemoryError(), RuntimeError("DefaultCPUAllocator: can't allocate memory")]
)
def test_no_memory_is_one_line(
    error: Exception, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_words: list[str]) -> int:
        raise error

    monkeypatch.setattr(cli, "dispatch", fails)
    assert "not enough memory" in refused(capsys, "bench")


def test_help_of_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["--help"]) == 0
    overview = capsys.readouterr().out
    for verb in cli.VERBS:
        assert f"\n  {verb} " in overview
        assert cli.main([verb, "--help"]) == 0
        assert f"nardy-rl {verb}" in capsys.readouterr().out


def test_variants_name_the_nets_that_are_shipped(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["variants"]) == 0
    lines = capsys.readouterr().out.splitlines()
    nets = dict(zip((line.split()[0] for line in lines[::2]), lines[1::2], strict=True))
    assert nets.keys() == set(variants())
    assert nets["portes"].endswith("checkpoints/tavla")
    assert nets["backgammon_dave"].endswith("checkpoints/backgammon")
    assert nets["nackgammon"].endswith("checkpoints/nackgammon")
    assert cli.main(["variants", "tavla"]) == 0
    assert "80 hidden, 100,000 games; against pips +0.4" in capsys.readouterr().out


def test_variants_lists_the_games_and_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["variants"]) == 0
    assert "hypergammon" in capsys.readouterr().out
    assert cli.main(["variants", "long_nardy"]) == 0
    assert "[classic]" in capsys.readouterr().out


def test_the_composed_config_can_be_printed(
    nowhere: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["train", "--cfg", "job", "variant.options.head_rule=strict"]) == 0
    assert "head_rule: strict" in capsys.readouterr().out
    assert list(nowhere.iterdir()) == []


def test_debug_shows_the_traceback() -> None:
    with pytest.raises(ConfigError):
        cli.main(["--debug", "train", "variant=chess"])


def test_a_sweep_is_every_combination() -> None:
    jobs = overrides.expand(["seed=1,2", "net=h40,h80", "train.targets.lam=0.5"])
    assert len(jobs) == 4
    assert jobs[0] == ["seed=1", "net=h40", "train.targets.lam=0.5"]


def test_nearest_comes_first() -> None:
    assert near.near("trian", ["arena", "train"])[0] == "train"
    assert near.near("xyz", []) == []


def test_help_is_quick_and_needs_no_torch() -> None:
    script = (
        "import sys; from nardy_rl.cli import main; main(['--help']);"
        "sys.exit(any(m in sys.modules for m in ('torch', 'numba', 'hydra')))"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True).returncode == 0


def test_exit_status_of_the_real_command(nowhere: Path) -> None:
    command = [sys.executable, "-m", "nardy_rl", "train", "variant=chess"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown variant 'chess'")
    assert list(nowhere.iterdir()) == []
