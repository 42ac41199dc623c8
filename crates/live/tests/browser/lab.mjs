// Watches a lab in Chromium from start to end; see browse.mjs.
//
//   node lab.mjs SCREENSHOT < ADDRESS
import { watch } from "./browse.mjs";

const rows = (page) => page.locator("#steps tbody tr").allInnerTexts();
const seen = new Set();
let isFirst = true;

await watch(process.argv[2], {
  isThere: () => document.querySelectorAll("#steps tbody tr").length > 0,
  async look(page, faults) {
    if (isFirst && (await rows(page)).every((row) => row.includes("✓"))) faults.push("all cells have ended before the first look");
    isFirst = false;
    seen.add(await page.locator("#steps-now").innerText());
  },
  async shown(page, faults) {
    if (await page.locator("#tiles").isVisible()) faults.push("shows the figures of a run");
    const title = await page.locator("h1").innerText();
    const result = await page.locator("#result").innerText();
    return { title, rows: await rows(page), result, steps: [...seen].filter(Boolean).length };
  },
});
