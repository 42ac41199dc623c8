// A page that Chromium watches on a narrow screen until its run has ended.
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

// Waits are for slow machines: they end as soon as what is awaited is there.
const PATIENCE = 60_000;

// Prints "ready" when the browser runs, reads the page's address from stdin, and calls `look(page, faults)` every tenth of a
// second until the run has ended. Then prints what `shown(page, faults)` returns, as JSON. Prints what is wrong, a line each on
// stderr, and fails if anything is.
export async function watch(screenshot, { isThere, look, shown }) {
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
    // The process ends soon after the run, and the connection with it.
    if (!hasEnded && ["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  console.log("ready");

  const address = await new Promise((take) => createInterface({ input: process.stdin }).once("line", take));
  await page.goto(address);
  await page.waitForFunction(isThere);
  const end = Date.now() + PATIENCE;
  while (!(await page.evaluate(() => document.getElementById("phase").textContent === "ended"))) {
    await look(page, faults);
    await page.waitForTimeout(100);
    if (Date.now() > end) {
      faults.push("the run never ends");
      break;
    }
  }
  hasEnded = true;
  const [wide, narrow] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (wide > narrow) faults.push(`scrolls sideways: ${wide} in ${narrow}`);
  const path = resolve(screenshot);
  mkdirSync(dirname(path), { recursive: true });
  await page.screenshot({ path, fullPage: true });
  console.log(JSON.stringify(await shown(page, faults)));
  await browser.close();
  for (const fault of faults) console.error(fault);
  process.exit(faults.length > 0 ? 1 : 0);
}
