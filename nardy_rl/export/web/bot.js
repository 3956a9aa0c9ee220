/**
 * The net's choice at 0 plies: the same as nardy_rl/players/network.py without bear-off tables.
 *
 * @typedef {import("./encoding.js").Encoding} Encoding
 * @typedef {import("./steps.js").Turn} Turn
 *
 * @typedef {Object} Net
 * @property {(inputs: Float32Array, rows: number) => Promise<Float32Array>} run outcome
 *   probabilities of `rows` rows of units, in the order of `rules.outcomes`
 *
 * @typedef {Object} Judged one legal result and what it is worth
 * @property {number} place in `turn.results`
 * @property {import("./rules.js").Result} result
 * @property {number} equity points that the mover can expect, as a float32
 * @property {number[]} shares probability of each of `rules.outcomes`, for the mover
 */
import { afterDecision } from "./ladder.js";
import { NOT_OVER, scoreAfter } from "./rules.js";
import { encode } from "./encoding.js";

/** Every legal result with its worth, the best first, the first of equals before the others.
 * @param {Net} net @param {Encoding} encoding of `turn.rules`
 * @param {Turn} turn @returns {Promise<Judged[]>} */
export async function judge(net, encoding, turn) {
  const { rules, state, roll, results, used } = turn;
  const then = afterDecision(rules, state.flags, state.pending, roll[0], roll[1], used);
  const boards = results.map((result) => result.board);
  const inputs = encode(encoding, boards, then.flags, then.pending);
  const found = await net.run(inputs, boards.length);
  const width = rules.outcomes.length;
  if (found.length !== boards.length * width) {
    throw new Error(`net: ${found.length} numbers, expected ${boards.length} rows of ${width}`);
  }
  const judged = results.map((result, place) => {
    const score = scoreAfter(rules, result.board, then.flags);
    const shares = score === NOT_OVER
      ? Array.from(found.subarray(place * width, (place + 1) * width))
      : rules.outcomes.map((outcome) => (outcome === score ? 1 : 0));
    return { place, result, equity: equityOf(rules.outcomes, shares), shares };
  });
  return judged.sort((a, b) => b.equity - a.equity || a.place - b.place);
}

/** The expected score, summed in float32 in the order of the outcomes as the kernels do. */
function equityOf(outcomes, shares) {
  let equity = 0;
  outcomes.forEach((score, k) => {
    equity = Math.fround(equity + Math.fround(score * Math.fround(shares[k])));
  });
  return equity;
}
