"""`nardy-rl export`: a checkpoint's net as a portable file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nardy_rl.cli import words
from nardy_rl.errors import ConfigError

FORMATS = ("onnx", "safetensors", "npz", "js", "web")

HELP = """\
nardy-rl export: a checkpoint's net as a portable file

usage: nardy-rl export checkpoint=PATH out=FILE [format=onnx|safetensors|npz|js] [overwrite=true]
       nardy-rl export checkpoint=PATH out=FOLDER format=web [runtime=TARBALL] [overwrite=true]

settings and what they are by default:
  checkpoint      a checkpoint, or a run (its newest checkpoint)
  out             the file; its folder is made where it is not there
  format          onnx, safetensors, npz or js; by default what the file's name ends in
  runtime         of format=web: onnxruntime-web's tarball; by default fetched from npm, once
  overwrite=false whether files that are there may be replaced

Beside FILE come FILE.json (the encoding as a table, the outcomes, a test vector, the card) and
FILE.md (the same for people, with the licence): all that a program needs which has never seen this
one. An ONNX file takes any number of positions at once; it is read back and compared with torch
before it is kept, and plays as FILE.onnx wherever a player is asked for. A js file is a module
without dependencies, for browsers and node; where node is installed it is compared likewise.

format=web writes a folder with a page on which a person plays the net, in any browser, without a
network; see docs/web.md. It holds the rules and onnxruntime-web too, 4 to 6 MB in all.

examples:
  nardy-rl export checkpoint=runs/long_nardy/2026-11-30_12-00-00-default out=nets/nardy.onnx
  nardy-rl export checkpoint=checkpoints/backgammon out=backgammon.npz
  nardy-rl export checkpoint=checkpoints/long_nardy format=web out=page
  nardy-rl arena a=nets/nardy.onnx b=pips
"""

SETTINGS: dict[str, Callable[[str], Any]] = {
    "checkpoint": str,
    "out": str,
    "format": words.one_of(*FORMATS),
    "runtime": str,
    "overwrite": words.one_of("true", "false"),
}


def run(given: list[str]) -> int:
    """Write the file that the words ask for and say what was written."""
    if "-h" in given or "--help" in given:
        print(HELP, end="")
        return 0
    settings = words.read(given, SETTINGS)
    for name, example in (("checkpoint", "a checkpoint or run"), ("out", "FILE.onnx")):
        if not settings.get(name):
            raise ConfigError(f"{name} is missing: {name}={example}")

    from nardy_rl.export import export, export_page
    from nardy_rl.train.checkpoint import load_checkpoint

    overwrite = settings.get("overwrite") == "true"
    if "runtime" in settings and settings.get("format") != "web":
        raise ConfigError("runtime: goes with format=web only")
    checkpoint = load_checkpoint(settings["checkpoint"])
    if settings.get("format") == "web":
        written = export_page(
            checkpoint, settings["out"], settings.get("runtime"), overwrite=overwrite
        )
    else:
        written = export(checkpoint, settings["out"], settings.get("format"), overwrite=overwrite)
    for path in written:
        print(f"{path}  {path.stat().st_size:,} bytes")
    return 0
