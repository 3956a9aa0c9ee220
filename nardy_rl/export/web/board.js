/**
 * The board as SVG, with the measures and colours of nardy_rl/viz.py. The person sits below: his
 * checkers start at the top right or as the game says, and end at the bottom right.
 *
 * @typedef {Object} View what is to be drawn
 * @property {Int8Array} board 52 counts, the person's half first
 * @property {number} seat the person's: 0 has the light checkers, 1 the dark ones
 * @property {Dice[]} dice of both sides
 * @property {(point: number) => string} name of a point
 * @property {{from: number, to: number, mine: boolean}[]} arrows
 * @property {number|null} selected point
 * @property {Set<number>} movable points that a move can begin on
 * @property {Map<number, *>} targets points on which the selected checker can end
 *
 * @typedef {Object} Dice @property {number[]} faces @property {boolean[]} spent
 * @property {boolean} mine whose
 */
import { BAR, OFF, PINNED, SIDE, opponentPoint } from "./limits.js";

const NARROW_EDGE = 8; // left and right of the points, where the trays lie above and below
const STRIP = 58;
const SVG = "http://www.w3.org/2000/svg";

/** Where things are. `narrow`: for upright screens, with the trays above and below. */
class Layout {
  constructor(measures, rules, narrow) {
    Object.assign(this, measures);
    this.rules = rules;
    this.narrow = narrow;
    this.label = narrow ? 17 : 13;
    if (narrow) {
      const left = this.left - NARROW_EDGE;
      this.view = [left, -STRIP, this.right + NARROW_EDGE - left, this.bottom + this.edge + 2 * STRIP];
    } else {
      this.view = [0, 0, this.width, this.bottom + this.edge];
    }
  }

  /** The box of a side's tray; `mine` is below. */
  tray(mine) {
    const long = this.half_height;
    if (!this.narrow) {
      const [x, y] = this.trays[mine ? "X" : "O"];
      return { x, y, width: this.tray_width, height: long };
    }
    const atLeft = !mine && !this.rules.kernel.opposite;
    const width = 1.25 * long;
    const x = atLeft ? this.left : this.right - width;
    return { x, y: mine ? this.bottom + this.edge + 4 : 4 - STRIP, width, height: this.tray_width };
  }

  /** The person's point as its place (0..11) in a row, and whether it is the upper one. */
  column(point) {
    const above = this.top.indexOf(point);
    return above >= 0
      ? { x: this.columns[above], above: true }
      : { x: this.columns[this.bottom_points.indexOf(point)], above: false };
  }

  /** The centre of the `slot`-th checker on a point of the side's own numbering. */
  checker(mine, point, slot) {
    const high = Math.min(slot, this.rows - 1);
    if (point === OFF) {
      const { x, y, width, height } = this.tray(mine);
      return [x + width / 2, y + height / 2];
    }
    if (point === BAR) {
      const away = this.radius * (2 * high + 1) + 8;
      return [this.left + 6 * this.point_width + this.bar / 2, this.middle + (mine ? -away : away)];
    }
    const { x, above } = this.column(mine ? point : opponentPoint(this.rules, point));
    const depth = (2 * high + 1) * this.radius + 1;
    return [x, above ? this.edge + depth : this.bottom - depth];
  }
}

function make(name, attributes, ...children) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const rect = (x, y, width, height, fill, more = {}) =>
  make("rect", { x, y, width, height, fill, ...more });
const circle = ([cx, cy], r, fill, more = {}) => make("circle", { cx, cy, r, fill, ...more });
const text = (x, y, words, size, fill) => make("text", {
  x, y, "font-size": size, "font-weight": 600, fill, "text-anchor": "middle", "aria-hidden": true,
}, words);

/** The board in `holder`; `places` are what a person can point at, by point. */
export class Board {
  constructor(holder, measures, rules) {
    Object.assign(this, { holder, measures, rules });
    this.svg = make("svg", { id: "board", role: "group", "aria-label": "Board" });
    this.still = make("g", { "aria-hidden": true });
    this.moving = make("g", { "aria-hidden": true });
    this.zones = make("g", {});
    this.svg.append(this.still, this.moving, this.zones);
    holder.append(this.svg);
    this.places = new Map();
    for (let point = BAR; point >= OFF; point--) {
      if (point === BAR && rules.contact !== "hit") continue;
      const zone = make("rect", { class: "zone", "data-point": point, role: "button", rx: 4 });
      this.zones.append(zone);
      this.places.set(point, zone);
    }
    this.arrange(false);
  }

  /** Lay the board out for a wide or a narrow screen. */
  arrange(narrow) {
    if (this.layout && this.layout.narrow === narrow) return;
    const layout = new Layout(this.measures, this.rules, narrow);
    this.layout = layout;
    this.svg.setAttribute("viewBox", layout.view.join(" "));
    for (const [point, zone] of this.places) {
      const box = this.boxOf(point);
      for (const [name, value] of Object.entries(box)) zone.setAttribute(name, value);
    }
    if (this.view) this.draw(this.view);
  }

  boxOf(point) {
    const { layout } = this;
    if (point === OFF) {
      const { x, y, width, height } = layout.tray(true);
      return { x: x - 2, y: y - 2, width: width + 4, height: height + 4 };
    }
    const height = layout.middle - layout.edge;
    if (point === BAR) {
      const x = layout.left + 6 * layout.point_width;
      return { x, y: layout.edge, width: layout.bar, height };
    }
    const { x, above } = layout.column(point);
    const left = x - layout.point_width / 2;
    return { x: left, y: above ? layout.edge : layout.middle, width: layout.point_width, height };
  }

  /** The point under a place of the screen, null for none. */
  pointAt(clientX, clientY) {
    const at = document.elementsFromPoint(clientX, clientY).find((e) => e.classList.contains("zone"));
    return at ? Number(at.dataset.point) : null;
  }

  /** Where a place of the screen is on the board. */
  toBoard(clientX, clientY) {
    const at = new DOMPoint(clientX, clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return [at.x, at.y];
  }

  /** @param {View} view */
  draw(view) {
    this.view = view;
    this.still.replaceChildren(...this.table(view));
    const parts = [];
    for (const mine of [true, false]) parts.push(...this.side(view, mine));
    for (const dice of view.dice) parts.push(...this.dice(view, dice));
    parts.push(...this.marks(view));
    for (const { from, to, mine } of view.arrows) parts.push(...this.arrow(view, from, to, mine));
    this.moving.replaceChildren(...parts);
  }

  colours(view, mine) {
    return this.layout.colours[(view.seat === 0) === mine ? "light" : "dark"];
  }

  table(view) {
    const { layout } = this;
    const { colours, edge, bottom, left, bar, point_width: width } = layout;
    const parts = [rect(...layout.view, colours.frame, { rx: 10 })];
    for (const x of [left, left + 6 * width + bar]) {
      parts.push(rect(x, edge, 6 * width, bottom - edge, colours.board));
    }
    for (let point = 1; point <= 24; point++) {
      const { x, above } = layout.column(point);
      const place = layout.columns.indexOf(x);
      const [from, down] = above ? [edge, 1] : [bottom, -1];
      const tip = from + down * (layout.half_height - 6);
      const d = `M${x - width / 2} ${from}h${width}L${x} ${tip}z`;
      parts.push(make("path", { d, fill: colours.points[(place + (above ? 1 : 0)) % 2] }));
      const low = above ? edge - 8 : bottom + 7 + 0.85 * layout.label;
      parts.push(text(x, low, view.name(point), layout.label, colours.label));
    }
    return parts;
  }

  side(view, mine) {
    const { layout } = this;
    const row = view.board.subarray(mine ? 0 : SIDE, mine ? SIDE : 2 * SIDE);
    const other = view.board.subarray(mine ? SIDE : 0, mine ? 2 * SIDE : SIDE);
    const parts = [];
    for (let point = 1; point <= BAR; point++) {
      const onPoint = point < BAR;
      const below = onPoint && other[opponentPoint(this.rules, point)] === PINNED ? 1 : 0;
      if (row[point] === PINNED) parts.push(...this.pinned(view, mine, point));
      for (let slot = below; slot < Math.min(below + row[point], layout.rows); slot++) {
        const counted = below + row[point] > layout.rows && slot === layout.rows - 1;
        const centre = layout.checker(mine, point, slot);
        parts.push(...this.checker(this.colours(view, mine), centre, counted ? row[point] : ""));
      }
    }
    return [...parts, ...this.trayOf(view, mine, row[OFF])];
  }

  checker(colours, [x, y], count = "") {
    const { radius } = this.layout;
    const parts = [
      circle([x, y], radius - 1, colours.fill, { stroke: colours.rim, "stroke-width": 1.6 }),
      circle([x, y], radius - 6, "none", { stroke: colours.ring, "stroke-width": 1.6 }),
    ];
    if (count !== "") parts.push(text(x, y + 6, count, 17, colours.ink));
    return parts;
  }

  pinned(view, mine, point) {
    const colours = this.colours(view, mine);
    const [x, y] = this.layout.checker(mine, point, 0);
    const arm = this.layout.radius * 0.5;
    const d = `M${x - arm} ${y - arm}l${2 * arm} ${2 * arm}m0 ${-2 * arm}l${-2 * arm} ${2 * arm}`;
    const cross = { d, stroke: colours.ink, "stroke-width": 3, "stroke-linecap": "round" };
    return [...this.checker(colours, [x, y]), make("path", cross)];
  }

  trayOf(view, mine, count) {
    const { layout } = this;
    const box = layout.tray(mine);
    const colours = this.colours(view, mine);
    const line = colours.name === "light" ? colours.rim : colours.ring;
    const more = { rx: 2, stroke: line, "stroke-width": 0.8 };
    const parts = [rect(box.x, box.y, box.width, box.height, layout.colours.groove, { rx: 4 })];
    for (let slot = 0; slot < count; slot++) {
      const step = slot * (layout.slab + 1.6) + 6;
      if (layout.narrow) {
        const x = mine ? box.x + box.width - step - layout.slab : box.x + step;
        parts.push(rect(x, box.y + 5, layout.slab, box.height - 10, colours.fill, more));
      } else {
        const y = mine ? box.y + box.height - step - layout.slab : box.y + step;
        parts.push(rect(box.x + 5, y, box.width - 10, layout.slab, colours.fill, more));
      }
    }
    if (count === 0) return parts;
    const { label } = layout.colours;
    if (layout.narrow) {
      const atLeft = box.x === layout.left;
      const x = atLeft ? box.x + box.width + 20 : box.x - 20;
      return [...parts, text(x, box.y + 32, count, 20, label)];
    }
    const y = mine ? box.y - 9 : box.y + box.height + 19;
    return [...parts, text(box.x + box.width / 2, y, count, 15, label)];
  }

  dice(view, { faces, spent, mine }) {
    const { layout } = this;
    const colours = this.colours(view, mine);
    const half = 3 * layout.point_width;
    const middle = mine ? layout.right - half : layout.left + half;
    return faces.map((face, place) => {
      const x = middle + 44 * (place - (faces.length - 1) / 2);
      const y = layout.middle;
      const rim = { rx: 6, stroke: colours.rim, "stroke-width": 1.6 };
      const die = make("g", { class: spent[place] ? "die spent" : "die" });
      die.append(rect(x - 18, y - 18, 36, 36, colours.fill, rim));
      for (const spot of layout.spots[face - 1]) {
        const [right, down] = [9.5 * ((spot % 3) - 1), 9.5 * (Math.floor(spot / 3) - 1)];
        die.append(circle([x + right, y + down], 3.6, colours.ink));
      }
      return die;
    });
  }

  /** What can be moved, what is being moved, and where it can go. */
  marks(view) {
    const { layout } = this;
    const { radius, colours } = layout;
    const parts = [];
    const ring = (centre, kind) => circle(centre, radius + 0.5, "none", { class: kind });
    for (const point of view.movable) {
      parts.push(ring(this.topOf(view, point), point === view.selected ? "chosen" : "movable"));
    }
    for (const point of view.targets.keys()) {
      if (point === OFF) {
        const { x, y, width, height } = layout.tray(true);
        parts.push(rect(x, y, width, height, "none", { class: "target", rx: 4 }));
        continue;
      }
      const centre = layout.checker(true, point, this.heldBy(view, point));
      parts.push(circle(centre, radius * 0.6, colours.arrow, { class: "target" }));
    }
    return parts;
  }

  /** Checkers on a point, whosever, that lie under the next one of the person's. */
  heldBy(view, point) {
    const his = point === BAR ? 0 : view.board[SIDE + opponentPoint(this.rules, point)];
    const under = this.rules.contact === "pin" ? Math.abs(his) : 0;
    return Math.max(view.board[point], 0) + under;
  }

  topOf(view, point) {
    return this.layout.checker(true, point, this.heldBy(view, point) - 1);
  }

  arrow(view, from, to, mine) {
    const { layout } = this;
    const row = view.board.subarray(mine ? 0 : SIDE);
    const start = layout.checker(mine, from, Math.max(row[from], 0));
    const end = layout.checker(mine, to, to === OFF ? 0 : Math.max(row[to] - 1, 0));
    const [line, head] = arrowPaths(layout, start, end);
    const round = { "stroke-linecap": "round", "stroke-linejoin": "round" };
    const { arrow } = layout.colours;
    return [
      make("path", { d: line, fill: "none", stroke: "#ffffff", "stroke-width": 8, ...round }),
      make("path", { d: head, fill: "#ffffff", stroke: "#ffffff", "stroke-width": 4, ...round }),
      make("path", { d: line, fill: "none", stroke: arrow, "stroke-width": 4.5, ...round }),
      make("path", { d: head, fill: arrow }),
    ];
  }
}

/** A curve that bends towards the middle of the board, and its head. */
function arrowPaths(layout, [startX, startY], [x2, y2]) {
  const length = Math.hypot(x2 - startX, y2 - startY);
  const x = (startX + x2) / 2;
  const middle = (startY + y2) / 2;
  const level = Math.abs(startY - y2) < layout.half_height;
  const swing = level ? Math.min(0.35 * length + 20, 150) : 0;
  const y = middle + Math.sign(layout.middle - middle || 1) * swing;
  const away = Math.hypot(x2 - x, y2 - y) || 1;
  const out = Math.hypot(x - startX, y - startY) || 1;
  const x1 = startX + ((x - startX) / out) * (layout.radius - 5);
  const y1 = startY + ((y - startY) / out) * (layout.radius - 5);
  const [along, across] = [(x2 - x) / away, (y2 - y) / away];
  const tip = [x2 - along * 5, y2 - across * 5];
  const neck = [tip[0] - along * 15, tip[1] - across * 15];
  return [
    `M${x1} ${y1}Q${x} ${y} ${neck[0]} ${neck[1]}`,
    `M${tip[0]} ${tip[1]}L${neck[0] - across * 9} ${neck[1] + along * 9}`
      + `L${neck[0] + across * 9} ${neck[1] - along * 9}z`,
  ];
}
