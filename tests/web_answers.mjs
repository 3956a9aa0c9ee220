// What the modules in nardy_rl/export/web say, line by line: JSON questions in, JSON answers out.
// `tests/web_node.py` asks; the first argument is the folder of the modules.
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.argv[2]}/`);
const load = (name) => import(new URL(name, folder));
const { loadRules, scoreAfter } = await load("rules.js");
const { afterDecision, follow } = await load("ladder.js");
const { newTurn, stepsTo, why } = await load("steps.js");
const { encode, newEncoding } = await load("encoding.js");
const { nextGame, newSeries, play, readSeries, turnOf } = await load("game.js");
const { judge } = await load("bot.js");

let rules = null;
let encoding = null;
let net = null;

const bytes = (array) => Buffer.from(array.buffer, array.byteOffset, array.byteLength);
const stateOf = ({ board, flags, pending }) => ({ board: Int8Array.from(board), flags, pending });
const turnAsked = (asked) => newTurn(rules, stateOf(asked), asked.roll);

const answers = {
  rules({ json }) {
    rules = loadRules(json);
    encoding = newEncoding(rules);
    return { size: encoding.size };
  },

  // Everything about one decision: results in order, how they are reached, what comes after.
  decision(asked) {
    const turn = turnAsked(asked);
    const { state, roll, results, used } = turn;
    const then = afterDecision(rules, state.flags, state.pending, ...roll, used);
    const boards = results.map((result) => result.board);
    return {
      used,
      after: Buffer.concat(boards.map(bytes)).toString("base64"),
      steps: results.map(({ moves }) => moves.map(({ from, die }) => [from, die])),
      scores: boards.map((board) => scoreAfter(rules, board, then.flags)),
      then: [then.flags, then.pending],
      following: boards.map((board) => {
        const next = follow(rules, state.flags, state.pending, ...roll, used, state.board, board);
        return [Number(next.goesOn), next.flags, next.pending];
      }),
      units: createHash("sha256")
        .update(bytes(encode(encoding, boards, then.flags, then.pending))).digest("hex"),
      walk: asked.walk ? walk(turn) : null,
    };
  },

  steps(asked) {
    const made = stepsTo(turnAsked(asked), asked.made);
    return { ...made, board: Array.from(made.board) };
  },

  why(asked) {
    return { reason: why(turnAsked(asked), asked.made, asked.from, asked.to) };
  },

  // Games whose choices are a function of the turn: who moves, what is thrown, how they end.
  series({ seed, games }) {
    let series = newSeries(rules, seed);
    const lines = [];
    while (series.game < games) {
      const { mover, starter, roll, board, flags, pending } = series;
      lines.push([mover, starter, ...roll, flags, pending, ...board]);
      const turn = turnOf(rules, series);
      series = play(rules, series, turn, (series.turn * 7919) % turn.results.length);
      if (series.ended) {
        lines.push([series.ended.winner, series.ended.score]);
        series = nextGame(rules, readSeries(rules, JSON.stringify(series)));
      }
    }
    return { lines, points: series.points };
  },

  async net({ layers, onnx, runtime }) {
    net = runtime ? await session(runtime, Buffer.from(onnx, "base64")) : perceptron(layers.map(({ weight, bias }) => ({ weight: floats(weight), bias: floats(bias) })));
    return {};
  },

  async judged(asked) {
    const judged = await judge(net, encoding, turnAsked(asked));
    return { places: judged.map(({ place }) => place), equities: judged.map((j) => j.equity) };
  },
};

// Every partly played turn that single steps lead to: what can be reached, and what is stuck.
function walk(turn) {
  const reached = new Set();
  const seen = new Set();
  let stuck = 0;
  let unexplained = 0;
  const visit = (moves) => {
    const made = stepsTo(turn, moves);
    const key = `${bytes(made.board).toString("base64")} ${made.dice}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (made.result >= 0) reached.add(made.result);
    else if (made.steps.length === 0) stuck += 1;
    for (const move of made.steps) visit([...moves, move]);
    if (moves.length > 0) return;
    for (let from = 1; from <= 25; from++) {
      for (let to = 0; to < from; to++) {
        const can = made.steps.some((move) => move.from === from && move.to === to);
        if (can !== (why(turn, moves, from, to) === "")) unexplained += 1;
      }
    }
  };
  visit([]);
  return { reached: reached.size, stuck, unexplained };
}

function floats(text) {
  const raw = Buffer.from(text, "base64");
  return new Float32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + raw.byteLength));
}

// An exported net in onnxruntime-web, whose package lies in the folder `runtime`.
async function session(runtime, content) {
  const ort = await import(new URL("dist/ort.node.min.mjs", pathToFileURL(`${runtime}/`)));
  ort.env.wasm.numThreads = 1;
  const created = await ort.InferenceSession.create(content, { executionProviders: ["wasm"] });
  return {
    async run(inputs, rows) {
      const units = new ort.Tensor("float32", inputs, [rows, inputs.length / rows]);
      return (await created.run({ units })).probabilities.data;
    },
  };
}

// A net of dense layers, relu between them and a softmax at the end, summed in float64.
function perceptron(layers) {
  const dense = ({ weight, bias }, input) => {
    const on = [...input.keys()].filter((i) => input[i] !== 0);
    return Float32Array.from(bias, (start, row) => {
      const at = row * input.length;
      return on.reduce((sum, i) => sum + weight[at + i] * input[i], start);
    });
  };
  const softmax = (logits) => {
    const highest = Math.max(...logits);
    const powers = Array.from(logits, (value) => Math.exp(value - highest));
    const sum = powers.reduce((a, b) => a + b);
    return powers.map((power) => power / sum);
  };
  return {
    async run(inputs, rows) {
      const size = inputs.length / rows;
      const found = [];
      for (let row = 0; row < rows; row++) {
        let values = inputs.subarray(row * size, (row + 1) * size);
        layers.forEach((layer, place) => {
          values = dense(layer, values);
          if (place < layers.length - 1) values = values.map((value) => Math.max(value, 0));
        });
        found.push(...softmax(values));
      }
      return Float32Array.from(found);
    },
  };
}

for await (const line of createInterface({ input: process.stdin })) {
  const asked = JSON.parse(line);
  let answer;
  try {
    answer = await answers[asked.ask](asked);
  } catch (error) {
    answer = { error: String(error.stack) };
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
