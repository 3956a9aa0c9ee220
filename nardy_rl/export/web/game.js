/**
 * A series of games of one variant: the same as nardy_rl/tables.py and nardy_rl/env.py.
 *
 * A `Series` is a plain value that no function here changes: keep the older ones to undo, write
 * one with `JSON.stringify` and read it with `readSeries`. The same seed and the same choices make
 * the same games, here and in Python (`Env(rules, 1, seed)`).
 *
 * @typedef {import("./rules.js").Rules} Rules
 * @typedef {import("./steps.js").Turn} Turn
 *
 * @typedef {Object} Series
 * @property {string} variant
 * @property {number} seed of the dice
 * @property {number} game number of the game, from 0
 * @property {number} turn decisions taken in it
 * @property {number} starter the seat, 0 or 1, that began the game
 * @property {[number, number]|null} opening the dice of seat 0 and seat 1 that decided it; null
 *   where the game before did
 * @property {number} mover the seat whose decision it is; of a game that is over, who moved last
 * @property {number[]} board 52 counts, the mover's half first, see limits.js
 * @property {number} flags @property {number} pending see rules.js
 * @property {[number, number]} roll the dice to be played; where a rung is pending, its die twice
 * @property {boolean} thrown whether the mover has just thrown them (false: a rung goes on, or
 *   the opponent handed it over)
 * @property {Ended|null} ended how the game ended; null while it goes on
 * @property {[number, number]} points of the seats, of all games that ended
 *
 * @typedef {Object} Ended
 * @property {number|null} winner the seat; null for a draw
 * @property {number} score points won, 0 of a draw
 * @property {string} size "", or what a win of two or three points is called
 */
import { FIRST_TURN, OPPONENT_FIRST_TURN, STARTED, flipBoard } from "./limits.js";
import { HANDED, follow, rungOf } from "./ladder.js";
import { NOT_OVER, scoreAfter, startBoard } from "./rules.js";
import { newTurn } from "./steps.js";
import { openingDice, randomSeed, rollDice } from "./dice.js";

const USE_OPENING_DICE = 1; // opening_roll
const [NEXT_WINNER, NEXT_ROLL] = [1, 2]; // next_starter

/** The first game of a series; the dice decide who begins.
 * @param {Rules} rules @param {number} seed whole, from 0 @returns {Series} */
export function newSeries(rules, seed = randomSeed()) {
  return dealGame(rules, seed, 0, null, [0, 0]);
}

function dealGame(rules, seed, game, given, points) {
  let roll = rollDice(seed, game, 0);
  let [starter, opening] = [given, null];
  if (given === null) {
    ({ starter, dice: opening } = openingDice(seed, game));
    if (rules.kernel.opening_roll === USE_OPENING_DICE) roll = opening;
  }
  return {
    variant: rules.name,
    seed,
    game,
    turn: 0,
    starter,
    opening,
    mover: starter,
    board: Array.from(startBoard(rules)),
    flags: (FIRST_TURN | OPPONENT_FIRST_TURN | STARTED) & rules.kernel.flag_mask,
    pending: 0,
    roll,
    thrown: true,
    ended: null,
    points,
  };
}

/** The decision that is due. @param {Rules} rules @param {Series} series @returns {Turn}
 * @throws {Error} the game is over */
export function turnOf(rules, series) {
  if (series.ended) throw new Error("the game is over: there is nothing to play");
  const { flags, pending, roll } = series;
  return newTurn(rules, { board: Int8Array.from(series.board), flags, pending }, roll);
}

/** What is to be said of the dice: whose rung it is in a ladder game.
 * @param {Series} series
 * @returns {{die: number, steps: number, handed: boolean}|null} null: an ordinary roll */
export function rungDue(series) {
  if (!series.pending) return null;
  const { die, steps, whose } = rungOf(series.pending);
  return { die, steps, handed: whose === HANDED };
}

/** The series after the mover played to a result; the dice that are due are thrown.
 * @param {Rules} rules @param {Series} series
 * @param {Turn} turn the decision that is due, from `turnOf`
 * @param {number} place of the result in `turn.results`; 0 to pass
 * @returns {Series}
 * @throws {RangeError} no such result */
export function play(rules, series, turn, place) {
  const result = turn.results[place];
  if (!result) throw new RangeError(`result ${place}: 0 to ${turn.results.length - 1} are allowed`);
  const { board } = result;
  const score = scoreAfter(rules, board, series.flags);
  const done = { ...series, turn: series.turn + 1, thrown: false };
  if (score !== NOT_OVER) return endGame(rules, done, board, score);
  const [die1, die2] = series.roll;
  const before = turn.state.board;
  const next = follow(rules, series.flags, series.pending, die1, die2, turn.used, before, board);
  done.board = Array.from(next.goesOn ? board : flipBoard(board));
  done.flags = next.flags;
  done.pending = next.pending;
  done.mover = next.goesOn ? series.mover : 1 - series.mover;
  if (next.pending > 0) {
    const { die } = rungOf(next.pending);
    return { ...done, roll: [die, die] };
  }
  return { ...done, roll: rollDice(series.seed, series.game, done.turn), thrown: true };
}

function endGame(rules, series, board, score) {
  const { mover } = series;
  const points = [...series.points];
  if (score === 0) points.forEach((_, seat) => { points[seat] += rules.draw_points; });
  else points[score > 0 ? mover : 1 - mover] += Math.abs(score);
  const winner = score === 0 ? null : score > 0 ? mover : 1 - mover;
  return {
    ...series,
    board: Array.from(board),
    flags: series.flags & ~FIRST_TURN,
    pending: 0,
    ended: { winner, score: Math.abs(score), size: sizeOf(rules, Math.abs(score)) },
    points,
  };
}

/** What a win of this many points is called. */
function sizeOf(rules, score) {
  if (score < 2) return "";
  const names = rules.options.koks === "backgammon" ? ["gammon", "backgammon"] : ["mars", "koks"];
  return names[score - 2];
}

/** The next game of a series whose game is over. @param {Rules} rules @param {Series} series */
export function nextGame(rules, series) {
  if (!series.ended) throw new Error("the game is not over");
  const { next_starter: rule } = rules.kernel;
  let starter = 1 - series.starter;
  if (rule === NEXT_ROLL) starter = null;
  else if (rule === NEXT_WINNER && series.ended.winner !== null) starter = series.ended.winner;
  return dealGame(rules, series.seed, series.game + 1, starter, series.points);
}

/** A series from what `JSON.stringify` wrote of one.
 * @param {Rules} rules @param {string} text @returns {Series}
 * @throws {Error} it is damaged, or of another variant */
export function readSeries(rules, text) {
  const series = JSON.parse(text);
  const whole = (value, low, high) => Number.isInteger(value) && value >= low && value <= high;
  const dice = (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((d) => whole(d, 1, 6));
  const counts = (half) => half.reduce((sum, count) => sum + Math.abs(count), 0) === rules.checkers;
  const checks = {
    variant: (value) => value === rules.name,
    seed: (value) => whole(value, 0, Number.MAX_SAFE_INTEGER),
    game: (value) => whole(value, 0, Number.MAX_SAFE_INTEGER),
    turn: (value) => whole(value, 0, Number.MAX_SAFE_INTEGER),
    starter: (value) => whole(value, 0, 1),
    opening: (value) => value === null || dice(value),
    mover: (value) => whole(value, 0, 1),
    board: (value) => Array.isArray(value) && value.length === 52
      && value.every((count) => whole(count, -1, rules.checkers))
      && counts(value.slice(0, 26)) && counts(value.slice(26)),
    flags: (value) => whole(value, 0, 255),
    pending: (value) => whole(value, 0, 216),
    roll: dice,
    thrown: (value) => typeof value === "boolean",
    ended: (value) => value === null || (typeof value === "object" && whole(value.score, 0, 3)),
    points: (value) => Array.isArray(value) && value.length === 2 && value.every(Number.isFinite),
  };
  for (const [name, check] of Object.entries(checks)) {
    const value = series && series[name];
    if (value === undefined || !check(value)) {
      throw new Error(`saved game: ${name} is ${JSON.stringify(value)}, which is not allowed`);
    }
  }
  return series;
}
