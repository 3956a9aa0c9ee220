/**
 * Play generation and scoring for every variant: the same as nardy_rl/rules/kernels.py, results.py
 * and scoring.py, in the same order of results (the bot takes the first of equals).
 *
 * @typedef {Object} Rules `Rules` of record.py as `nardy_rl.export.web_rules.rules_json` writes it
 * @property {string} name
 * @property {number} checkers
 * @property {[number, number][]} start (point, checkers) of each side
 * @property {Object<string, number|null>} kernel the numbers of `Rules.kernel`
 * @property {Object<string, string>} options the options that this game has, with their values
 * @property {number[]} outcomes the scores a game can end with, ascending
 * @property {number} draw_points what each side gets of a draw
 *
 * @typedef {Object} State a position seen by the player to move
 * @property {Int8Array} board 52 counts, see limits.js
 * @property {number} flags
 * @property {number} pending the rung to be played, 0 for none
 *
 * @typedef {Object} Move one step of one checker, in the mover's own numbering
 * @property {number} from 25 is the bar
 * @property {number} to 0 is off
 * @property {number} die
 * @property {boolean} hit whether it hit, or pinned
 *
 * @typedef {Object} Result one legal afterstate
 * @property {Int8Array} board still seen by the player who played
 * @property {Move[]} moves one way to reach it
 *
 * @typedef {Object} Node where a turn stands after some steps
 * @property {Int8Array} board
 * @property {Int8Array|null} marks by point, how many checkers there have hit this turn
 * @property {number} head checkers that may still leave the head
 * @property {Move[]} moves
 */
import {
  BAR, HEAD, HOME, OFF, PINNED, PRIME_ALLOW, SIDE, STARTED,
  enemyFront, forbiddenPrime, headQuota, opponentPoint, runnerOf, runnerOnTheWay, trappingPoints,
  wallInTheWay,
} from "./limits.js";
import { askedRung, headLeft } from "./ladder.js";

/** What the program that wrote the rules must be to be read here. */
export const RULES_VERSION = 1;

/** What `scoreAfter` returns while the game goes on. */
export const NOT_OVER = 127;

const EVERY_STEP = 1; // prime_check
const [HIT_RUN_ALLOWED, NO_HIDE] = [0, 1];
const ZONE_ALL = 1;
const [KOKS_FIRST_QUARTER, KOKS_NONE_HOME, KOKS_BACKGAMMON] = [1, 2, 3];
const LAST_ROLL_CHECKERS = 4;
const [NO_MOTHER, MOTHER_AT_ONCE] = [0, 2];

/** Check and take over the rules that an export wrote.
 * @param {Object} json @returns {Rules} */
export function loadRules(json) {
  const version = json && json.rules_version;
  if (version !== RULES_VERSION) {
    throw new Error(`rules_version: ${version}, but this page reads ${RULES_VERSION}; export again`);
  }
  for (const name of ["name", "checkers", "start", "kernel", "options", "outcomes", "draw_points"]) {
    if (json[name] === undefined) throw new Error(`rules: ${name} is missing; export again`);
  }
  return json;
}

/** The board that a game starts from. @param {Rules} rules */
export function startBoard(rules) {
  const board = new Int8Array(52);
  for (const [point, count] of rules.start) board[point] = board[SIDE + point] = count;
  return board;
}

/** The steps that a roll grants now, one die each: two, four of a double, or one rung.
 * @param {Rules} rules @param {State} state @param {[number, number]} roll */
export function diceOf(rules, state, roll) {
  const [die, steps] = askedRung(rules, state.flags, state.pending, roll[0], roll[1]);
  if (steps > 0) return new Array(steps).fill(die);
  return roll[0] === roll[1] ? [...roll, ...roll] : [...roll];
}

/** What stays the same during a turn: points open to the mover, lone enemies, the limits.
 * @param {Rules} rules @param {State} state @param {[number, number]} roll */
export function prepareTurn(rules, state, roll) {
  const { kernel } = rules;
  const { board } = state;
  const dice = diceOf(rules, state, roll);
  const closing = kernel.hit || kernel.pin !== null ? 2 : 1;
  const open = new Array(26).fill(false);
  const lone = new Array(26).fill(false);
  let held = false; // the mover has a pinned checker
  for (let point = 1; point <= 24; point++) {
    const his = board[SIDE + opponentPoint(rules, point)];
    open[point] = his < closing && board[point] !== PINNED;
    lone[point] = (his === 1 || his === PINNED) && board[point] !== PINNED;
    held ||= board[point] === PINNED;
  }
  const head = state.pending > 0
    ? headLeft(rules, state.pending)
    : headQuota(rules, state.flags, dice[0], dice[dice.length - 1], board.subarray(SIDE));
  return {
    rules,
    dice,
    open,
    lone,
    held,
    front: enemyFront(board),
    trapping: kernel.runners !== null && kernel.trapping_prime ? trappingPoints(rules, board) : [],
    mayEnd: kernel.pin !== null && Math.abs(board[SIDE + HEAD]) === 1,
    checkSteps: kernel.prime_rule !== PRIME_ALLOW && kernel.prime_check === EVERY_STEP,
    root: {
      board: board.slice(),
      marks: kernel.hit_run !== HIT_RUN_ALLOWED ? new Int8Array(26) : null,
      head,
      moves: [],
    },
  };
}

function allHome(turn, board) {
  if (turn.held) return false;
  for (let point = HOME + 1; point <= BAR; point++) if (board[point] > 0) return false;
  return true;
}

/** The points from which a checker may be moved by `die`, farthest first; the moves of checkers
 * that hit this turn (no_hide) come apart, after the others.
 * @param {Node} node @returns {[number, boolean][]} (point, whether it is the one that hit) */
export function sourcesOf(turn, node, die) {
  const { rules: { kernel }, open } = turn;
  const { board } = node;
  const found = [];
  for (let point = BAR; point > die; point--) {
    if (board[point] > 0 && open[point - die] && (point === BAR || board[BAR] === 0)) {
      found.push(point);
    }
  }
  if (allHome(turn, board)) {
    let farthest = HOME;
    while (farthest > 0 && board[farthest] <= 0) farthest--;
    if (farthest >= die ? board[die] > 0 : farthest > 0) found.push(Math.min(die, farthest));
  }
  const runs = kernel.runners !== null && kernel.runner && board[OFF] === 0 && runnerOnTheWay(board);
  const runner = runs ? runnerOf(board) : 0;
  const allowed = found.filter(
    (point) => (point !== HEAD || node.head > 0) && (!runs || point === runner),
  );
  if (node.marks === null) return allowed.map((point) => [point, false]);
  return restrainHitters(turn, node, die, allowed);
}

function restrainHitters({ rules: { kernel } }, { board, marks }, die, points) {
  const others = points.filter((point) => board[point] > marks[point]);
  const hitters = points.filter(
    (point) => marks[point] > 0 && kernel.hit_run === NO_HIDE
      && !(point > die && board[point - die] > 0),
  );
  return [...others.map((point) => [point, false]), ...hitters.map((point) => [point, true])];
}

/** Make the lone enemy checker on an open point pinned or free, as the mover stands there. */
function setPin({ rules, lone }, board, point) {
  if (point < 1 || point > 24 || !lone[point]) return;
  board[SIDE + opponentPoint(rules, point)] = board[point] > 0 ? PINNED : 1;
}

/** The node after one step. @param {Node} node @returns {Node} */
export function makeStep(turn, node, from, die, hitter) {
  const { rules, lone } = turn;
  const { kernel } = rules;
  const board = node.board.slice();
  const marks = node.marks && node.marks.slice();
  const to = Math.max(from - die, OFF);
  board[from]--;
  board[to]++;
  let hit = false;
  if (to !== OFF && lone[to]) {
    const his = SIDE + opponentPoint(rules, to);
    hit = board[his] === 1;
    if (hit && kernel.hit) {
      board[his] = 0;
      board[SIDE + BAR]++;
    }
  }
  if (marks) {
    if (hitter) marks[from]--;
    const newly = hit && (kernel.hit_run_zone === ZONE_ALL || to <= HOME);
    if (to !== OFF && (hitter || newly)) marks[to]++;
  }
  if (kernel.pin !== null) {
    setPin(turn, board, from);
    setPin(turn, board, to);
  }
  const move = { from, to, die, hit: hit && (kernel.hit === 1 || kernel.pin !== null) };
  return {
    board, marks, head: node.head - (from === HEAD ? 1 : 0), moves: [...node.moves, move],
  };
}

/** A text that is the same for equal boards only. */
export function boardKey(board) {
  return String.fromCharCode.apply(null, new Uint8Array(board.buffer, board.byteOffset, 52));
}

/** The same for nodes of equal depth and order of dice: what can follow them is the same. */
export function nodeKey(node) {
  return node.marks === null ? boardKey(node.board) : boardKey(node.board) + node.marks.join();
}

/** Whether a turn may end on this board, but for the number of dice used. */
export function mayStop(turn, board) {
  const { rules, front, trapping } = turn;
  if (rules.kernel.prime_rule !== PRIME_ALLOW && forbiddenPrime(rules, board, front)) return false;
  return rules.kernel.runners === null || wallInTheWay(rules, board, trapping) === "";
}

/** The orders of the dice to be tried, the larger first; one where all are equal. */
export function diceOrders(dice) {
  if (dice.every((die) => die === dice[0])) return [dice];
  return dice[0] > dice[1] ? [dice, [dice[1], dice[0]]] : [[dice[1], dice[0]], dice];
}

/** The results found so far; those that end the game by the mother stand first. */
class Results {
  constructor() {
    this.list = [];
    this.keys = new Set();
    this.ended = 0;
    this.best = 0;
  }

  /** Forget the results with fewer steps, but for those that ended the game. */
  raise(depth) {
    if (depth <= this.best) return;
    for (const result of this.list.splice(this.ended)) this.keys.delete(boardKey(result.board));
    this.best = depth;
  }

  add(node) {
    const key = boardKey(node.board);
    if (this.keys.has(key)) return false;
    this.keys.add(key);
    this.list.push({ board: node.board, moves: node.moves });
    return true;
  }

  addEnded(node) {
    if (!this.add(node)) return;
    const last = this.list.length - 1;
    const first = this.ended++;
    [this.list[first], this.list[last]] = [this.list[last], this.list[first]];
  }
}

/** Depth first over the steps of `dice`, in that order, every node once; results are added after
 * those below them, as the kernel does. */
function search(turn, dice, results, keepFirst) {
  const seen = dice.map(() => new Set());
  const visit = (node, depth) => {
    if (depth < dice.length) {
      for (const [from, hitter] of sourcesOf(turn, node, dice[depth])) {
        const next = makeStep(turn, node, from, dice[depth], hitter);
        const key = nodeKey(next);
        if (seen[depth].has(key)) continue;
        seen[depth].add(key);
        const stop = turn.checkSteps && forbiddenPrime(turn.rules, next.board, turn.front);
        if (turn.mayEnd && motherScore(turn.rules, next.board) !== NOT_OVER) {
          results.raise(depth + 1);
          results.addEnded(next);
        } else if (!stop) {
          visit(next, depth + 1);
        }
      }
    }
    if (depth === 0 || depth < results.best || (depth === 1 && !keepFirst)) return;
    if (!mayStop(turn, node.board)) return;
    results.raise(depth);
    results.add(node);
  };
  visit(turn.root, 0);
}

/** All distinct legal results of a roll, in the kernel's order.
 *
 * A pass is one result, the position itself, with no moves.
 * @param {Rules} rules @param {State} state
 * @param {[number, number]} roll not looked at where a rung is pending
 * @returns {{results: Result[], used: number}} `used`: steps that the results make (those that
 *   end the game by the mother may make fewer) */
export function generate(rules, state, roll) {
  return resultsOf(prepareTurn(rules, state, roll));
}

/** `generate` of a turn that is prepared. */
export function resultsOf(turn) {
  const results = new Results();
  diceOrders(turn.dice).forEach((dice, order) => {
    // One step with the smaller die counts only where the larger has none.
    search(turn, dice, results, order === 0 || results.best === 0);
  });
  if (results.list.length === 0) return { results: [{ board: turn.root.board, moves: [] }], used: 0 };
  return { results: results.list, used: results.best };
}

function lossSize(rules, loser) {
  const { koks } = rules.kernel;
  if (loser[OFF] > 0) return 1;
  if (koks === KOKS_FIRST_QUARTER || koks === KOKS_BACKGAMMON) {
    return loser.subarray(25 - HOME, 26).some((count) => count > 0) ? 3 : 2;
  }
  if (koks === KOKS_NONE_HOME) {
    return loser.subarray(1, HOME + 1).some((count) => count > 0) ? 2 : 3;
  }
  return 2;
}

/** The final score for the player who just moved, or `NOT_OVER` (section 0, Score; 1, 2, 4).
 * @param {Rules} rules @param {Int8Array} board after the decision, his own half first
 * @param {number} flags in the same view */
export function scoreAfter(rules, board, flags) {
  const [mine, his] = [board.subarray(0, SIDE), board.subarray(SIDE)];
  const hisDone = his[OFF] === rules.checkers;
  if (mine[OFF] === rules.checkers) {
    if (hisDone) return 0;
    const owed = rules.kernel.last_roll !== 0 && (flags & STARTED) !== 0;
    if (owed && rules.checkers - his[OFF] <= LAST_ROLL_CHECKERS) return NOT_OVER;
    return lossSize(rules, his);
  }
  if (hisDone) return -lossSize(rules, mine);
  return rules.kernel.pin === null ? NOT_OVER : motherScore(rules, board);
}

/** What pinned mothers decide for the player of the first half, or `NOT_OVER` (section 4). */
export function motherScore(rules, board) {
  const [mine, his] = [board[HEAD], board[SIDE + HEAD]];
  if (his === PINNED && mine === PINNED) return 0;
  const { mother } = rules.kernel;
  if (mother === NO_MOTHER) return NOT_OVER;
  if (his === PINNED && (mine === 0 || mother === MOTHER_AT_ONCE)) return 2;
  if (mine === PINNED && (his === 0 || mother === MOTHER_AT_ONCE)) return -2;
  return NOT_OVER;
}
