/**
 * The net, computed by onnxruntime-web from what the page carries in itself.
 *
 * Elements of type text/plain hold gzip in base64. The runtime's script stands in the import map;
 * it fetches its machine code itself, from an address that this page makes of its own bytes.
 */
import * as ort from "onnxruntime";

const TOLERANCE = 1e-4;

async function unpack(id) {
  const text = atob(document.getElementById(id).textContent.trim());
  const packed = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** @returns {Promise<import("./bot.js").Net>} */
export async function openNet() {
  const wasm = new Blob([await unpack("wasm")], { type: "application/wasm" });
  const address = URL.createObjectURL(wasm);
  ort.env.logLevel = "error";
  ort.env.wasm.numThreads = 1; // more would need headers that a plain server does not send
  ort.env.wasm.wasmPaths = { mjs: import.meta.resolve("onnxruntime-glue"), wasm: address };
  const session = await ort.InferenceSession.create(await unpack("net"), {
    executionProviders: ["wasm"],
  });
  URL.revokeObjectURL(address);
  return {
    async run(inputs, rows) {
      const units = new ort.Tensor("float32", inputs, [rows, inputs.length / rows]);
      const { probabilities } = await session.run({ units });
      return probabilities.data;
    },
  };
}

/** Compare with what Python computed of one position.
 * @throws {Error} this browser computes something else */
export async function checkNet(net, inputs, expected) {
  const found = await net.run(inputs, 1);
  const apart = Math.max(...expected.map((value, place) => Math.abs(value - found[place])));
  if (!(apart <= TOLERANCE)) {
    throw new Error(`this browser computes the net differently, by ${apart.toExponential(1)}`);
  }
}
