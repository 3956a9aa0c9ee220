/** Dice as a pure function of (seed, game, turn): the same as nardy_rl/rules/dice.py. */

const WORD = (1n << 64n) - 1n;
const GOLDEN = 0x9e3779b97f4a7c15n;
const LOW32 = (1n << 32n) - 1n;
const [PURPOSE_ROLL, PURPOSE_OPENING] = [0n, 1n];

function mixWord(word) {
  let mixed = ((word ^ (word >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  mixed = ((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return mixed ^ (mixed >> 31n);
}

function randomWord(seed, game, turn, purpose) {
  let word = mixWord((BigInt(seed) + GOLDEN) & WORD);
  word = mixWord(word ^ ((BigInt(game) * GOLDEN + purpose) & WORD));
  return mixWord((word + BigInt(turn) * GOLDEN + GOLDEN) & WORD);
}

/** Two dice from 64 random bits. @returns {[number, number]} */
function rollOf(word) {
  return [Number(((word & LOW32) * 6n) >> 32n) + 1, Number(((word >> 32n) * 6n) >> 32n) + 1];
}

/** The dice thrown at (seed, game, turn), whole numbers from 0. @returns {[number, number]} */
export function rollDice(seed, game, turn) {
  return rollOf(randomWord(seed, game, turn, PURPOSE_ROLL));
}

/** Who starts: one die for each seat, ties thrown again (RULES.md 0, Starting).
 * @returns {{starter: number, dice: [number, number]}} dice of seat 0 and seat 1 */
export function openingDice(seed, game) {
  for (let attempt = 0; ; attempt++) {
    const dice = rollOf(randomWord(seed, game, attempt, PURPOSE_OPENING));
    if (dice[0] !== dice[1]) return { starter: dice[0] > dice[1] ? 0 : 1, dice };
  }
}

/** A seed for a new series. */
export function randomSeed() {
  return globalThis.crypto.getRandomValues(new Uint32Array(1))[0];
}
