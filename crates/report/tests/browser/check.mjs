// Opens each report in Chromium and uses it as a reader would. Prints what is wrong, a
// line each, and fails if anything is.
//
//   node check.mjs PAGES SCREENSHOTS
//
// PAGES holds a directory for each report, with a report.html in it. SCREENSHOTS gets pictures of reports with a fault, and
// with ALL_SCREENSHOTS=1 in the environment of all reports.
import { mkdirSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const [pages, screenshots] = process.argv.slice(2).map((path) => resolve(path));
mkdirSync(screenshots, { recursive: true });
// Waits are for slow machines: they end as soon as what is awaited is there.
const PATIENCE = 60_000;
const faults = [];

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM || "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  timeout: PATIENCE,
});

async function open(name, options, wrong) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const address = pathToFileURL(join(pages, name, "report.html")).href;
  page.on("console", (message) => {
    // Reading pixels back is this test's own doing.
    const own = message.text().includes("willReadFrequently");
    if (!own && ["error", "warning"].includes(message.type())) wrong(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => wrong(`error: ${error.message}`));
  page.on("dialog", (dialog) => {
    wrong(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== address) wrong(`asks for ${request.url()}`);
  });
  await page.goto(address);
  return { context, page };
}

// How many colors a canvas has; one is a blank one.
const colors = (figure) =>
  figure.evaluate((element) =>
    [...element.querySelectorAll("canvas")].map((canvas) => {
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      const seen = new Set();
      let painted = 0;
      for (let at = 0; at < data.length; at += 4) {
        if (data[at + 3] > 0) painted += 1;
        seen.add((data[at] << 16) | (data[at + 1] << 8) | data[at + 2]);
      }
      return { colors: seen.size, painted };
    }),
  );

const view = async (figure) => (await figure.getAttribute("data-view")).split(" ").map(Number);
const wide = ([from, to]) => to - from;

async function whole(page, wrong) {
  const heading = await page.locator("h1").innerText();
  const title = await page.title();
  if (title.replace(/\s/g, "") !== heading.replace(/\s/g, "")) wrong(`the title is ${title}`);
  const [scroll, client] = await page.evaluate(() => [document.documentElement.scrollWidth, document.documentElement.clientWidth]);
  if (scroll > client) {
    const widest = await page.evaluate((client) => {
      const parts = [...document.querySelectorAll("body *")].filter((part) => part.getBoundingClientRect().right > client + 1 && !part.closest(".scroll"));
      return parts.slice(-1).map((part) => `<${part.tagName.toLowerCase()} class="${part.className}"> in <${part.parentElement.tagName}>`);
    }, client);
    wrong(`scrolls sideways: ${scroll} in ${client}, ${widest}`);
  }
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("svg.plot")].filter((svg) => {
      if (svg.getClientRects().length === 0) return false;
      const drawn = [...svg.querySelectorAll("path, rect, text")].filter((part) => {
        const box = part.getBoundingClientRect();
        return box.width > 0 || box.height > 0;
      });
      return drawn.length < 5 || svg.clientWidth < 200;
    }).length,
  );
  if (blank > 0) wrong(`${blank} pictures are blank`);
  const nameless = await page.evaluate(
    () => [...document.querySelectorAll("a, button, summary, [role=region], [role=img], table")].filter((part) => !(part.getAttribute("aria-label") || part.getAttribute("aria-labelledby") || part.textContent.trim())).length,
  );
  if (nameless > 0) wrong(`${nameless} parts have no name`);
}

// Text whose contrast with its background is too low (WCAG 2.2, level AA).
async function contrast(page, wrong) {
  const low = await page.evaluate(() => {
    const canvas = document.createElement("canvas");
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const pixel = (...colors) => {
      for (const color of colors) {
        context.fillStyle = color;
        context.fillRect(0, 0, 1, 1);
      }
      return [...context.getImageData(0, 0, 1, 1).data];
    };
    const light = (color) => {
      const [r, g, b] = color.slice(0, 3).map((value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    // The backgrounds of an element and of those that contain it, as text; the browser's own comes first.
    const known = new Map([[null, matchMedia("(prefers-color-scheme: dark)").matches ? "#121212" : "#fff"]]);
    const backgrounds = (element) => {
      if (!known.has(element)) {
        const outer = backgrounds(element.parentElement);
        const own = getComputedStyle(element).backgroundColor;
        known.set(element, own === "rgba(0, 0, 0, 0)" ? outer : `${outer};${own}`);
      }
      return known.get(element);
    };
    const ratios = new Map();
    const found = new Set();
    for (const element of document.querySelectorAll("main *, header *, footer *")) {
      const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
      if (!hasText || element.closest("svg, .live") || !element.checkVisibility()) continue;
      const style = getComputedStyle(element);
      const key = `${backgrounds(element)};${style.color}`;
      if (!ratios.has(key)) {
        const behind = backgrounds(element).split(";");
        const [one, other] = [light(pixel(...behind, style.color)), light(pixel(...behind))];
        ratios.set(key, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05));
      }
      const size = parseFloat(style.fontSize);
      const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
      if (ratios.get(key) < (isLarge ? 3 : 4.5)) found.add(`${element.tagName.toLowerCase()} ${style.color}: ${ratios.get(key).toFixed(1)}`);
    }
    return { found: [...found], pairs: ratios.size };
  });
  if (low.pairs < 2) wrong("no text was checked for contrast");
  for (const text of low.found) wrong(`low contrast: ${text}`);
}

// The page in the other color scheme: text is readable, and canvases are drawn again in its colors.
async function otherScheme(page, colorScheme, figures, wrong) {
  const other = colorScheme === "light" ? "dark" : "light";
  const say = (what) => wrong(`in ${other} colors: ${what}`);
  const paper = () => page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue("--paper") + getComputedStyle(document.body).backgroundColor);
  const before = await paper();
  await page.emulateMedia({ colorScheme: other });
  if ((await paper()) === before) say("the background is the same");
  await contrast(page, say);
  if ((await figures.count()) > 0) {
    for (const canvas of await colors(figures.first())) {
      if (canvas.colors < 4 || canvas.painted < 500) say(`a canvas is blank: ${JSON.stringify(canvas)}`);
    }
  }
  await page.emulateMedia({ colorScheme });
}

async function interactive(page, figure, wrong) {
  await figure.scrollIntoViewIfNeeded();
  await page.waitForFunction((element) => element.dataset.ready === "yes", await figure.elementHandle());
  const drawn = await colors(figure);
  if (drawn.length !== 2) wrong(`${drawn.length} canvases`);
  for (const canvas of drawn) {
    if (canvas.colors < 4 || canvas.painted < 500) wrong(`a canvas is blank: ${JSON.stringify(canvas)}`);
  }
  const toggle = figure.locator(".controls button[aria-pressed]").first();
  await toggle.click();
  if ((await toggle.getAttribute("aria-pressed")) !== "false") wrong("a legend entry does not toggle");
  await page.waitForFunction(
    ([element, before]) => {
      const canvas = element.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let painted = 0;
      for (let at = 3; at < data.length; at += 4) if (data[at] > 0) painted += 1;
      return painted !== before;
    },
    [await figure.elementHandle(), drawn[0].painted],
  );
  await toggle.click();

  const all = await view(figure);
  const chart = figure.locator(".chart");
  await chart.focus();
  await page.keyboard.press("+");
  const nearer = await view(figure);
  if (!(wide(nearer) < wide(all))) wrong(`the key + leaves ${nearer}`);
  await page.keyboard.press("ArrowRight");
  const moved = await view(figure);
  if (!(moved[0] > nearer[0])) wrong(`the arrow leaves ${moved}`);
  await page.keyboard.press("0");
  if (String(await view(figure)) !== String(all)) wrong("the key 0 does not show all");

  const run = figure.getByRole("button", { name: "run 2", exact: true });
  if ((await run.count()) > 0) {
    await run.click();
    if (!((await view(figure))[0] > all[0])) wrong("a run's button does not zoom");
    await figure.getByRole("button", { name: "all", exact: true }).click();
  }

  const box = await figure.locator(".u-over").first().boundingBox();
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * 0.3, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.4, y, { steps: 4 });
  await page.mouse.move(box.x + box.width * 0.6, y, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(([element, before]) => element.dataset.view !== before, [await figure.elementHandle(), all.map((edge) => edge.toFixed(2)).join(" ")]);
  const dragged = await view(figure);
  if (!(wide(dragged) < wide(all) * 0.6)) wrong(`a drag leaves ${dragged} of ${all}`);
  await page.mouse.dblclick(box.x + box.width * 0.5, y);
  await page.waitForFunction(([element, before]) => element.dataset.view !== before, [await figure.elementHandle(), dragged.map((edge) => edge.toFixed(2)).join(" ")]);
  if (!(wide(await view(figure)) > wide(all) * 0.8)) wrong("a double-click does not show all");
  await figure.getByRole("button", { name: "all", exact: true }).click();
}

// The evidence is folded, a link to a part opens it, and the filter leaves only matching entries.
async function filter(page, wrong) {
  const entries = page.locator("details.evidence");
  const all = await entries.count();
  if (all === 0) return;
  if ((await page.locator("details.evidence[open]").count()) > 0) wrong("evidence is open at first");
  const input = page.locator(".filter input");
  // The report of a run has too few entries for a filter.
  if ((await input.count()) > 0) {
    await input.fill("no such cell anywhere");
    if ((await page.locator("details.evidence:visible").count()) > 0) wrong("the filter hides nothing");
    const title = (await entries.last().locator("summary").first().textContent()).trim();
    await input.fill(title.split(/\s+/)[0]);
    if (!(await entries.last().isVisible())) wrong("the filter hides what matches");
    await input.fill("");
    if ((await page.locator("details.evidence:visible").count()) !== all) wrong("an empty filter hides entries");
  }
  const id = await entries.last().getAttribute("id");
  await page.evaluate((id) => (location.hash = `#${id}`), id);
  await page.waitForFunction((id) => document.getElementById(id).open, id);
}

// From the top of the page by Tab alone: to the skip link first, to a legend in the end.
async function keyboard(page, hasLive, wrong) {
  // Tab starts where a link has led to.
  await page.evaluate(() => history.replaceState(null, "", location.pathname));
  await page.reload();
  await page.evaluate(() => document.querySelectorAll("details.evidence").forEach((entry) => (entry.open = true)));
  const at = () =>
    page.evaluate(() => {
      const element = document.activeElement;
      const live = element.closest(".live");
      const outlined = getComputedStyle(element).outlineStyle !== "none";
      return { skip: element.matches(".skip"), legend: Boolean(live && element.matches("[aria-pressed]")), pressed: element.getAttribute("aria-pressed"), outlined, body: element === document.body };
    });
  await page.keyboard.press("Tab");
  const first = await at();
  if (!first.skip || !first.outlined) wrong("the first stop is not the skip link");
  if (!hasLive) return;
  for (let step = 0; step < 600; step += 1) {
    await page.keyboard.press("Tab");
    const now = await at();
    if (now.body) break;
    if (!now.outlined) wrong("the focus is not seen");
    if (now.legend) {
      await page.keyboard.press("Enter");
      if ((await at()).pressed === now.pressed) wrong("Enter does not toggle a legend entry");
      return;
    }
  }
  wrong("no legend is reached by Tab");
}

async function picture(page, name, width) {
  const path = (part) => join(screenshots, `${name}${part}.png`);
  const figures = page.locator("figure:has(.live)");
  if ((await figures.count()) > 0) await figures.first().screenshot({ path: path("-runs") });
  await page.evaluate(() => {
    document.querySelectorAll("details.evidence").forEach((entry) => (entry.open = false));
    scrollTo(0, 0);
  });
  await page.screenshot({ path: path("-first") });
  const height = Math.min(await page.evaluate(() => document.documentElement.scrollHeight), 3500);
  await page.screenshot({ path: path(""), fullPage: true, clip: { x: 0, y: 0, width, height } });
  await page.emulateMedia({ media: "print" });
  await page.screenshot({ path: path("-print") });
}

for (const name of readdirSync(pages).sort()) {
  const looks = [
    ["wide-light", { viewport: { width: 1280, height: 900 }, colorScheme: "light" }],
    ["narrow-dark", { viewport: { width: 390, height: 844 }, colorScheme: "dark" }],
  ];
  const began = Date.now();
  for (const [look, options] of looks) {
    const before = faults.length;
    const wrong = (what) => faults.push(`${name}, ${look}: ${what}`);
    const { context, page } = await open(name, options, wrong);
    await whole(page, wrong);
    await filter(page, wrong);
    // Evidence is folded; the plots of runs are in it.
    await page.evaluate(() => document.querySelectorAll("details.evidence").forEach((entry) => (entry.open = true)));
    const figures = page.locator("figure:has(.live)");
    const count = await figures.count();
    if (count > 0) await interactive(page, figures.first(), wrong);
    if (look === "wide-light") await keyboard(page, count > 0, wrong);
    await contrast(page, wrong);
    await otherScheme(page, options.colorScheme, figures, wrong);
    if (count > 0) {
      await whole(page, wrong);
      await page.emulateMedia({ media: "print" });
      const printed = await page.evaluate(() => {
        const shown = (element) => element.getClientRects().length > 0;
        const figure = document.querySelector("figure.is-live");
        return shown(figure.querySelector(".still")) && !shown(figure.querySelector(".live"));
      });
      if (!printed) wrong("on paper the picture is not in place of the canvas");
      await page.emulateMedia({ media: "screen" });
    }
    await page.emulateMedia({ media: "print" });
    // Also as wide as a sheet of A4 between its margins.
    for (const width of [options.viewport.width, 720]) {
      await page.setViewportSize({ ...options.viewport, width });
      const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      if (excess > 0) wrong(`on paper of ${width} pixels the page is ${excess} too wide`);
    }
    await page.setViewportSize(options.viewport);
    await page.emulateMedia({ media: "screen" });
    if (process.env.ALL_SCREENSHOTS || faults.length > before) await picture(page, `${name}-${look}`, options.viewport.width);
    await context.close();
  }
  // Without scripts every plot is there as a picture.
  const wrong = (what) => faults.push(`${name}, without scripts: ${what}`);
  const context = await browser.newContext({ javaScriptEnabled: false, viewport: { width: 1200, height: 900 } });
  const page = await context.newPage();
  await page.goto(pathToFileURL(join(pages, name, "report.html")).href);
  const figures = await page.locator("figure").count();
  const stills = await page.locator("figure .still:not(.wide) svg.plot").count();
  if (stills !== figures) wrong(`${stills} pictures of ${figures}`);
  await context.close();
  console.error(`${name}: ${Date.now() - began} ms`);
}

await browser.close();
for (const fault of faults) console.log(fault);
process.exit(faults.length > 0 ? 1 : 0);
