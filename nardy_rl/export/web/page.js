/**
 * The page: a person against the net, over games without end. The rules are those of game.js and
 * steps.js, the net's choice that of bot.js; here is only what is shown and what was pointed at.
 */
import { Board } from "./board.js";
import { judge } from "./bot.js";
import { encode, newEncoding } from "./encoding.js";
import { newSeries, nextGame, play, readSeries, rungDue, turnOf } from "./game.js";
import { BAR, OFF, flipBoard, opponentPoint } from "./limits.js";
import { checkNet, openNet } from "./net.js";
import { loadRules } from "./rules.js";
import { stepsTo, why, whyPass } from "./steps.js";
import { COLOURS, endText, listed, moveText, pointName, signed, stepsText } from "./words.js";

const SHOWN = 5; // plays in a hint
const FAR = 8; // pixels from which a tap is a drag

const told = JSON.parse(document.getElementById("told").textContent);
const rules = loadRules(told.rules);
const encoding = newEncoding(rules);
const $ = (id) => document.getElementById(id);
const board = new Board($("holder"), told.board, rules);
const saved = `nardy_rl ${told.net.variant} ${JSON.stringify(told.net.options)}`;

let net = null;
let series = null;
let seat = 0; // the person's
let turn = null; // the decision that is due
let made = []; // the person's moves of it
let chosen = null; // point of the checker taken
let arrows = []; // the net's last play, or a hint's
let thinking = 0; // counts what was begun, so that what is out of date stops

// What is kept

function keep() {
  try {
    localStorage.setItem(saved, JSON.stringify({ series, seat }));
  } catch {
    // a browser that keeps nothing: the game is there until the page is closed
  }
}

function restore() {
  try {
    const kept = JSON.parse(localStorage.getItem(saved));
    if (kept && (kept.seat === 0 || kept.seat === 1)) {
      series = readSeries(rules, JSON.stringify(kept.series));
      seat = kept.seat;
    }
  } catch {
    series = null; // damaged or of an older page
  }
}

// What is shown

const numbering = () => $("numbering").value;
const name = (point) => pointName(point, numbering());
const say = (words) => { $("say").textContent = words; };
const mine = () => !series.ended && series.mover === seat;
const standing = () => stepsTo(turn, made);

function destinations(now) {
  // Every place that the chosen checker can reach, by one die or by several in a row.
  const found = new Map();
  let paths = now.steps.filter((step) => step.from === chosen).map((step) => [step]);
  while (paths.length > 0) {
    const longer = [];
    for (const path of paths) {
      const { to } = path.at(-1);
      if (found.has(to)) continue;
      found.set(to, path);
      if (to === OFF) continue;
      const { steps } = stepsTo(turn, [...made, ...path]);
      longer.push(...steps.filter((step) => step.from === to).map((step) => [...path, step]));
    }
    paths = longer;
  }
  return found;
}

function render() {
  const playing = mine() && turn !== null;
  const now = playing ? standing() : null;
  const shown = now ? now.board : Int8Array.from(series.board);
  const view = {
    board: now || series.mover === seat ? shown : flipBoard(shown),
    seat,
    dice: diceShown(now),
    name,
    arrows,
    selected: chosen,
    movable: new Set(now ? now.steps.map((step) => step.from) : []),
    targets: now && chosen !== null ? destinations(now) : new Map(),
  };
  board.draw(view);
  for (const [point, zone] of board.places) label(zone, point, view);
  const [light, dark] = series.points;
  const [own, other] = seat === 0 ? [light, dark] : [dark, light];
  $("score").textContent = `You (${COLOURS[seat].toLowerCase()}) ${own} : ${other} Net`;
  $("done").disabled = !(series.ended || (now && now.result >= 0));
  $("done").textContent = series.ended ? "Next game" : turn && turn.used === 0 ? "Pass" : "Done";
  $("undo").disabled = made.length === 0;
  $("hint").disabled = !(now && turn.used > 0);
}

function diceShown(now) {
  if (series.ended) return [];
  const faces = turn ? [...turn.dice] : [...series.roll];
  const left = now ? [...now.dice] : [...faces];
  const spent = faces.map((face) => {
    const place = left.indexOf(face);
    if (place >= 0) left.splice(place, 1);
    return place < 0;
  });
  return [{ faces, spent, mine: series.mover === seat }];
}

function label(zone, point, view) {
  const state = view.targets.has(point) ? "target"
    : point === view.selected ? "chosen" : view.movable.has(point) ? "movable" : "";
  if (state) zone.dataset.state = state;
  else delete zone.dataset.state;
  zone.setAttribute("tabindex", state ? 0 : -1);
  const own = view.board[point];
  const his = point === OFF || point === BAR ? 0 : view.board[26 + opponentPoint(rules, point)];
  const who = [];
  if (own !== 0) who.push(own < 0 ? "1 of yours, pinned" : `${own} of yours`);
  if (his !== 0) who.push(his < 0 ? "1 of the net's, pinned" : `${his} of the net's`);
  const what = { target: ", can go there", chosen: ", taken", movable: ", can move", "": "" }[state];
  const place = point === OFF ? "Borne off" : point === BAR ? "Bar" : `Point ${name(point)}`;
  zone.setAttribute("aria-label", `${place}: ${listed(who) || "empty"}${what}`);
}

// What happens

function rolled(who) {
  const due = rungDue(series);
  if (due) {
    const steps = stepsText(due.steps, due.die);
    return due.handed ? `${who} may play what was left over: ${steps}` : `${who} may play ${steps}`;
  }
  const [one, two] = series.roll;
  const begins = series.turn === 0 && series.opening ? `${who === "You" ? "You begin" : "The net begins"}. ` : "";
  return `${begins}${who} rolled ${one}-${two}`;
}

async function proceed() {
  const begun = ++thinking;
  made = [];
  chosen = null;
  hideHints();
  keep();
  if (series.ended) {
    turn = null;
    render();
    say(`${endText(series.ended, seat)} Press Next game to go on.`);
    return;
  }
  turn = turnOf(rules, series);
  if (mine()) {
    render();
    const before = lastNet ? `${lastNet} ` : "";
    const passing = turn.used === 0 ? `: ${whyPass(turn)}. Press Pass.` : ".";
    say(`${before}${rolled("You")}${passing}`);
    return;
  }
  render();
  say(`${rolled("The net")} ...`);
  const [best] = await judge(net, encoding, turn);
  await new Promise((resolve) => { setTimeout(resolve, Number($("pace").value)); });
  if (begun !== thinking) return;
  const { moves } = turn.results[best.place];
  const passed = turn.used === 0 ? `: ${whyPass(turn)}` : "";
  lastNet = `${rolled("The net")} and played ${moveText(moves, numbering())}${passed}.`;
  const after = play(rules, series, turn, best.place);
  arrows = moves.map(({ from, to }) => ({ from, to, mine: false }));
  series = after;
  proceed();
}

let lastNet = "";

function finish() {
  if (series.ended) {
    series = nextGame(rules, series);
    [arrows, lastNet] = [[], ""];
    proceed();
    return;
  }
  if (!mine() || !turn) return;
  const { result } = standing();
  if (result < 0) return;
  [arrows, lastNet] = [[], ""];
  series = play(rules, series, turn, result);
  proceed();
}

function undo() {
  if (made.length === 0) return;
  made.pop();
  chosen = null;
  say(made.length ? "The last move is taken back." : `The turn begins again: ${series.roll.join("-")}.`);
  render();
}

/** Take the checker on a point, put the one taken there, or say why not. */
function point(at) {
  if (!mine() || !turn || at === null) return;
  const now = standing();
  if (chosen !== null && chosen !== at) {
    const path = destinations(now).get(at);
    if (path) {
      move(path);
      return;
    }
  }
  if (chosen === at) {
    chosen = null;
  } else if (now.steps.some((step) => step.from === at)) {
    chosen = at;
    arrows = [];
    say(`${name(at)}: where to?`);
  } else if (chosen !== null) {
    say(`${name(chosen)}/${name(at)}: ${why(turn, made, chosen, at)}.`);
  } else if (turn.used > 0) {
    say(whyNone(at, now));
  }
  render();
}

function whyNone(at, now) {
  if (now.steps.length === 0) return "All dice are played: press Done, or Undo.";
  if (at === OFF) return "Take a checker first.";
  const reasons = [...new Set(now.dice)].map((die) => why(turn, made, at, Math.max(at - die, OFF)));
  return `${name(at)}: ${[...new Set(reasons.filter(Boolean))].join("; ") || "no move begins there"}.`;
}

function move(path) {
  arrows = [];
  made.push(...path.map(({ from, die }) => ({ from, die })));
  chosen = null;
  hideHints();
  const now = standing();
  const text = moveText(now.moves, numbering());
  if (now.result >= 0 && now.steps.length === 0) say(`${text}. Press Done, or Undo.`);
  else if (now.result >= 0) say(`${text}. Press Done, or move on.`);
  else say(`${text}. Still to play: ${listed(now.dice.map(String))}.`);
  const had = document.activeElement?.classList.contains("zone");
  render();
  if (had) focusNext(now);
}

function focusNext(now) {
  // The place that had the focus may be no more to point at.
  if (document.activeElement?.dataset.state) return;
  const next = now.steps.length ? board.places.get(now.steps[0].from) : $("done");
  next.focus();
}

// Hints

function hideHints() {
  $("hints").hidden = true;
}

async function hint() {
  if (!mine() || !turn || turn.used === 0) return;
  const begun = thinking;
  const judged = await judge(net, encoding, turn);
  if (begun !== thinking) return;
  const table = document.createElement("table");
  const head = table.createTHead().insertRow();
  const outcomes = [...rules.outcomes].reverse();
  const title = (score) => (score === 0 ? "draw" : `${score > 0 ? "win" : "lose"} ${Math.abs(score)}`);
  for (const words of ["Play", "Equity", ...outcomes.map(title)]) {
    const cell = document.createElement("th");
    cell.scope = "col";
    cell.textContent = words;
    head.append(cell);
  }
  const body = table.createTBody();
  for (const { place, equity, shares } of judged.slice(0, SHOWN)) {
    const { moves } = turn.results[place];
    const row = body.insertRow();
    const show = document.createElement("button");
    show.type = "button";
    show.textContent = moveText(moves, numbering());
    show.addEventListener("click", () => {
      made = [];
      chosen = null;
      arrows = moves.map(({ from, to }) => ({ from, to, mine: true }));
      render();
    });
    row.insertCell().append(show);
    row.insertCell().textContent = signed(equity);
    for (const score of outcomes) {
      row.insertCell().textContent = `${(100 * shares[rules.outcomes.indexOf(score)]).toFixed(1)} %`;
    }
  }
  $("hints").replaceChildren(table);
  $("hints").hidden = false;
  const [best] = judged;
  say(`The net would play ${moveText(turn.results[best.place].moves, numbering())}, worth ${signed(best.equity)} points.`);
}

// What was pointed at

let held = null; // { from, x, y, ghost } while a finger or button is down

function pressed(event) {
  const at = board.pointAt(event.clientX, event.clientY);
  if (at === null || !mine()) return;
  event.preventDefault();
  const can = turn && standing().steps.some((step) => step.from === at);
  held = { at, x: event.clientX, y: event.clientY, can, ghost: null, pointer: event.pointerId };
}

function dragged(event) {
  if (!held || !held.can || event.pointerId !== held.pointer) return;
  if (!held.ghost) {
    if (Math.hypot(event.clientX - held.x, event.clientY - held.y) < FAR) return;
    if (chosen !== held.at) {
      chosen = null;
      point(held.at);
    }
    held.ghost = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    held.ghost.setAttribute("class", "ghost");
    held.ghost.setAttribute("r", told.board.radius);
    held.ghost.setAttribute("fill", told.board.colours[seat === 0 ? "light" : "dark"].fill);
    board.svg.append(held.ghost);
  }
  const [x, y] = board.toBoard(event.clientX, event.clientY);
  held.ghost.setAttribute("cx", x);
  held.ghost.setAttribute("cy", y);
}

function released(event) {
  if (!held || event.pointerId !== held.pointer) return;
  const { at, ghost } = held;
  held = null;
  const under = board.pointAt(event.clientX, event.clientY);
  if (!ghost) {
    if (under === at) point(at);
    return;
  }
  ghost.remove();
  if (event.type === "pointercancel" || under === null || under === at) {
    chosen = null;
    render();
  } else {
    point(under);
    chosen = null;
    render();
  }
}

function typed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.tagName === "SELECT") return;
  const zone = event.target.classList?.contains("zone") ? event.target : null;
  const { key } = event;
  if (zone && (key === "Enter" || key === " ")) point(Number(zone.dataset.point));
  else if (key.startsWith("Arrow") && (zone || event.target === document.body)) step(zone, key);
  else if (key === "Escape" && chosen !== null) {
    chosen = null;
    render();
  } else if (key === "u") undo();
  else if (key === "d" && !$("done").disabled) finish();
  else if (key === "h") hint();
  else return;
  event.preventDefault();
}

/** Move the focus to the next or the former place that can be pointed at. */
function step(zone, key) {
  const places = [...board.places.values()].filter((one) => one.dataset.state);
  if (places.length === 0) return;
  const ahead = key === "ArrowRight" || key === "ArrowDown" ? 1 : -1;
  const at = places.indexOf(zone);
  places[at < 0 ? 0 : (at + ahead + places.length) % places.length].focus();
}

function arrange() {
  board.arrange(window.innerWidth < 0.8 * window.innerHeight);
}

function listen() {
  board.svg.addEventListener("pointerdown", pressed);
  window.addEventListener("pointermove", dragged);
  window.addEventListener("pointerup", released);
  window.addEventListener("pointercancel", released);
  window.addEventListener("keydown", typed);
  window.addEventListener("resize", arrange);
  $("done").addEventListener("click", finish);
  $("undo").addEventListener("click", undo);
  $("hint").addEventListener("click", hint);
  $("numbering").addEventListener("change", () => { hideHints(); render(); });
  $("swap").addEventListener("click", () => {
    seat = 1 - seat;
    [arrows, lastNet] = [[], ""];
    proceed();
  });
  $("restart").addEventListener("click", () => {
    const { points } = series;
    series = { ...newSeries(rules), points };
    [arrows, lastNet] = [[], ""];
    proceed();
  });
}

function keepOffline() {
  if (!location.protocol.startsWith("http") || !navigator.serviceWorker) return;
  const link = document.createElement("link");
  link.rel = "manifest";
  link.href = "manifest.webmanifest";
  document.head.append(link);
  navigator.serviceWorker.register("worker.js").catch(() => {}); // only for coming back offline
}

async function begin() {
  restore();
  series ??= newSeries(rules);
  $("about").textContent = `${told.what} The net has ${told.net.hidden.join("-") || "no"} hidden units`
    + ` and learned from ${Number(told.net.games).toLocaleString("en")} games.`;
  arrange();
  render();
  try {
    net = await openNet();
    const { points, flags, probabilities } = told.check;
    const start = Int8Array.from(points.flat());
    await checkNet(net, encode(encoding, [start], flags), probabilities);
  } catch (error) {
    say(`The net cannot be computed here: ${error.message}`);
    throw error;
  }
  listen();
  keepOffline();
  await proceed();
}

begin();
