/**
 * Ladders: doubles that run on to 6-6, one decision a rung; the same as nardy_rl/rules/ladder.py.
 *
 * `pending` is a byte: 0 (the player to move throws dice) or a rung 1..216. In the view of the
 * player who has just made a decision a rung may be GIVEN to the opponent, and ROLL_AGAIN says
 * that the same player throws.
 */
import {
  FIRST_TURN, HEAD, HEAD_FREE, SIDE, TURNS, headQuota, turnFlags,
} from "./limits.js";

export const OWN = 0;
export const HANDED = 1;
export const GIVEN = 2;
export const ROLL_AGAIN = 217;

const [RUNG_DICE, RUNG_STEPS, RUNG_HEADS] = [6, 4, 3];
const STALL_STOP = 0;
const UNPLAYED_OPPONENT = 0;

/** The byte of a rung: die 1..6, steps left 1..4, whose, head moves left 0..2. */
export function rungCode(die, steps, whose, head) {
  return 1 + ((whose * RUNG_HEADS + head) * RUNG_STEPS + steps - 1) * RUNG_DICE + die - 1;
}

/** {die, steps, whose, head} of a rung's byte 1..216. */
export function rungOf(pending) {
  let rest = pending - 1;
  const die = (rest % RUNG_DICE) + 1;
  rest = Math.floor(rest / RUNG_DICE);
  const steps = (rest % RUNG_STEPS) + 1;
  rest = Math.floor(rest / RUNG_STEPS);
  return { die, steps, whose: Math.floor(rest / RUNG_HEADS), head: rest % RUNG_HEADS };
}

function rungRepeats(rules) {
  return 2 + 2 * rules.kernel.ladder_repeats;
}

/** [die, steps] of the rung to be played now; steps 0: it is an ordinary roll. */
export function askedRung(rules, flags, pending, die1, die2) {
  if (pending > 0) {
    const { die, steps } = rungOf(pending);
    return [die, steps];
  }
  const { ladder, ladder_from_turn: from } = rules.kernel;
  if (ladder && die1 === die2 && ((flags >> TURNS) & 3) >= from) return [die1, rungRepeats(rules)];
  return [0, 0];
}

/** How many checkers may still leave the head where a rung is pending. */
export function headLeft(rules, pending) {
  return rules.kernel.head_rule === HEAD_FREE ? 99 : rungOf(pending).head;
}

function turnOver(rules, flags) {
  const left = flags & ~FIRST_TURN;
  return ((left >> TURNS) & 3) < rules.kernel.ladder_from_turn ? left + (1 << TURNS) : left;
}

/** What all results of one decision share: {flags, pending} after it, seen by the mover.
 * @param {number} used steps that the results make */
export function afterDecision(rules, flags, pending, die1, die2, used) {
  const [die, steps] = askedRung(rules, flags, pending, die1, die2);
  if (steps === 0) return { flags: turnOver(rules, flags), pending: 0 };
  const whose = pending > 0 ? rungOf(pending).whose : OWN;
  const { stall, unplayed } = rules.kernel;
  if (used < steps && stall === STALL_STOP) {
    if (whose === HANDED) return { flags, pending: ROLL_AGAIN };
    const given = unplayed === UNPLAYED_OPPONENT ? rungCode(die, steps - used, GIVEN, 0) : 0;
    return { flags: turnOver(rules, flags), pending: given };
  }
  if (die < RUNG_DICE) return { flags, pending: rungCode(die + 1, rungRepeats(rules), whose, 0) };
  if (whose === HANDED) return { flags, pending: ROLL_AGAIN };
  return { flags: turnOver(rules, flags), pending: 0 };
}

/** Who moves next after a play that does not end the game, and in what state.
 * @param {Int8Array} before @param {Int8Array} after boards of the mover
 * @returns {{goesOn: boolean, flags: number, pending: number}} as the next player sees it */
export function follow(rules, flags, pending, die1, die2, used, before, after) {
  const then = afterDecision(rules, flags, pending, die1, die2, used);
  if (then.pending === 0) {
    return { goesOn: false, flags: turnFlags(rules, then.flags), pending: 0 };
  }
  if (then.pending === ROLL_AGAIN) return { goesOn: true, flags: then.flags, pending: 0 };
  const { die, steps, whose } = rungOf(then.pending);
  const limited = rules.kernel.head_rule !== HEAD_FREE;
  if (whose === GIVEN) {
    const his = turnFlags(rules, then.flags);
    const quota = limited ? headQuota(rules, his, die, die, after.subarray(0, SIDE)) : 0;
    return { goesOn: false, flags: his, pending: rungCode(die, steps, HANDED, quota) };
  }
  let head = 0;
  if (limited) {
    head = pending > 0
      ? headLeft(rules, pending)
      : headQuota(rules, flags, die1, die2, before.subarray(SIDE));
    head -= before[HEAD] - after[HEAD];
  }
  return { goesOn: true, flags: then.flags, pending: rungCode(die, steps, whose, head) };
}
