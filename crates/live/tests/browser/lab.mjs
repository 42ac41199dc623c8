// Watches a lab in Chromium from start to end, on a narrow screen. Prints "ready" when the browser runs, reads the
// page's address from stdin, and prints what the page shows at the end, as JSON. Prints what is wrong, a line each on
// stderr, and fails if anything is.
//
//   node lab.mjs SCREENSHOT < ADDRESS
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const screenshot = resolve(process.argv[2]);
mkdirSync(dirname(screenshot), { recursive: true });
// Waits are for slow machines: they end as soon as what is awaited is there.
const PATIENCE = 60_000;
const faults = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  timeout: PATIENCE,
});
const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
page.setDefaultTimeout(PATIENCE);
let hasEnded = false;
page.on("console", (message) => {
  // The process ends soon after the lab, and the connection with it.
  if (!hasEnded && ["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
});
page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
console.log("ready");

const [address] = await new Promise((take) => createInterface({ input: process.stdin }).once("line", (line) => take([line])));
await page.goto(address);
const rows = () => page.locator("#steps tbody tr").allInnerTexts();
await page.waitForFunction(() => document.querySelectorAll("#steps tbody tr").length > 0);
const before = await rows();
if (before.every((row) => row.includes("✓"))) faults.push("all cells have ended before the first look");
const seen = new Set();
const end = Date.now() + PATIENCE;
while (!(await page.evaluate(() => document.getElementById("phase").textContent === "ended"))) {
  seen.add(await page.locator("#steps-now").innerText());
  await page.waitForTimeout(100);
  if (Date.now() > end) {
    faults.push("the lab never ends");
    break;
  }
}
hasEnded = true;
const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
if (wide > narrow) faults.push(`scrolls sideways: ${wide} in ${narrow}`);
if (await page.locator("#tiles").isVisible()) faults.push("shows the figures of a run");
await page.screenshot({ path: screenshot, fullPage: true });
const title = await page.locator("h1").innerText();
const result = await page.locator("#result").innerText();
console.log(JSON.stringify({ title, rows: await rows(), result, steps: [...seen].filter(Boolean).length }));
await browser.close();
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
