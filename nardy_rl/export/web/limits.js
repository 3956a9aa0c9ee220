/**
 * The board and its limits: points, pins, who may leave the head, which walls may not stand.
 * The same as nardy_rl/rules/board.py, pins.py and limits.py; section numbers are of RULES.md.
 *
 * A board is an Int8Array(52): the player's own points 0..25 (0 borne off, 25 the bar, 24 farthest
 * from home), then the opponent's in *his* numbering. A pinned checker is -1.
 */

export const OFF = 0;
export const HOME = 6;
export const HEAD = 24;
export const BAR = 25;
export const SIDE = 26; // where the opponent's half of a board begins
export const PINNED = -1;

/** Flag bits of a position (board.py). */
export const FIRST_TURN = 1;
export const OPPONENT_FIRST_TURN = 2;
export const STARTED = 4;
export const TURNS = 3;
const MY_TURNS = 3 << TURNS;
const HIS_TURNS = 3 << 5;

// Codes of KernelRules: a value's place in its list of allowed values (record.py).
export const HEAD_FREE = 0;
const [HEAD_ANY_FIRST, HEAD_ANY_DOUBLE, HEAD_STRICT] = [2, 3, 4];
export const PRIME_ALLOW = 0;
const [PRIME_HOME, PRIME_FORBID] = [2, 3];
const [WRAP_OPPONENT_PATH, WRAP_CIRCULAR] = [0, 1];
const [OWN_QUARTER, HIS_QUARTER] = [1, 2];
const LAST_START = 19; // windows of six that begin later run over the seam

/** The opponent's number of my point 1..24 (section 0, Numbering). */
export function opponentPoint(rules, point) {
  if (rules.kernel.opposite) return 25 - point;
  return point <= 12 ? point + 12 : point - 12;
}

/** The flag bits of the same position seen by the other player. */
export function turnFlags(rules, flags) {
  let swapped = ((flags & FIRST_TURN) << 1) | ((flags & OPPONENT_FIRST_TURN) >> 1);
  swapped |= ((flags & MY_TURNS) << 2) | ((flags & HIS_TURNS) >> 2);
  return (swapped | ((flags & STARTED) ^ STARTED)) & rules.kernel.flag_mask;
}

/** The same board seen by the other player. */
export function flipBoard(board) {
  const turned = new Int8Array(52);
  turned.set(board.subarray(SIDE), 0);
  turned.set(board.subarray(0, SIDE), SIDE);
  return turned;
}

/** How many checkers may leave the head this turn (section 1, head_rule and head_exception).
 * `opponent` is his row, 26 counts. */
export function headQuota(rules, flags, die1, die2, opponent) {
  const { head_rule: rule, head_exception: exception } = rules.kernel;
  if (rule === HEAD_FREE) return 99;
  if (rule === HEAD_STRICT || die1 !== die2) return 1;
  if (rule === HEAD_ANY_DOUBLE) return 2;
  if (!(flags & FIRST_TURN)) return 1;
  if (rule === HEAD_ANY_FIRST) return 2;
  if (die1 !== 3 && die1 !== 4 && die1 !== 6) return 1;
  if (exception === 1) return 2;
  for (let point = HEAD - die1; point >= 1 && point >= HEAD - 4 * die1; point -= die1) {
    if (opponent[opponentPoint(rules, point)] > 0) return point === 12 ? 2 : 1;
  }
  return 1;
}

/** The opponent's foremost checker, as a hole (25 - point) on his own path; 0 for none. */
export function enemyFront(board) {
  for (let point = 1; point <= 24; point++) if (board[SIDE + point] > 0) return 25 - point;
  return 0;
}

/** Whether the mover's points form a forbidden prime (section 1, prime_rule and prime_wrap).
 *
 * Six points in a row are looked for on the *opponent's* path, whose hole 1 is his head; the path
 * is taken as a ring, so windows that begin at holes 20..24 run over his seam. */
export function forbiddenPrime(rules, board, front) {
  if (front === 0) return false;
  const { prime_rule: rule, prime_wrap: wrap } = rules.kernel;
  const held = (hole) => board[25 - (((hole + 11) % 24) + 1)] > 0;
  for (let start = 1; start <= 24; start++) {
    if (wrap === WRAP_OPPONENT_PATH && start > LAST_START) break;
    if (wrap > WRAP_CIRCULAR && start > 7 && start < 13) continue;
    let six = true;
    for (let step = 0; step < 6 && six; step++) six = held(((start + step - 1) % 24) + 1);
    if (!six) continue;
    if (rule === PRIME_FORBID || start > LAST_START) return true;
    if (rule === PRIME_HOME && front < 19) return true;
    if (start + 5 >= front) return true; // no enemy stands beyond the window
  }
  return false;
}

/** Whether no checker on the board has passed the opponent's start (section 4, runner). */
export function runnerOnTheWay(board) {
  for (let point = 1; point <= 11; point++) if (board[point] > 0) return false;
  return true;
}

/** The point of the mover's foremost checker, 0 without one. */
export function runnerOf(board) {
  for (let point = 1; point <= BAR; point++) if (board[point] > 0) return point;
  return 0;
}

/** The mover's points that would shut in an opponent who stands on a single point, else none
 * (section 4, trapping_prime). */
export function trappingPoints(rules, board) {
  const stands = [];
  for (let point = 1; point <= 24; point++) if (board[SIDE + point] > 0) stands.push(point);
  if (stands.length !== 1 || stands[0] <= 6) return [];
  return [1, 2, 3, 4, 5, 6].map((back) => opponentPoint(rules, stands[0] - back));
}

/** Which limit forbids a turn to end on this board: "start_prime", "trapping_prime" or "". */
export function wallInTheWay(rules, board, trapping) {
  const { start_prime: limited, start_prime_points: code } = rules.kernel;
  if (trapping.length && trapping.every((point) => board[point] > 0)) return "trapping_prime";
  const most = 5 - code;
  const count = (low) => {
    let found = 0;
    for (let point = low; point < low + 6; point++) if (board[point] > 0) found++;
    return found;
  };
  if (limited & OWN_QUARTER && count(19) > most) return "start_prime";
  if (limited & HIS_QUARTER && count(7) > most) return "start_prime";
  return "";
}
