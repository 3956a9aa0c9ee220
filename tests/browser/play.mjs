// Plays the exported pages by script in headless Chromium, as a person would, and says what it saw.
//
//   node play.mjs SHOTS PAGE [PAGE ...]     each PAGE a folder of `nardy-rl export format=web`
//
// Exits with 1 at the first thing that is not as it should be: an error or a warning of the page, a
// request that goes out, a game that does not end.
import { mkdtempSync, mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [shots, ...pages] = process.argv.slice(2);
mkdirSync(shots, { recursive: true });
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];
const PHONE = { width: 390, height: 844 };
const DESKTOP = { width: 1280, height: 800 };
const troubles = [];

function check(holds, what) {
  if (!holds) throw new Error(what);
}

async function opened(context, address) {
  const page = await context.newPage();
  page.on("pageerror", (error) => troubles.push(`error: ${error.message}`));
  page.on("console", (line) => {
    if (["error", "warning"].includes(line.type())) troubles.push(`${line.type()}: ${line.text()}`);
  });
  page.on("requestfailed", (request) => troubles.push(`failed: ${request.url().slice(0, 80)}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!/^(data|blob|file):/.test(url) && !url.startsWith(address)) troubles.push(`asked: ${url}`);
  });
  await page.goto(address);
  await page.waitForFunction(() => !document.getElementById("say").textContent.startsWith("Loading"));
  return page;
}

const said = (page) => page.locator("#say").textContent();
const zones = (page, state) => page.locator(`.zone[data-state="${state}"]`);

/** Whether it is the person's turn, or the game is over. */
async function ready(page) {
  await page.waitForFunction(() => {
    const done = document.getElementById("done");
    return document.querySelector(".zone[data-state]") || !done.disabled;
  });
}

async function centre(zone) {
  const box = await zone.boundingBox();
  return [box.x + box.width / 2, box.y + box.height / 2];
}

/** One move of the person's turn, by tap, drag or keyboard. */
async function moveOne(page, how, pick) {
  const movable = zones(page, "movable");
  const count = await movable.count();
  const from = movable.nth(pick % count);
  const [x, y] = await centre(from);
  if (how === "keys") {
    await from.focus();
    await page.keyboard.press("Enter");
  } else {
    await page.mouse.click(x, y);
  }
  const targets = zones(page, "target");
  const places = await targets.count();
  check(places > 0, "a checker that can move has no target");
  const to = targets.nth(pick % places);
  const [toX, toY] = await centre(to);
  if (how === "keys") {
    await to.focus();
    await page.keyboard.press(" ");
  } else if (how === "drag") {
    await page.keyboard.press("Escape");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move((x + toX) / 2, (y + toY) / 2, { steps: 3 });
    await page.mouse.move(toX, toY, { steps: 3 });
    await page.mouse.up();
  } else {
    await page.mouse.click(toX, toY);
  }
}

async function turn(page, how, pick) {
  for (let moves = 0; moves < 12; moves++) {
    const can = await zones(page, "movable").count();
    if (can === 0) break;
    const before = await said(page);
    await moveOne(page, how, pick);
    check((await said(page)) !== before, `nothing was said of a move by ${how}`);
  }
  await page.click("#done");
}

async function game(page, how, limit = 400) {
  await page.selectOption("#pace", "0");
  for (let turns = 0; turns < limit; turns++) {
    await ready(page);
    const label = await page.locator("#done").textContent();
    if (label === "Next game") return turns;
    if (label === "Pass") {
      check(/can (move|enter)/.test(await said(page)), "a pass is not explained");
      await page.click("#done");
    } else {
      await turn(page, how, turns);
    }
  }
  throw new Error(`no end after ${limit} turns`);
}

async function whole(context, address, name, how) {
  const page = await opened(context, address);
  const started = Date.now();
  const turns = await game(page, how);
  const words = await said(page);
  check(/(You win|The net wins|drawn)/.test(words), `no result is said: ${words}`);
  await page.screenshot({ path: path.join(shots, `${name}-end.png`) });
  const score = await page.locator("#score").textContent();
  check(/[1-9]/.test(score), `the score stays ${score}`);
  await page.click("#done");
  await ready(page);
  check((await page.locator("#score").textContent()) === score, "the next game forgot the score");
  console.log(`${name}: a game by ${how}, ${turns} turns, ${Date.now() - started} ms: ${words.trim()}`);
  await page.close();
}

/** Undo, hint, refusals, swapping, what is kept; pictures. */
async function details(context, address, name, size) {
  const page = await opened(context, address);
  await page.setViewportSize(size);
  await page.selectOption("#pace", "0");
  await ready(page);
  while ((await page.locator("#done").textContent()) === "Pass") {
    await page.click("#done");
    await ready(page);
  }
  const labels = () => page.locator(".zone").evaluateAll((all) => all.map((z) => z.ariaLabel).join());
  const begin = await labels();
  await page.click("#hint");
  await page.waitForSelector("#hints table");
  check((await page.locator("#hints tbody tr").count()) >= 1, "a hint without plays");
  check(/worth [+−]\d/.test(await said(page)), "a hint without equity");
  await page.screenshot({ path: path.join(shots, `${name}-hint.png`), fullPage: true });
  await moveOne(page, "tap", 0);
  check(!(await page.locator("#undo").isDisabled()), "a move cannot be undone");
  await page.keyboard.press("u");
  check((await zones(page, "movable").count()) > 0, "after undo nothing can move");
  check((await labels()) === begin, "undo does not lead back");
  await zones(page, "movable").first().focus();
  await page.keyboard.press("Enter");
  await page.screenshot({ path: path.join(shots, `${name}-taken.png`) });
  const idle = page.locator(".zone:not([data-state])").nth(3);
  await page.mouse.click(...(await centre(idle)));
  check(/: \S+/.test(await said(page)), "a refusal without a reason");
  const before = await page.locator("#score").textContent();
  await page.click("#swap");
  await ready(page);
  check((await page.locator("#score").textContent()) !== before, "swapping changes nobody's colour");
  const view = await page.locator("#score").textContent();
  await page.reload();
  await page.waitForFunction(() => !document.getElementById("say").textContent.startsWith("Loading"));
  check((await page.locator("#score").textContent()) === view, "a reload forgets the side");
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(wide <= 0, `the page is ${wide} pixels too wide for ${size.width}`);
  await page.close();
}

/** A turn without a mouse: from the top of the page by Tab alone. */
async function keyboard(context, address, name) {
  const page = await opened(context, address);
  await page.selectOption("#pace", "0");
  await ready(page);
  await page.evaluate(() => document.activeElement.blur());
  for (let presses = 0; presses < 200; presses++) {
    const label = await page.locator("#done").textContent();
    if (label !== "Done") break;
    const open = await page.evaluate(() => !document.getElementById("done").disabled);
    if (open && (await zones(page, "movable").count()) === 0) break;
    await page.keyboard.press("Tab");
    const state = await page.evaluate(() => document.activeElement.dataset?.state);
    const wanted = (await zones(page, "target").count()) > 0 ? "target" : "movable";
    if (state === wanted) await page.keyboard.press("Enter");
  }
  check(!(await page.locator("#done").isDisabled()), "a turn cannot be played by Tab and Enter");
  const before = await said(page);
  await page.keyboard.press("d");
  await page.waitForFunction((old) => document.getElementById("say").textContent !== old, before);
  console.log(`${name}: a turn by the keyboard alone`);
  await page.close();
}

/** Opened from a server once, it opens again without one. */
async function offline(browser, folder, name) {
  const server = createServer(async (request, response) => {
    try {
      const file = new URL(request.url, "http://x").pathname.replace(/\/$/, "/index.html");
      const types = { html: "text/html", js: "text/javascript", svg: "image/svg+xml" };
      const type = types[file.split(".").pop()] || "application/json";
      response.setHeader("content-type", type).end(await readFile(path.join(folder, file)));
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
  const address = `http://127.0.0.1:${server.address().port}/`;
  const context = await browser.newContext();
  const page = await opened(context, address);
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => {}));
  await page.waitForFunction(async () => (await caches.keys()).length > 0);
  await new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); });
  await page.reload();
  await page.waitForFunction(() => !document.getElementById("say").textContent.startsWith("Loading"));
  await ready(page);
  console.log(`${name}: opens again without its server`);
  await context.close();
}

const profile = mkdtempSync(path.join(tmpdir(), "nardy-browser-"));
const executablePath = process.env.CHROMIUM || "/usr/bin/chromium";
const browser = await chromium.launch({ executablePath, args: FLAGS, env: { ...process.env, HOME: profile } });
try {
  for (const [number, folder] of pages.entries()) {
    const name = path.basename(folder);
    const address = pathToFileURL(path.join(folder, "index.html")).href;
    for (const scheme of number === 0 ? ["light", "dark"] : ["light"]) {
      for (const [kind, size] of [["desktop", DESKTOP], ["phone", PHONE]]) {
        const context = await browser.newContext({
          colorScheme: scheme, viewport: size, hasTouch: kind === "phone",
        });
        await details(context, address, `${name}-${scheme}-${kind}`, size);
        await context.close();
      }
    }
    const context = await browser.newContext({ viewport: DESKTOP });
    await keyboard(context, address, name);
    await whole(context, address, name, ["tap", "drag", "keys"][number % 3]);
    await context.close();
    if (number === 0) await offline(browser, folder, name);
    check(troubles.length === 0, troubles.join("\n"));
  }
  console.log("no error, no warning, no request outside");
} catch (error) {
  console.error(`${error.message}\n${troubles.join("\n")}`);
  process.exitCode = 1;
} finally {
  await browser.close();
  rmSync(profile, { recursive: true, force: true });
}
