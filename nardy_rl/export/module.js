/**
 * A net that plays VARIANT, written by nardy_rl: a module without dependencies, for browsers, node
 * and deno. FILE.json beside it says how a position is written down ("how_to_read") and holds test
 * vectors; FILE.md says the same to people. MIT licence.
 *
 *     import { choose, equity } from "./FILE";
 *     equity(points, flags);                       // in points a game, for who just moved
 *     choose([{ points, flags }, { points, flags, score: 1 }]); // index of the best result
 */

/** Which net it is: game, options, outcomes, shape, SHA-256 of its checkpoint. */
export const about = ABOUT;

/** Scores, in points, in the order of `probabilities`. */
export const outcomes = about.outcomes;

// Every unit: its index and what it is a function of.
const encoding = ENCODING;

// Layer by layer: rows and columns of the matrix, then matrix and bias as float32, base64.
const layers = LAYERS.map(([rows, columns, matrix, bias]) => ({
  rows,
  columns,
  matrix: floats(matrix),
  bias: floats(bias),
}));

function floats(text) {
  const letters = atob(text);
  const bytes = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: bytes.length / 4 }, (_, i) => view.getFloat32(4 * i, true));
}

/**
 * The input units of a position after a move, seen by the player who made it.
 * @param {number[][]} points two lists of 26: his checkers and the other's, by distance to go
 * @param {number} [flags]
 * @param {number} [pending] of ladder games
 * @returns {Float32Array}
 */
export function encode(points, flags = 0, pending = 0) {
  if (points?.length !== 2 || points.some((side) => side.length !== 26)) {
    throw new TypeError("points: two lists of 26 numbers are needed");
  }
  const units = new Float32Array(about.inputs);
  for (const unit of encoding) {
    let value = 0;
    if ("place" in unit) {
      const count = points[unit.side][unit.place];
      if ("pinned" in unit) value = count === -1 ? 1 : 0;
      else if ("at_least" in unit) value = Math.abs(count) >= unit.at_least ? 1 : 0;
      else value = unit.factor * Math.max(0, Math.abs(count) - unit.beyond);
    } else if ("flag" in unit) value = (flags >> unit.flag) & 1;
    else if ("pending" in unit) value = unit.pending.includes(pending) ? 1 : 0;
    units[unit.index] = value;
  }
  return units;
}

/**
 * The probability of each outcome, for the player whose view the units are.
 * @param {ArrayLike<number>} units `about.inputs` of them
 * @returns {number[]}
 */
export function probabilities(units) {
  if (units.length !== about.inputs) {
    throw new TypeError(`units: ${about.inputs} numbers are needed, not ${units.length}`);
  }
  let values = units;
  layers.forEach(({ rows, columns, matrix, bias }, number) => {
    const next = new Float64Array(rows);
    for (let row = 0; row < rows; row++) {
      let sum = bias[row];
      for (let column = 0; column < columns; column++) {
        sum += matrix[row * columns + column] * values[column];
      }
      next[row] = number < layers.length - 1 ? Math.max(0, sum) : sum;
    }
    values = next;
  });
  const top = Math.max(...values);
  const shares = Array.from(values, (value) => Math.exp(value - top));
  const total = shares.reduce((sum, share) => sum + share);
  return shares.map((share) => share / total);
}

/** What a position is worth to the player who just moved, in points a game; see `encode`. */
export function equity(points, flags = 0, pending = 0) {
  const shares = probabilities(encode(points, flags, pending));
  return shares.reduce((sum, share, place) => sum + share * outcomes[place], 0);
}

/**
 * The index of the best of the legal results of a roll, the first of equals.
 * @param {{points: number[][], flags?: number, pending?: number, score?: number}[]} results
 *   `score` where the result ends the game: what it is worth to the player who moved
 */
export function choose(results) {
  const values = results.map((r) => r.score ?? equity(r.points, r.flags ?? 0, r.pending ?? 0));
  return values.indexOf(Math.max(...values));
}
