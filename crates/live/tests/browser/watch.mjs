// Watches a run in Chromium from start to end, as two viewers: one from the beginning on a wide
// screen, and one that comes late, on a narrow screen, through an address whose connections break.
// Prints "ready", "late", and at the end the figures that the page shows, as JSON. Prints what is
// wrong, a line each on stderr, and fails if anything is.
//
// At the end it opens the page of a search that has ended, and the page of the run as it saved itself.
//
//   node watch.mjs URL LATE-URL SEARCH-URL SCREENSHOTS
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [url, lateUrl, searchUrl, folder] = process.argv.slice(2);
const screenshots = resolve(folder);
mkdirSync(screenshots, { recursive: true });
// Waits are for slow machines: they end as soon as what is awaited is there.
const PATIENCE = 60_000;
const faults = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  timeout: PATIENCE,
});

async function open(name, address, options, mayLose) {
  const wrong = (what) => faults.push(`${name}: ${what}`);
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  page.on("console", (message) => {
    // Reading pixels back is this test's own doing, and so are the broken connections.
    const own = message.text().includes("willReadFrequently") || (mayLose && message.text().includes("ERR_"));
    if (!own && ["error", "warning"].includes(message.type())) wrong(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong(`error: ${error.message}`));
  const host = new URL(address).host;
  page.on("request", (request) => {
    const { protocol, host: other } = new URL(request.url());
    // The file that the page saves is a blob.
    if (other !== host && protocol !== "blob:") wrong(`asks for ${request.url()}`);
  });
  await page.goto(address);
  return { name, page, wrong };
}

const points = (page) => page.evaluate(() => Number(document.body.dataset.points ?? 0));
const hasPoints = (page, count) => page.waitForFunction((count) => Number(document.body.dataset.points ?? 0) >= count, count);

// How many colors a canvas has; one is a blank one.
const colors = (page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("figure:not([hidden])")].map((figure) => {
      const canvas = figure.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 0) seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      }
      return { title: figure.querySelector("h3").textContent, colors: seen.size };
    }),
  );

async function check({ name, page, wrong }) {
  const charts = await colors(page);
  for (const title of ["Iterations per second", "Latency", "Users", "Lateness", "Processor"]) {
    if (!charts.some((chart) => chart.title.startsWith(title))) wrong(`has no chart ${title}`);
  }
  for (const chart of charts) {
    if (chart.colors < 3) wrong(`${chart.title} is blank: ${chart.colors} colors`);
  }
  const [scroll, client] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (scroll > client) wrong(`scrolls sideways: ${scroll} in ${client}`);
  const nameless = await page.evaluate(
    () => [...document.querySelectorAll("a, button, [role=img], progress")].filter((part) => part.getClientRects().length > 0 && !(part.getAttribute("aria-label") || part.textContent.trim())).length,
  );
  if (nameless > 0) wrong(`${nameless} parts have no name`);
  for (const part of ["thresholds", "statuses", "generator"]) {
    if (part !== "thresholds" && (await page.locator(`#${part} tbody tr`).count()) === 0) wrong(`the table ${part} is empty`);
  }
  await page.screenshot({ path: join(screenshots, `live-${name}.png`), fullPage: true });
}

// The page in the other color scheme and on paper: its own colors, charts that are drawn again, and nothing too wide.
async function looks({ page, wrong }, colorScheme) {
  const size = page.viewportSize();
  const paper = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const drawn = async (where) => {
    for (const chart of await colors(page)) {
      if (chart.colors < 3) wrong(`${where}, ${chart.title} is blank: ${chart.colors} colors`);
    }
  };
  const before = await paper();
  const other = colorScheme === "light" ? "dark" : "light";
  await page.emulateMedia({ colorScheme: other });
  if ((await paper()) === before) wrong(`in ${other} colors the background is the same`);
  await drawn(`in ${other} colors`);
  await page.emulateMedia({ colorScheme: "dark", media: "print" });
  if ((await paper()) !== "rgb(255, 255, 255)") wrong(`on paper the background is ${await paper()}`);
  await drawn("on paper");
  // As wide as a sheet of A4 between its margins.
  await page.setViewportSize({ ...size, width: 720 });
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  if (excess > 0) wrong(`on a sheet of A4 the page is ${excess} too wide`);
  if (await page.locator("#save").isVisible()) wrong("on paper there is a button");
  await page.setViewportSize(size);
  await page.emulateMedia({ colorScheme, media: "screen" });
}

async function keyboard({ page, wrong }) {
  await page.keyboard.press("Tab");
  if (!(await page.evaluate(() => document.activeElement.matches(".skip")))) wrong("the first stop is not the skip link");
  const plot = page.locator("figure:not([hidden]) .plot").first();
  const readout = page.locator("figure:not([hidden]) .readout").first();
  await plot.focus();
  const latest = await readout.textContent();
  await page.keyboard.press("Home");
  const first = await readout.textContent();
  if (first === latest || !first.startsWith("0:00")) wrong(`the key Home shows ${first}`);
  await page.keyboard.press("ArrowRight");
  if (!(await readout.textContent()).startsWith("0:01")) wrong("the right arrow does not move the cursor");
  await page.keyboard.press("Escape");
  if ((await readout.textContent()) !== latest) wrong("the key Escape does not return to the latest");
  const view = () => page.evaluate(() => document.body.dataset.view);
  await page.keyboard.press("+");
  if (((await view()) ?? "all") === "all") wrong("the key + does not zoom");
  await page.keyboard.press("Escape");
  if ((await view()) !== "all") wrong("the key Escape does not show all");
  const { x, y, width, height } = await plot.boundingBox();
  await page.mouse.move(x + width * 0.4, y + height / 2);
  await page.mouse.down();
  await page.mouse.move(x + width * 0.7, y + height / 2, { steps: 4 });
  await page.mouse.up();
  const [from, to] = (await view()).split(" ").map(Number);
  if (!(from > 0 && to > from)) wrong(`a drag shows the seconds ${await view()}`);
  await page.mouse.dblclick(x + width * 0.5, y + height / 2);
  if ((await view()) !== "all") wrong("a double click does not show all");
  await page.mouse.move(0, 0);
  const entry = page.locator("figure:not([hidden]) .legend button:not([hidden])").first();
  await entry.focus();
  await page.keyboard.press("Enter");
  if ((await entry.getAttribute("aria-pressed")) !== "false") wrong("Enter does not toggle a legend entry");
  await page.keyboard.press("Enter");
}

const first = await open("wide-light", url, { viewport: { width: 1280, height: 900 }, colorScheme: "light" });
console.log("ready");
await hasPoints(first.page, 2);
await first.page.screenshot({ path: join(screenshots, "live-running.png") });
const late = await open("narrow-dark", lateUrl, { viewport: { width: 390, height: 844 }, colorScheme: "dark" }, true);
await hasPoints(late.page, 2);
console.log("late");

const viewers = [first, late];
for (const { page } of viewers) {
  await page.waitForFunction(() => document.getElementById("phase").textContent === "ended");
}
const counts = await Promise.all(viewers.map(({ page }) => points(page)));
if (counts[0] !== counts[1]) faults.push(`the late viewer has ${counts[1]} points of ${counts[0]}`);
for (const viewer of viewers) await check(viewer);
await keyboard(first);
await looks(first, "light");
await looks(late, "dark");
await first.page.emulateMedia({ media: "print" });
await first.page.screenshot({ path: join(screenshots, "live-print.png"), fullPage: true });
await first.page.emulateMedia({ media: "screen" });

const search = await open("search", searchUrl, { viewport: { width: 390, height: 844 }, colorScheme: "light" });
await search.page.waitForFunction(() => document.getElementById("phase").textContent === "ended");
const trials = await search.page.locator("#steps tbody tr").allInnerTexts();
if (trials.length !== 2 || !trials[0].includes("✓") || !trials[1].includes("✕")) search.wrong(`shows the trials ${JSON.stringify(trials)}`);
if (!(await search.page.locator("#result").innerText()).includes("200/s")) search.wrong("does not show the result");
if (await search.page.locator("#tiles").isVisible()) search.wrong("shows the figures of a run");
const [wide, narrow] = await search.page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
if (wide > narrow) search.wrong(`scrolls sideways: ${wide} in ${narrow}`);
await search.page.screenshot({ path: join(screenshots, "live-search.png"), fullPage: true });

const shown = (page) =>
  page.evaluate(() => ({
    tiles: Object.fromEntries([...document.querySelectorAll("#tiles div")].map((tile) => [tile.querySelector("dt").textContent, tile.querySelector("dd").textContent])),
    statuses: Object.fromEntries([...document.querySelectorAll("#statuses tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent))),
    verdict: document.querySelector("#verdict strong").textContent,
    connection: document.getElementById("connection").textContent,
  }));

// The saved page shows the same without a server.
const [download] = await Promise.all([first.page.waitForEvent("download"), first.page.locator("#save").click()]);
const file = join(screenshots, "live-saved.html");
await download.saveAs(file);
const saved = await open("saved", pathToFileURL(file).href, { viewport: { width: 390, height: 844 }, colorScheme: "light" });
await check(saved);
if ((await points(saved.page)) !== counts[0]) saved.wrong("does not have all points");
const [live, kept] = [JSON.stringify(await shown(first.page)), JSON.stringify(await shown(saved.page))];
if (live !== kept) saved.wrong(`shows ${kept} instead of ${live}`);

console.log(JSON.stringify({ points: counts[0], ...(await shown(first.page)), late: await shown(late.page) }));
await browser.close();
for (const fault of faults) console.error(fault);
process.exit(faults.length > 0 ? 1 : 0);
