/**
 * A turn played checker by checker: which single moves can still be completed to a legal play.
 *
 * @typedef {import("./rules.js").Rules} Rules
 * @typedef {import("./rules.js").State} State
 * @typedef {import("./rules.js").Result} Result
 * @typedef {import("./rules.js").Move} Move
 *
 * @typedef {Object} Turn one decision; see `newTurn`
 * @property {Rules} rules
 * @property {State} state
 * @property {[number, number]} roll
 * @property {number[]} dice the steps that the roll grants
 * @property {Result[]} results the legal results, in the kernel's order; a pass has no moves
 * @property {number} used steps that they make; 0: the turn passes
 * @property {import("./rules.js").Node} root the state as a node
 * @property {Map<string, number>} places of the results by `boardKey`
 * @property {Map<string, boolean>} known what was found out about nodes so far
 * @property {any[]} trapping and the rest of what `prepareTurn` says
 *
 * @typedef {Object} Made where the turn stands after some moves
 * @property {Int8Array} board
 * @property {Move[]} moves those made so far
 * @property {number[]} dice that are left
 * @property {Move[]} steps single moves that can come next, one a (from, to), farthest first
 * @property {number} result place in `turn.results` of the board as it stands; -1: the turn is not
 *   complete. Where `steps` is not empty all the same, the player may stop or go on.
 */
import {
  BAR, HEAD, HOME, OFF, PINNED, SIDE, forbiddenPrime, opponentPoint, wallInTheWay,
} from "./limits.js";
import {
  NOT_OVER, boardKey, diceOrders, makeStep, mayStop, motherScore, nodeKey, prepareTurn, resultsOf,
  sourcesOf,
} from "./rules.js";

/** All about one decision, to be asked again and again while it is played.
 * @param {Rules} rules @param {State} state @param {[number, number]} roll @returns {Turn} */
export function newTurn(rules, state, roll) {
  const prepared = prepareTurn(rules, state, roll);
  const { results, used } = resultsOf(prepared);
  const places = new Map();
  results.forEach((result, place) => places.set(boardKey(result.board), place));
  return { ...prepared, state, roll, results, used, places, known: new Map() };
}

/** The nodes that the moves made can have led to, each with an order of the dice that it followed.
 * (More than one where a checker that hit stands with others, or the order is still open.) */
function nodesAfter(turn, made) {
  const found = [];
  for (const dice of diceOrders(turn.dice)) {
    let nodes = [turn.root];
    made.forEach(({ from, die }, depth) => {
      nodes = die === dice[depth] ? nodes.flatMap((node) => stepsFrom(turn, node, die, from)) : [];
    });
    found.push(...nodes.map((node) => ({ node, dice })));
  }
  return found;
}

/** The nodes after moving one checker by `die`, from `from` only where it is given. */
function stepsFrom(turn, node, die, from = null) {
  return sourcesOf(turn, node, die)
    .filter(([point]) => from === null || point === from)
    .map(([point, hitter]) => makeStep(turn, node, point, die, hitter));
}

/** Whether a node stops the search: a prime at any step, or the game is over. */
function isEnd(turn, node) {
  if (turn.mayEnd && motherScore(turn.rules, node.board) !== NOT_OVER) return true;
  return turn.checkSteps && forbiddenPrime(turn.rules, node.board, turn.front);
}

/** Whether a legal result can be reached from a node, or is it. */
function completes(turn, node, dice) {
  if (turn.checkSteps && forbiddenPrime(turn.rules, node.board, turn.front)) return false;
  if (turn.places.has(boardKey(node.board))) return true;
  const depth = node.moves.length;
  if (depth >= dice.length || isEnd(turn, node)) return false;
  const key = `${depth} ${dice[0]} ${nodeKey(node)}`;
  let known = turn.known.get(key);
  if (known === undefined) {
    known = stepsFrom(turn, node, dice[depth]).some((next) => completes(turn, next, dice));
    turn.known.set(key, known);
  }
  return known;
}

/** Where a turn stands after the moves `made`, and what can come next.
 *
 * @param {Turn} turn
 * @param {{from: number, die: number}[]} made in order; moves of `steps` of the call before
 * @returns {Made}
 * @throws {Error} moves that cannot be made */
export function stepsTo(turn, made) {
  const nodes = nodesAfter(turn, made);
  if (nodes.length === 0) throw new Error(`moves that cannot be made: ${JSON.stringify(made)}`);
  const { board, moves } = nodes[0].node;
  const place = turn.places.get(boardKey(board));
  const steps = new Map();
  for (const { node, dice } of nodes) {
    const depth = node.moves.length;
    if (depth >= dice.length || (depth > 0 && isEnd(turn, node))) continue;
    for (const next of stepsFrom(turn, node, dice[depth])) {
      const move = next.moves[depth];
      const key = `${move.from}/${move.to}`;
      if (!steps.has(key) && completes(turn, next, dice)) steps.set(key, move);
    }
  }
  return {
    board,
    moves,
    dice: diceLeft(turn, made),
    steps: [...steps.values()].sort((a, b) => b.from - a.from || b.die - a.die),
    result: place === undefined || (made.length === 0 && turn.used > 0) ? -1 : place,
  };
}

function diceLeft(turn, made) {
  const left = [...turn.dice];
  for (const { die } of made) left.splice(left.indexOf(die), 1);
  return left;
}

/** Why the turn passes; "" where it does not. @param {Turn} turn */
export function whyPass(turn) {
  if (turn.used > 0) return "";
  return turn.root.board[BAR] > 0 ? "no checker can enter from the bar" : "no checker can move";
}

/** Why the checker on `from` may not be moved to `to` by one die now; "" where it may.
 *
 * The first reason that applies, in the order in which a player would look, as `nardy-rl play`
 * gives them.
 * @param {Turn} turn @param {{from: number, die: number}[]} made
 * @param {number} from @param {number} to own numbering, 25 the bar, 0 off @returns {string} */
export function why(turn, made, from, to) {
  const { board, steps, dice } = stepsTo(turn, made);
  if (steps.some((move) => move.from === from && move.to === to)) return "";
  if (board[from] === PINNED) return `the checker on ${from} is pinned`;
  if (board[from] <= 0) return "no checker of yours stands there";
  if (turn.used === 0) return whyPass(turn);
  if (dice.length === 0 || steps.length === 0) return "all dice are played";
  if (board[BAR] > 0 && from !== BAR) return "checkers on the bar enter first";
  return whyNotOff(turn, board, from, to, dice) || whyNotThere(turn, from, to, dice)
    || whyNotFrom(turn, made, from, to) || whyNotInTheEnd(turn, made, from, to);
}

function whyNotOff(turn, board, from, to, dice) {
  if (to !== OFF) return "";
  if (turn.held) return "no checker is borne off while one is pinned";
  const farthest = board.subarray(0, SIDE).findLastIndex((count) => count > 0);
  if (farthest > HOME) return "all checkers must be home before one is borne off";
  if (dice.includes(from)) return "";
  if (Math.max(...dice) < from) return `no die left is large enough to bear off from ${from}`;
  if (farthest > from) {
    return `a die larger than ${from} bears off only when no checker stands farther from home`;
  }
  return "";
}

function whyNotThere(turn, from, to, dice) {
  if (to === OFF) return "";
  if (!dice.includes(from - to)) return `the dice left are ${[...new Set(dice)].join(" and ")}`;
  if (turn.open[to]) return "";
  const mine = turn.state.board[to] === PINNED;
  const his = turn.state.board[SIDE + opponentPoint(turn.rules, to)];
  return mine || his > 0 ? `point ${to} is closed` : "";
}

/** The nodes after the move asked, whether or not a legal play begins so. */
function nodesByMove(turn, made, from, to) {
  return nodesAfter(turn, made).flatMap(({ node, dice }) => {
    const depth = node.moves.length;
    if (depth >= dice.length) return [];
    return stepsFrom(turn, node, dice[depth], from)
      .filter((next) => next.moves[depth].to === to)
      .map((next) => ({ node: next, dice }));
  });
}

function whyNotFrom(turn, made, from, to) {
  if (nodesByMove(turn, made, from, to).length > 0) return "";
  const { rules } = turn;
  const [{ node }] = nodesAfter(turn, made);
  if (from === HEAD && node.head <= 0) {
    return `head rule (${rules.options.head_rule}): no more checkers may leave the head this turn`;
  }
  if (node.marks !== null && node.marks.some((count) => count > 0)) {
    return `hit rule (${rules.options.hit_run}): the checker that hit may not move on so`;
  }
  if (rules.kernel.runner) return "only the first checker may move until it has passed";
  return "the dice left do not make it";
}

function whyNotInTheEnd(turn, made, from, to) {
  const { rules } = turn;
  const ends = nodesByMove(turn, made, from, to);
  const prime = `prime rule (${rules.options.prime_rule}): it would build a forbidden prime`;
  if (ends.every(({ node }) => isEnd(turn, node))) return prime;
  const most = Math.max(...ends.map(({ node, dice }) => deepest(turn, node, dice)));
  if (most < turn.used) {
    const count = (dice) => (dice === 1 ? "1 die" : `${dice} dice`);
    return `only ${count(most)} could be played so, but ${count(turn.used)} must be`;
  }
  const [larger] = diceOrders(turn.dice)[0];
  const last = ends[0].node.moves[0].die;
  if (turn.used === 1 && last < larger && ends.some(({ node }) => mayStop(turn, node.board))) {
    return `the larger die, ${larger}, can be played and must be`;
  }
  const wall = wallInTheWay(rules, ends[0].node.board, turn.trapping);
  if (wall === "trapping_prime") return "it would shut in an opponent who stands on one point";
  if (wall === "start_prime" || rules.kernel.runners !== null) {
    return "it would hold too many points of a starting quarter";
  }
  return rules.options.prime_rule && rules.options.prime_rule !== "allow"
    ? prime : "it cannot be completed to a legal play";
}

/** The most steps of any way on from a node, legal in the end or not. */
function deepest(turn, node, dice) {
  const depth = node.moves.length;
  if (depth >= dice.length || isEnd(turn, node)) return depth;
  const following = stepsFrom(turn, node, dice[depth]);
  const distinct = new Map(following.map((next) => [nodeKey(next), next]));
  return Math.max(depth, ...[...distinct.values()].map((next) => deepest(turn, next, dice)));
}
