"use strict";
// Charts of points over time, drawn on canvases. All charts share one cursor.

const texts = {
  milliseconds(value) {
    if (value === null) return "–";
    if (value < 1) return `${digits(value * 1e3)} µs`;
    if (value < 1e3) return `${digits(value)} ms`;
    return `${digits(value / 1e3)} s`;
  },
  rate: (value) => (value === null ? "–" : `${number(value)}/s`),
  number: (value) => (value === null ? "–" : number(value)),
  percent: (value) => (value === null ? "–" : `${digits(value * 100)}%`),
};

function digits(value) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const places = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(places, 3)).replace(/(\.\d*?)0+$/, "$1").replace(/\.$/, "");
}

function number(value) {
  const rounded = Math.abs(value) < 100 ? digits(value) : Math.round(value).toString();
  return rounded.replace(/\B(?=(\d{3})+(?!\d))(?<!\.\d*)/g, ",");
}

function clock(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  const two = (part) => String(part).padStart(2, "0");
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

// Round steps for an axis: 1, 2 or 5 times a power of ten.
function step(range, count) {
  const rough = range / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough);
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

// The lower edge of a bin of the heat map, in milliseconds.
const binEdge = (bin) => 2 ** (bin / 4) / 1e3;

const cursor = { index: null };
// Moments at which the load changed without being planned: { at_seconds, text }.
const marks = [];
const charts = [];

class Chart {
  // series: { label, color, value(point), step?, dash? }
  constructor(parent, { title, series, text, log = false, heat = false, small = false }) {
    Object.assign(this, { title, series, text, log, heat, small, points: [], limits: null, hidden: new Set() });
    this.figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const heading = document.createElement(small ? "h4" : "h3");
    this.heading = heading;
    heading.textContent = title;
    caption.append(heading);
    this.legend = document.createElement("div");
    this.legend.className = "legend";
    this.canvas = document.createElement("canvas");
    // The keys of a large chart move the cursor of the small ones, too.
    if (!small) this.canvas.tabIndex = 0;
    this.canvas.setAttribute("role", "img");
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    this.readout.setAttribute("aria-live", "polite");
    // Small charts have one legend together.
    this.figure.append(caption, ...(small ? [] : [this.legend]), this.canvas, this.readout);
    this.figure.hidden = true;
    parent.append(this.figure);
    const entries = heat ? [...series, { label: "heat map", color: "--soft", isHeat: true }] : series;
    this.buttons = entries.map((entry) => {
      const button = document.createElement("button");
      const line = document.createElement("i");
      line.style.borderColor = `var(${entry.color})`;
      if (entry.dash) line.style.borderTopStyle = "dashed";
      button.type = "button";
      button.setAttribute("aria-pressed", "true");
      button.append(line, entry.label);
      button.addEventListener("click", () => {
        const isHidden = !this.hidden.delete(entry.label);
        if (isHidden) this.hidden.add(entry.label);
        button.setAttribute("aria-pressed", String(!isHidden));
        this.draw();
      });
      this.legend.append(button);
      return { entry, button };
    });
    this.canvas.addEventListener("pointermove", (event) => this.point(event.offsetX));
    this.canvas.addEventListener("pointerleave", () => setCursor(null));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.canvas);
    charts.push(this);
  }

  show(points) {
    this.points = points;
    const has = this.buttons.map(({ entry, button }) => {
      const any = entry.isHeat ? points.some((p) => p.latency) : points.some((p) => entry.value(p) !== null);
      button.hidden = !any;
      return any;
    });
    this.figure.hidden = !has.some(Boolean);
    this.draw();
  }

  key(event) {
    const last = this.points.length - 1;
    const at = cursor.index ?? last;
    const places = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: last, Escape: null };
    if (!(event.key in places) || last < 0) return;
    event.preventDefault();
    const place = places[event.key];
    setCursor(place === null ? null : Math.min(last, Math.max(0, place)));
  }

  point(offset) {
    if (!this.scale) return;
    const time = this.scale.timeAt(offset);
    const found = this.points.findIndex((p) => time < p.start + p.span);
    setCursor(found < 0 ? this.points.length - 1 : found);
  }

  visible() {
    return this.series.filter((series) => !this.hidden.has(series.label));
  }

  get showsHeat() {
    return this.heat && !this.hidden.has("heat map");
  }

  // The range of the values, or the one that several charts have in common.
  range() {
    const [low, high] = this.limits ?? this.bounds() ?? [Infinity, -Infinity];
    if (low > high) return this.log ? [0.1, 10] : [0, 1];
    if (!this.log) return [0, high > 0 ? high * 1.05 : 1];
    return [low / 1.15, high * 1.15];
  }

  // The lowest and the highest value; null without values.
  bounds() {
    let [low, high] = [Infinity, -Infinity];
    const see = (value) => {
      if (value === null || (this.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const p of this.points) {
      for (const series of this.visible()) see(series.value(p));
      if (this.showsHeat && p.latency && p.latency.spread.length > 0) {
        const bins = p.latency.spread;
        if (bins[0][0] > 0) see(binEdge(bins[0][0]));
        see(binEdge(bins[bins.length - 1][0] + 1));
      }
    }
    return low > high ? null : [low, high];
  }

  draw() {
    const { canvas, points } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (width === 0 || points.length === 0) return;
    const ratio = window.devicePixelRatio || 1;
    const [wide, tall] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== wide) canvas.width = wide;
    if (canvas.height !== tall) canvas.height = tall;
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const color = (name) => style.getPropertyValue(name).trim();
    pen.font = "12px system-ui, sans-serif";
    const box = { left: 58, right: width - 8, top: 8, bottom: height - 22 };
    const last = points[points.length - 1];
    const [from, to] = [points[0].start, last.start + last.span];
    const [low, high] = this.range();
    const ratioOf = this.log
      ? (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low)
      : (value) => (value - low) / (high - low);
    const x = (time) => box.left + ((time - from) / (to - from || 1)) * (box.right - box.left);
    const y = (value) => box.bottom - ratioOf(value) * (box.bottom - box.top);
    this.scale = { timeAt: (offset) => from + ((offset - box.left) / (box.right - box.left)) * (to - from) };
    this.axes(pen, { box, x, y, from, to, low, high, color });
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top - 1, box.right - box.left, box.bottom - box.top + 2);
    pen.clip();
    if (this.showsHeat) this.drawHeat(pen, x, y, style.getPropertyValue("--heat"));
    for (const series of this.visible()) this.line(pen, series, x, y, color(series.color));
    this.drawMarks(pen, box, x, color("--bad"));
    if (cursor.index !== null && points[cursor.index]) {
      const p = points[cursor.index];
      pen.strokeStyle = color("--soft");
      pen.lineWidth = 1;
      pen.setLineDash([]);
      pen.beginPath();
      pen.moveTo(x(p.start + p.span / 2), box.top);
      pen.lineTo(x(p.start + p.span / 2), box.bottom);
      pen.stroke();
    }
    pen.restore();
    this.read();
  }

  axes(pen, { box, x, y, from, to, low, high, color }) {
    pen.strokeStyle = color("--rule");
    pen.fillStyle = color("--soft");
    pen.lineWidth = 1;
    pen.setLineDash([]);
    pen.textAlign = "right";
    pen.textBaseline = "middle";
    const ticks = [];
    if (this.log) {
      const decades = Math.log10(high / low);
      const factors = decades < 1.5 ? [1, 2, 5] : decades < 3 ? [1, 3] : [1];
      for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power += 1) {
        for (const factor of factors) ticks.push(factor * 10 ** power);
      }
    } else {
      const each = step(high - low, 4);
      for (let tick = 0; tick <= high; tick += each) ticks.push(tick);
    }
    for (const tick of ticks.filter((tick) => tick >= low && tick <= high)) {
      const at = Math.round(y(tick)) + 0.5;
      pen.beginPath();
      pen.moveTo(box.left, at);
      pen.lineTo(box.right, at);
      pen.stroke();
      pen.fillText(this.text(tick), box.left - 6, Math.max(at, 8));
    }
    pen.textBaseline = "top";
    const room = Math.max(1, Math.floor((box.right - box.left) / 70));
    const each = TIME_STEPS.find((candidate) => (to - from) / candidate <= room) ?? TIME_STEPS[TIME_STEPS.length - 1];
    for (let tick = Math.ceil(from / each) * each; tick <= to; tick += each) {
      const at = x(tick);
      pen.textAlign = at > box.right - 16 ? "right" : at < box.left + 16 ? "left" : "center";
      pen.fillText(clock(tick), at, box.bottom + 6);
    }
  }

  drawHeat(pen, x, y, heat) {
    let most = 0;
    for (const p of this.points) {
      for (const [, count] of p.latency?.spread ?? []) most = Math.max(most, count / p.span);
    }
    for (const p of this.points) {
      for (const [bin, count] of p.latency?.spread ?? []) {
        const share = Math.sqrt(count / p.span / most);
        pen.fillStyle = `rgba(${heat},${(0.08 + 0.5 * share).toFixed(3)})`;
        const [left, right] = [x(p.start), x(p.start + p.span)];
        const [top, bottom] = [y(binEdge(bin + 1)), y(binEdge(bin))];
        pen.fillRect(left, top, Math.max(right - left, 1) + 0.3, bottom - top);
      }
    }
  }

  line(pen, series, x, y, stroke) {
    pen.strokeStyle = stroke;
    pen.lineWidth = series.dash ? 1.5 : 2;
    pen.setLineDash(series.dash ? [6, 4] : []);
    pen.beginPath();
    let isDown = false;
    const values = this.points.map((p) => series.value(p));
    for (const [place, p] of this.points.entries()) {
      const value = values[place];
      if (value === null) {
        isDown = false;
        continue;
      }
      const at = y(value);
      const [left, right] = [x(p.start), x(p.start + p.span)];
      // A point without neighbors must be seen, too.
      const isStep = series.step || (!isDown && (values[place + 1] ?? null) === null);
      if (isStep) {
        if (isDown) pen.lineTo(left, at);
        else pen.moveTo(left, at);
        pen.lineTo(right, at);
      } else if (isDown) {
        pen.lineTo((left + right) / 2, at);
      } else {
        pen.moveTo((left + right) / 2, at);
      }
      isDown = true;
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  // Dashed lines with numbers, which the text above the charts explains.
  drawMarks(pen, box, x, stroke) {
    pen.strokeStyle = stroke;
    pen.fillStyle = stroke;
    pen.lineWidth = 1;
    pen.textBaseline = "top";
    for (const [place, { at_seconds: at }] of marks.entries()) {
      pen.setLineDash([4, 3]);
      pen.beginPath();
      pen.moveTo(x(at), box.top);
      pen.lineTo(x(at), box.bottom);
      pen.stroke();
      pen.textAlign = x(at) > box.right - 16 ? "right" : "left";
      pen.fillText(` ${place + 1} `, x(at), box.top);
    }
    pen.setLineDash([]);
  }

  // The values at the cursor, or the latest ones, as text.
  read() {
    const p = this.points[cursor.index ?? this.points.length - 1] ?? this.points[this.points.length - 1];
    const values = this.visible()
      .filter((series) => this.points.some((point) => series.value(point) !== null))
      .map((series) => `${series.label} ${this.text(series.value(p))}`);
    const text = `${clock(p.start)}: ${values.join(" · ")}`;
    this.canvas.setAttribute("aria-label", `${this.heading.textContent}. At ${text}`);
    // Without a cursor the legend's line changes every second; a screen reader must not read that.
    this.readout.setAttribute("aria-live", cursor.index === null || this.small ? "off" : "polite");
    if (this.readout.textContent !== text) this.readout.textContent = text;
  }
}

// Charts of the same figures of several agents, with one scale. `series` makes those of the agent at a place.
function multiples(parent, options, series) {
  const all = [];
  return (points, names) => {
    while (all.length < names.length) all.push(new Chart(parent, { ...options, title: names[all.length], series: series(all.length), small: true }));
    all.forEach((chart, place) => {
      chart.points = points;
      chart.heading.textContent = names[place] ?? "";
    });
    const bounds = all.map((chart) => chart.bounds()).filter(Boolean);
    const limits = bounds.length > 0 ? [Math.min(...bounds.map(([low]) => low)), Math.max(...bounds.map(([, high]) => high))] : null;
    for (const chart of all) {
      chart.limits = limits;
      chart.show(points);
    }
  };
}

function setCursor(index) {
  if (cursor.index === index) return;
  cursor.index = index;
  for (const chart of charts) chart.draw();
}

function drawAll() {
  for (const chart of charts) chart.draw();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
matchMedia("print").addEventListener("change", drawAll);
