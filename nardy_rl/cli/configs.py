"""Where the Hydra configs lie, which groups they form, and composing them.

Only the modules of this package know Hydra; what they hand down are plain dicts and dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from nardy_rl.errors import ConfigError

TRAIN = "train"
"""Name of the top config of `nardy-rl train`: configs/train.yaml."""


def config_dir() -> Path:
    """The folder of the configs: in the root of a checkout, inside the package of a wheel."""
    package = Path(__file__).resolve().parents[1]
    for folder in (package / "configs", package.parent / "configs"):
        if (folder / f"{TRAIN}.yaml").is_file():
            return folder
    raise ConfigError(f"no configs beside {package}: the installation is incomplete")


def groups(folder: Path | None = None) -> dict[str, tuple[str, ...]]:
    """Each config group with its options, e.g. `train/learner` -> `("adam", ...)`."""
    folder = folder or config_dir()
    found: dict[str, list[str]] = {}
    for file in sorted(folder.rglob("*.yaml")):
        group = file.parent.relative_to(folder).as_posix()
        if group != ".":
            found.setdefault(group, []).append(file.stem)
    return {group: tuple(options) for group, options in sorted(found.items())}


def compose(overrides: Sequence[str] = ()) -> dict[str, Any]:
    """The train config with `overrides`, resolved to plain Python; makes no file or folder.

    Raises `ConfigError` with Hydra's own first line where Hydra refuses.
    """
    import hydra
    from hydra.core.global_hydra import GlobalHydra
    from hydra.errors import HydraException
    from omegaconf import OmegaConf
    from omegaconf.errors import OmegaConfBaseException

    GlobalHydra.instance().clear()
    try:
        with hydra.initialize_config_dir(str(config_dir()), version_base="1.3"):
            config = hydra.compose(TRAIN, overrides=list(overrides))
        plain = OmegaConf.to_container(config, resolve=True, throw_on_missing=True)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigError(str(error).strip().splitlines()[0]) from error
    assert isinstance(plain, dict)
    return {str(key): value for key, value in plain.items()}


def flatten(config: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Dotted keys of all leaves; an empty section counts as a leaf.

    >>> flatten({"net": {"hidden": [80]}, "seed": 1})
    {'net.hidden': [80], 'seed': 1}
    """
    leaves: dict[str, Any] = {}
    for key, value in config.items():
        if isinstance(value, Mapping) and value:
            leaves.update(flatten(value, f"{prefix}{key}."))
        else:
            leaves[f"{prefix}{key}"] = value
    return leaves
