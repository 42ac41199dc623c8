// Charts of points over time, drawn by uPlot. All charts share one cursor and one zoom.

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];

// The lower edge of a bin of the heat map, in milliseconds.
const binEdge = (bin) => 2 ** (bin / 4) / 1e3;
// The next number of the form 1, 2 or 5 times a power of ten, so that a logarithmic axis always has two of them.
function rounded(value, isUp) {
  const power = 10 ** Math.floor(Math.log10(value));
  const steps = [1, 2, 5, 10].map((factor) => factor * power);
  return isUp ? steps.find((step) => step >= value * 0.999) : steps.findLast((step) => step <= value * 1.001);
}
const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const FONT = "12px system-ui, sans-serif";

// The index of the point at the cursor; null for the latest point.
const cursor = { index: null };
// The visible seconds; null for all.
let view = null;
// Times at which the load changed unplanned: { at_seconds, text }.
const marks = [];
const charts = [];

class Chart {
  // series: { label, color, value(point), dash? }
  constructor(parent, { title, series, text, log = false, heat = false, small = false }) {
    Object.assign(this, { title, series, text, log, heat, small, points: [], limits: null, hidden: new Set(), plot: null, isDrawing: false });
    this.figure = document.createElement("figure");
    const caption = document.createElement("figcaption");
    const heading = document.createElement(small ? "h4" : "h3");
    this.heading = heading;
    heading.textContent = title;
    caption.append(heading);
    this.legend = document.createElement("div");
    this.legend.className = "legend";
    this.holder = document.createElement("div");
    this.holder.className = "plot";
    // The keys of a large chart also move the cursor of the small ones.
    if (!small) this.holder.tabIndex = 0;
    this.holder.setAttribute("role", "img");
    this.readout = document.createElement("p");
    this.readout.className = "readout";
    this.readout.setAttribute("aria-live", "polite");
    // Small charts share one legend.
    this.figure.append(caption, ...(small ? [] : [this.legend]), this.holder, this.readout);
    this.figure.hidden = true;
    parent.append(this.figure);
    const entries = heat ? [...series, { label: "heat map", color: "--soft", isHeat: true }] : series;
    this.buttons = entries.map((entry, place) => {
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
        if (!entry.isHeat) this.plot?.setSeries(place + 1, { show: !isHidden });
        this.draw();
      });
      this.legend.append(button);
      return { entry, button };
    });
    this.holder.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.holder);
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
    const zooms = { "+": 0.5, "=": 0.5, "-": 2, 0: Infinity, Escape: Infinity };
    const isOurs = event.key in places || event.key in zooms;
    if (!isOurs || last < 0 || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    if (event.key in zooms) this.zoom(zooms[event.key]);
    if (!(event.key in places)) return;
    const place = places[event.key];
    setCursor(place === null ? null : Math.min(last, Math.max(0, place)));
  }

  // Shows this multiple of the visible time span, around the cursor.
  zoom(factor) {
    const [first, end] = this.whole();
    const [from, to] = view ?? [first, end];
    const width = Math.max((to - from) * factor, Math.min(2, end - first));
    const p = this.points[cursor.index];
    const middle = p ? p.start + p.span / 2 : (from + to) / 2;
    const left = Math.max(first, Math.min(middle - width / 2, end - width));
    setView(width < end - first ? [left, left + width] : null);
  }

  // All seconds that have points.
  whole() {
    const last = this.points[this.points.length - 1];
    return [this.points[0].start, last.start + last.span];
  }

  visible() {
    return this.series.filter((series) => !this.hidden.has(series.label));
  }

  get showsHeat() {
    return this.heat && !this.hidden.has("heat map");
  }

  // The range of the values, or the range that several charts share.
  range() {
    const [low, high] = this.limits ?? this.bounds() ?? [Infinity, -Infinity];
    if (low > high) return this.log ? [0.1, 10] : [0, 1];
    if (!this.log) return [0, high > 0 ? high * 1.05 : 1];
    const [least, most] = [rounded(low, false), rounded(high, true)];
    return least < most ? [least, most] : [least / 2, most * 2];
  }

  // The lowest and the highest visible value; null if there are no values.
  bounds() {
    let [low, high] = [Infinity, -Infinity];
    const see = (value) => {
      if (value === null || (this.log && value <= 0)) return;
      low = Math.min(low, value);
      high = Math.max(high, value);
    };
    for (const p of this.points) {
      if (view && (p.start >= view[1] || p.start + p.span <= view[0])) continue;
      for (const series of this.visible()) see(series.value(p));
      if (this.showsHeat && p.latency && p.latency.spread.length > 0) {
        const bins = p.latency.spread;
        if (bins[0][0] > 0) see(binEdge(bins[0][0]));
        see(binEdge(bins[bins.length - 1][0] + 1));
      }
    }
    return low > high ? null : [low, high];
  }

  // Each value lasts from the start of its point to the start of the next point.
  data() {
    const { points } = this;
    const last = points[points.length - 1];
    const columns = this.series.map((series) => {
      const values = points.map((p) => series.value(p)).map((value) => (this.log && value <= 0 ? null : value));
      return [...values, values[values.length - 1]];
    });
    return [[...points.map((p) => p.start), last.start + last.span], ...columns];
  }

  draw() {
    const [width, height] = [this.holder.clientWidth, this.holder.clientHeight];
    if (width === 0 || this.points.length === 0) return;
    if (!this.plot) this.plot = this.make(width, height);
    const { plot } = this;
    const [min, max] = view ?? this.whole();
    this.isDrawing = true;
    plot.batch(() => {
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
      plot.setData(this.data(), false);
      plot.setScale("x", { min, max });
    });
    this.isDrawing = false;
    this.place();
  }

  make(width, height) {
    const axis = (more) => ({
      stroke: () => color("--soft"),
      font: FONT,
      grid: { stroke: () => color("--rule"), width: 1 },
      ticks: { show: false },
      ...more,
    });
    const line = ({ label, color: name, dash }) => ({
      label,
      stroke: () => color(name),
      width: dash ? 1.5 : 2,
      dash: dash ? [6, 4] : [],
      paths: uPlot.paths.stepped({ align: 1, alignGaps: 1 }),
      points: { show: false },
    });
    return new uPlot(
      {
        width,
        height,
        padding: [8, 18, 0, 0],
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: true, y: false } },
        scales: {
          x: { time: false, range: (_, min, max) => [min, max] },
          y: { distr: this.log ? 3 : 1, range: () => this.range() },
        },
        axes: [
          axis({ size: 26, gap: 8, space: 70, incrs: TIME_STEPS, grid: { show: false }, values: (_, ticks) => ticks.map(clock) }),
          axis({ size: 58, space: this.small ? 16 : 30, values: (_, ticks) => ticks.map((tick) => (tick === null ? "" : this.text(tick))) }),
        ],
        series: [{}, ...this.series.map(line)],
        hooks: {
          drawClear: [() => this.drawHeat()],
          draw: [() => this.drawMarks()],
          setCursor: [(plot) => this.point(plot)],
          setScale: [(plot, key) => this.scaled(plot, key)],
        },
      },
      this.data(),
      this.holder,
    );
  }

  // The pointer has moved.
  point(plot) {
    if (this.isDrawing) return;
    const { left } = plot.cursor;
    if (left < 0) return setCursor(null);
    const time = plot.posToVal(left, "x");
    const found = this.points.findIndex((p) => time < p.start + p.span);
    setCursor(found < 0 ? this.points.length - 1 : found);
  }

  // The pointer has selected some seconds, or a double click has selected all of them.
  scaled(plot, key) {
    if (key !== "x" || this.isDrawing || plot !== this.plot) return;
    const { min, max } = plot.scales.x;
    const [first, end] = this.whole();
    setView(min <= first && max >= end ? null : [min, max]);
  }

  // Moves the line to the point at the cursor, and prints the point's values.
  place() {
    const p = this.points[cursor.index];
    if (this.plot) {
      const left = p ? this.plot.valToPos(p.start + p.span / 2, "x") : -10;
      const isVisible = left >= 0 && left <= this.plot.over.clientWidth;
      this.plot.setCursor({ left: isVisible ? left : -10, top: isVisible ? 0 : -10 }, false);
    }
    this.read();
  }

  // Draws only within the plot area.
  within(paint) {
    const { ctx, bbox } = this.plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const x = (time) => this.plot.valToPos(time, "x", true);
    paint(ctx, bbox, x, (value) => this.plot.valToPos(value, "y", true));
    ctx.restore();
  }

  drawHeat() {
    if (!this.showsHeat || !this.plot) return;
    const heat = color("--heat");
    let most = 0;
    for (const p of this.points) {
      for (const [, count] of p.latency?.spread ?? []) most = Math.max(most, count / p.span);
    }
    this.within((pen, box, x, y) => {
      for (const p of this.points) {
        const [left, right] = [x(p.start), x(p.start + p.span)];
        for (const [bin, count] of p.latency?.spread ?? []) {
          const share = Math.sqrt(count / p.span / most);
          pen.fillStyle = `rgba(${heat},${(0.08 + 0.5 * share).toFixed(3)})`;
          // The lowest bin begins at 0, which a logarithmic axis cannot show.
          const [top, bottom] = [y(binEdge(bin + 1)), bin > 0 ? y(binEdge(bin)) : box.top + box.height];
          pen.fillRect(left, top, Math.max(right - left, 1) + 0.3, bottom - top);
        }
      }
    });
  }

  // Draws dashed lines with numbers, which the text above the charts explains.
  drawMarks() {
    if (marks.length === 0 || !this.plot) return;
    const ratio = window.devicePixelRatio || 1;
    this.within((pen, box, x) => {
      pen.strokeStyle = pen.fillStyle = color("--bad");
      pen.lineWidth = ratio;
      pen.setLineDash([4 * ratio, 3 * ratio]);
      pen.font = `${12 * ratio}px system-ui, sans-serif`;
      pen.textBaseline = "top";
      for (const [place, { at_seconds: at }] of marks.entries()) {
        pen.beginPath();
        pen.moveTo(x(at), box.top);
        pen.lineTo(x(at), box.top + box.height);
        pen.stroke();
        pen.textAlign = x(at) > box.left + box.width - 16 * ratio ? "right" : "left";
        pen.fillText(` ${place + 1} `, x(at), box.top);
      }
    });
  }

  // The values at the cursor, or the latest values, as text.
  read() {
    const p = this.points[cursor.index ?? this.points.length - 1] ?? this.points[this.points.length - 1];
    if (!p) return;
    const values = this.visible()
      .filter((series) => this.points.some((point) => series.value(point) !== null))
      .map((series) => `${series.label} ${this.text(series.value(p))}`);
    const text = `${clock(p.start)}: ${values.join(" · ")}`;
    this.holder.setAttribute("aria-label", `${this.heading.textContent}. At ${text}`);
    // Without a cursor, the legend changes every second; a screen reader must not announce that.
    this.readout.setAttribute("aria-live", cursor.index === null || this.small ? "off" : "polite");
    if (this.readout.textContent !== text) this.readout.textContent = text;
  }
}

// Charts of the same figures of several agents, with one scale. `series` creates the series of the agent at an index.
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
  for (const chart of charts) chart.place();
}

// Shows these seconds in every chart, or all seconds.
function setView(seconds) {
  view = seconds;
  document.body.dataset.view = view ? view.map((edge) => edge.toFixed(2)).join(" ") : "all";
  drawAll();
}

function drawAll() {
  for (const chart of charts) chart.draw();
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
matchMedia("print").addEventListener("change", drawAll);
