"""Whatever plays: one small batched protocol, the baselines, and nets of checkpoints."""

from nardy_rl.players.baselines import PipsPlayer, RandomPlayer
from nardy_rl.players.exact import ExactPlayer
from nardy_rl.players.gnubg import GnubgPlayer, GnubgValuer
from nardy_rl.players.heuristic import HeuristicPlayer
from nardy_rl.players.making import BASELINES, make_player, make_valuer, rules_of
from nardy_rl.players.network import NetPlayer, ValuerPlayer
from nardy_rl.players.onnx_file import OnnxPlayer, onnx_valuer, read_onnx
from nardy_rl.players.protocol import Player
from nardy_rl.players.pubeval import PubevalPlayer

__all__ = [
    "BASELINES",
    "ExactPlayer",
    "GnubgPlayer",
    "GnubgValuer",
    "HeuristicPlayer",
    "NetPlayer",
    "OnnxPlayer",
    "PipsPlayer",
    "Player",
    "PubevalPlayer",
    "RandomPlayer",
    "ValuerPlayer",
    "make_player",
    "make_valuer",
    "onnx_valuer",
    "read_onnx",
    "rules_of",
]
