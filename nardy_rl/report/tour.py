"""Which games there are, and what each lets a table decide."""

from __future__ import annotations

import typing
from collections.abc import Sequence

from nardy_rl.rules import variant, variants

if typing.TYPE_CHECKING:
    from pandas import DataFrame  # type: ignore[import-untyped]


def rules_tour(names: Sequence[str] | None = None) -> DataFrame:
    """Every option of the variants named (None: of all), a row each.

    Columns: variant, option, default, others (the other allowed values, joined by commas) and
    source.

    Raises:
        ConfigError: an unknown variant.
    """
    from pandas import DataFrame

    return DataFrame(
        [
            {
                "variant": name,
                "option": option.name,
                "default": option.value,
                "others": ", ".join(one for one in option.allowed if one != option.value),
                "source": option.source,
            }
            for name in (variants() if names is None else names)
            for option in variant(name).options()
        ],
        columns=["variant", "option", "default", "others", "source"],
    )
