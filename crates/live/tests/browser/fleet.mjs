// Watches the run of a fleet in Chromium from start to end; see browse.mjs.
//
//   node fleet.mjs SCREENSHOT < ADDRESS
import { watch } from "./browse.mjs";

// The charts in a part of the page: their titles, and whether they have a line of this color.
const charts = (page, part, color) =>
  page.evaluate(
    ([part, color]) => {
      const figures = [...document.querySelectorAll(`#${part} figure:not([hidden])`)];
      const wanted = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
      return figures.map((figure) => {
        const canvas = figure.querySelector("canvas");
        // A copy, because reading from the canvas itself would slow down its drawing.
        const pen = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d");
        pen.drawImage(canvas, 0, 0);
        const { data } = pen.getImageData(0, 0, canvas.width, canvas.height);
        let hasLine = false;
        for (let at = 0; at < data.length && !hasLine; at += 4) {
          hasLine = data[at + 3] > 200 && wanted.every((part, place) => Math.abs(data[at + place] - part) < 30);
        }
        return { title: figure.querySelector("h4").textContent, hasLine };
      });
    },
    [part, color],
  );
const rates = (page) => charts(page, "agent-rates", "#0b5fa5");

let during = 0;
await watch(process.argv[2], {
  isThere: () => document.querySelectorAll("#agents tbody tr").length > 0,
  async look(page) {
    during = Math.max(during, (await rates(page)).length);
  },
  async shown(page) {
    const rows = await page.evaluate(() => [...document.querySelectorAll("#agents tbody tr")].map((row) => [...row.cells].map((cell) => cell.textContent)));
    const marks = await page.evaluate(() => document.getElementById("marks").textContent);
    return { during, marks, rows, rates: await rates(page), times: await charts(page, "agent-times", "#b8480a") };
  },
});
