/**
 * What the page says: names of points, moves as nardy_rl/notation/moves.py prints them, results.
 *
 * @typedef {import("./rules.js").Move} Move
 */
import { BAR, OFF } from "./limits.js";

export const COLOURS = ["Light", "Dark"];

/** What a player calls a point of his own: by the distance to go, or as a hole from the head. */
export function pointName(point, numbering) {
  if (point === BAR) return "bar";
  if (point === OFF) return "off";
  return String(numbering === "hole" ? 25 - point : point);
}

/** The text of a play; "pass" without moves. @param {Move[]} moves @param {string} numbering */
export function moveText(moves, numbering) {
  if (moves.length === 0) return "pass";
  const hits = new Set(moves.filter((move) => move.hit).map((move) => move.to));
  const starred = new Set();
  return movements(moves, hits).map(({ path, count }) => {
    const words = path.map((point, place) => {
      const star = place > 0 && hits.has(point) && !starred.has(point);
      if (star) starred.add(point);
      return pointName(point, numbering) + (star ? "*" : "");
    });
    return words.join("/") + (count > 1 ? `(${count})` : "");
  }).join(" ");
}

/** Steps joined where one ends and another starts; a landing is told only where it hits. */
export function movements(moves, hits) {
  const chains = [];
  for (const { from, to } of [...moves].sort((a, b) => b.from - a.from || a.to - b.to)) {
    const chain = chains.find((known) => known.at(-1) === from);
    if (chain) chain.push(to);
    else chains.push([from, to]);
  }
  const ends = new Set(chains.map((chain) => chain.at(-1)));
  const found = new Map();
  for (const chain of chains) {
    const between = chain.slice(1, -1).filter((point) => hits.has(point) && !ends.has(point));
    const path = [chain[0], ...between, chain.at(-1)];
    const key = path.join("/");
    found.set(key, { path, count: (found.get(key)?.count || 0) + 1 });
  }
  const order = (a, b) => {
    for (let place = 0; place < Math.max(a.length, b.length); place++) {
      const apart = place === 0 ? b[0] - a[0] : (a[place] ?? -1) - (b[place] ?? -1);
      if (apart !== 0) return apart;
    }
    return 0;
  };
  return [...found.values()].sort((a, b) => order(a.path, b.path));
}

/** "+0.123", with a true minus. */
export function signed(value) {
  return `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`;
}

/** How a game ended, for the person on `seat`. */
export function endText(ended, seat) {
  if (ended.winner === null) return "The game is drawn.";
  const points = `${ended.score} ${ended.score === 1 ? "point" : "points"}`;
  const size = ended.size ? ` (${ended.size})` : "";
  if (ended.winner === seat) return `You win ${points}${size}.`;
  return `The net wins ${points}${size}.`;
}

/** "3 threes", "1 six". */
export function stepsText(steps, die) {
  const names = ["one", "two", "three", "four", "five", "six"];
  const plural = die === 6 ? "sixes" : `${names[die - 1]}s`;
  return `${steps} ${steps === 1 ? names[die - 1] : plural}`;
}

/** "a, b and c" */
export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
