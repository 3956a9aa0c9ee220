/**
 * Positions as the input units of the net: the same as nardy_rl/encoding.py.
 *
 * @typedef {import("./rules.js").Rules} Rules
 * @typedef {Object} Encoding which input unit means what
 * @property {number} size units of a position
 * @property {Int32Array} base by place of a board (52), its first unit, -1 for none
 * @property {boolean} pinned whether a fifth unit says that a lone checker is pinned
 * @property {Float32Array} scale by place, the factor of a linear unit; 0 where it is unary
 * @property {Int32Array} flagUnits by flag bit, its unit, -1 for none
 * @property {Map<number, number[]>} pendingUnits by value of `pending` after a decision
 */
import { BAR, OFF, SIDE } from "./limits.js";
import { GIVEN, HANDED, ROLL_AGAIN, rungCode, rungOf } from "./ladder.js";

/** What the net must have been trained with. */
export const ENCODER_VERSION = 1;

const PINNED_UNIT = 4;

/** The encoding of a variant. @param {Rules} rules @returns {Encoding} */
export function newEncoding(rules) {
  const { kernel } = rules;
  const pinned = kernel.pin !== null;
  const base = new Int32Array(52).fill(-1);
  const scale = new Float32Array(52);
  let size = 0;
  for (const side of [0, SIDE]) {
    for (let point = 1; point <= 24; point++) {
      base[side + point] = size;
      size += pinned ? 5 : 4;
    }
  }
  const linear = [[OFF, 1 / rules.checkers]];
  if (kernel.hit) linear.unshift([BAR, 0.5]);
  for (const [place, factor] of linear) {
    for (const side of [0, SIDE]) {
      base[side + place] = size++;
      scale[side + place] = factor;
    }
  }
  const flagUnits = new Int32Array(8).fill(-1);
  for (let bit = 0; bit < 8; bit++) if ((kernel.flag_mask >> bit) & 1) flagUnits[bit] = size++;
  const pendingUnits = new Map();
  if (kernel.ladder) size = addPendingUnits(pendingUnits, size, 2 + 2 * kernel.ladder_repeats);
  return { size, base, pinned, scale, flagUnits, pendingUnits };
}

function addPendingUnits(units, first, repeats) {
  units.set(ROLL_AGAIN, [first]);
  const size = first + 1 + 2 * (6 + repeats) + 1;
  for (let pending = 1; pending <= rungCode(6, 4, GIVEN, 2); pending++) {
    const { die, steps, whose } = rungOf(pending);
    const side = first + 1 + (whose === GIVEN ? 6 + repeats : 0);
    const listed = [side + die - 1];
    for (let step = 0; step < Math.min(steps, repeats); step++) listed.push(side + 6 + step);
    if (whose === HANDED) listed.push(size - 1);
    units.set(pending, listed);
  }
  return size;
}

/** Input rows of the results of one decision.
 * @param {Encoding} encoding
 * @param {Int8Array[]} boards of 52, in the view of the player who has moved
 * @param {number} flags @param {number} pending after the decision, see `afterDecision`
 * @returns {Float32Array} boards.length rows of `size` */
export function encode(encoding, boards, flags = 0, pending = 0) {
  const { size } = encoding;
  const out = new Float32Array(boards.length * size);
  boards.forEach((board, row) => writeRow(encoding, board, flags, pending, out, row * size));
  return out;
}

function writeRow(encoding, board, flags, pending, out, at) {
  for (let place = 0; place < 52; place++) {
    const count = board[place];
    const unit = at + encoding.base[place];
    if (count === 0 || encoding.base[place] < 0) continue;
    if (count < 0) {
      out[unit] = out[unit + PINNED_UNIT] = 1;
    } else if (encoding.scale[place] > 0) {
      out[unit] = encoding.scale[place] * count;
    } else {
      for (let level = 0; level < Math.min(count, 3); level++) out[unit + level] = 1;
      if (count > 3) out[unit + 3] = 0.5 * (count - 3);
    }
  }
  for (let bit = 0; bit < 8; bit++) {
    if ((flags >> bit) & 1 && encoding.flagUnits[bit] >= 0) out[at + encoding.flagUnits[bit]] = 1;
  }
  for (const unit of encoding.pendingUnits.get(pending) || []) out[at + unit] = 1;
}
