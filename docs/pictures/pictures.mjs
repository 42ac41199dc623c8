// Takes pictures in Chromium: of a live page during its run, and of the run's report. Prints "ready" when the browser
// runs. Reads two lines from stdin: the page's address, and the report's file when it is written. Prints "live" after the
// first picture.
//
//   node pictures.mjs FOLDER SECONDS
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [folder, seconds] = process.argv.slice(2);
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  timeout: 60_000,
});
const page = await browser.newPage({ viewport: { width: 1000, height: 900 }, colorScheme: "light" });
page.setDefaultTimeout(120_000);
const input = createInterface({ input: process.stdin });
const lines = input[Symbol.asyncIterator]();
const line = async () => (await lines.next()).value;
console.log("ready");

await page.goto(await line());
await page.waitForFunction((count) => Number(document.body.dataset.points ?? 0) >= count, Number(seconds));
await page.screenshot({ path: join(folder, "live.png") });
console.log("live");

await page.goto(pathToFileURL(resolve(await line())).href);
await page.screenshot({ path: join(folder, "report.png") });
await browser.close();
input.close();
