// Makes the plots of runs interactive: legends that toggle, zoom by pointer and by
// keyboard. Without this script the page shows the same as pictures.
(() => {
  "use strict";

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const WIDE = 25;
  const LATENCY = [
    { key: "p50", label: "median", colour: "--c0", dash: [] },
    { key: "p95", label: "p95", colour: "--c1", dash: [7, 4] },
    { key: "p99", label: "p99", colour: "--c3", dash: [2, 4] },
    { key: "max", label: "longest", colour: "--soft", dash: [1, 4] },
  ];
  const RATE = [
    { key: "rate", label: "requests", colour: "--c2", dash: [], unit: "/s", fill: true },
    { key: "failed", label: "failed", colour: "--bad", dash: [4, 3], unit: "/s" },
    { key: "cpu", label: "CPU", colour: "--c4", dash: [9, 3, 2, 3], unit: " CPU s/s", scale: "cpu" },
  ];

  function printed(value) {
    if (value == null) return "–";
    return Number(value.toPrecision(4)).toLocaleString("en", { maximumSignificantDigits: 4 });
  }

  function range(columns) {
    let low = Infinity;
    let high = -Infinity;
    for (const column of columns) {
      for (const value of column) {
        if (value == null) continue;
        if (value < low) low = value;
        if (value > high) high = value;
      }
    }
    return [low, high];
  }

  // Grey where warm-up was cut, a line where the next run begins, a dashed line where the load changed.
  function spans(data) {
    return (plot) => {
      const { ctx, bbox } = plot;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      for (const [, from, warm, to] of data.spans) {
        const left = plot.valToPos(from, "x", true);
        ctx.fillStyle = colour("--band");
        ctx.fillRect(left, bbox.top, plot.valToPos(warm, "x", true) - left, bbox.height);
        ctx.fillStyle = colour("--rule");
        ctx.fillRect(plot.valToPos(to, "x", true), bbox.top, 1, bbox.height);
      }
      // Moments that the caption explains.
      const ratio = devicePixelRatio || 1;
      ctx.strokeStyle = ctx.fillStyle = colour("--bad");
      ctx.lineWidth = ratio;
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.font = `${12 * ratio}px system-ui, sans-serif`;
      ctx.textBaseline = "top";
      (data.marks || []).forEach((at, place) => {
        const x = plot.valToPos(at, "x", true);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        ctx.textAlign = x > bbox.left + bbox.width - 16 * ratio ? "right" : "left";
        ctx.fillText(` ${place + 1} `, x, bbox.top);
      });
      ctx.restore();
    };
  }

  // Of the ticks of a logarithmic scale, those at 1, 2 and 5.
  const round = (_, ticks) => ticks.map((tick) => (/^[125]/.test(tick.toExponential(3)) && !/[1-9].*e/.test(tick.toExponential(3).slice(1)) ? tick : null));

  function axis(scale, label, side, grid, logarithmic) {
    const rounded = logarithmic ? { filter: round } : {};
    return {
      scale,
      ...rounded,
      label,
      side,
      stroke: colour("--soft"),
      font: "12px system-ui, sans-serif",
      labelFont: "12px system-ui, sans-serif",
      labelSize: 18,
      size: side === 2 ? 34 : 54,
      grid: { show: grid, stroke: colour("--rule"), width: 1, ...rounded },
      ticks: { stroke: colour("--rule"), width: 1, ...rounded },
      values: (_, ticks) => ticks.map((tick) => (tick == null ? null : printed(tick))),
    };
  }

  function chart(holder, data, kinds, options) {
    const shown = kinds.filter((kind) => data[kind.key].some((value) => value != null));
    const columns = shown.map((kind) => data[kind.key]);
    const [low, high] = range(columns);
    const logarithmic = options.logarithmic && low > 0 && high / low > WIDE;
    // A double-click shows all points, which are in the middle of their seconds.
    const edges = (least, most) => (least === data.at[0] && most === data.at[data.at.length - 1] ? options.whole : [least, most]);
    const scales = { x: { time: false, range: (_, least, most) => edges(least, most) }, y: logarithmic ? { distr: 3 } : { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] } };
    const axes = [axis("x", options.bottom ? "seconds of measurement" : "", 2, false), axis("y", options.label, 3, true, logarithmic)];
    if (!options.bottom) axes[0].size = 20;
    if (shown.some((kind) => kind.scale === "cpu")) {
      scales.cpu = { range: (_, __, most) => [0, most > 0 ? most * 1.3 : 1] };
      axes.push(axis("cpu", "CPU s/s", 1, false));
    } else {
      axes.push({ scale: "y", side: 1, size: options.right, values: () => [], grid: { show: false }, ticks: { show: false } });
    }
    return new uPlot(
      {
        width: Math.max(holder.clientWidth, 200),
        height: options.height,
        legend: { show: false },
        cursor: { sync: { key: options.sync }, drag: { x: true, y: false } },
        scales,
        axes,
        series: [
          {},
          ...shown.map((kind) => ({
            scale: kind.scale || "y",
            label: kind.label,
            stroke: colour(kind.colour),
            dash: kind.dash,
            width: kind.fill ? 1 : 1.8,
            fill: kind.fill ? colour(kind.colour) + "44" : undefined,
            paths: kind.fill ? uPlot.paths.stepped({ align: 0 }) : undefined,
            points: { show: false },
          })),
        ],
        hooks: { drawClear: [spans(data)], setCursor: [options.onCursor], setScale: [options.onScale] },
      },
      [data.at, ...columns],
      holder,
    );
  }

  function button(text, press) {
    const made = document.createElement("button");
    made.type = "button";
    made.append(text);
    made.addEventListener("click", press);
    return made;
  }

  // A piece of the line, so that a series is known without its colour.
  function sample(kind) {
    const space = "http://www.w3.org/2000/svg";
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("viewBox", "0 0 26 10");
    svg.setAttribute("aria-hidden", "true");
    const line = document.createElementNS(space, "path");
    line.setAttribute("d", "M1 5H25");
    line.setAttribute("stroke", colour(kind.colour));
    line.setAttribute("stroke-width", kind.fill ? "7" : "2.4");
    line.setAttribute("stroke-dasharray", kind.dash.join(" "));
    svg.append(line);
    return svg;
  }

  function controls(label) {
    const row = document.createElement("div");
    row.className = "controls";
    row.setAttribute("role", "group");
    row.setAttribute("aria-label", label);
    return row;
  }

  let built = 0;

  function build(figure, hidden) {
    const live = figure.querySelector(".live");
    const data = JSON.parse(figure.querySelector('script[type="application/json"]').textContent);
    const title = live.dataset.label;
    const whole = [0, data.spans.length ? data.spans[data.spans.length - 1][3] : data.at[data.at.length - 1] + 0.5];
    const sync = `runs-${(built += 1)}`;
    live.textContent = "";
    live.hidden = false;
    figure.classList.add("is-live");

    // Two seconds, or less of a measurement that is short itself, are as near as one gets.
    const nearest = Math.min(2, (whole[1] - whole[0]) / 4);
    let view = whole;
    let moving = false;
    const plots = [];
    function show(from, to) {
      const width = Math.min(Math.max(to - from, nearest), whole[1] - whole[0]);
      const left = Math.min(Math.max(from, whole[0]), whole[1] - width);
      moving = true;
      view = [left, left + width];
      for (const plot of plots) plot.setScale("x", { min: view[0], max: view[1] });
      moving = false;
      figure.dataset.view = view.map((edge) => edge.toFixed(2)).join(" ");
    }
    const zoom = (factor) => {
      const middle = (view[0] + view[1]) / 2;
      const half = ((view[1] - view[0]) / 2) * factor;
      show(middle - half, middle + half);
    };
    const pan = (share) => {
      const by = (view[1] - view[0]) * share;
      show(view[0] + by, view[1] + by);
    };

    const zooms = controls(`Zoom: ${title}`);
    zooms.append(button("all", () => show(...whole)));
    if (data.spans.length > 1) {
      for (const [name, from, , to] of data.spans) zooms.append(button(name, () => show(from, to)));
    }
    const nearer = button("+", () => zoom(0.5));
    nearer.setAttribute("aria-label", "zoom in");
    const further = button("−", () => zoom(2));
    further.setAttribute("aria-label", "zoom out");
    zooms.append(nearer, further);

    const legend = controls(`Series: ${title}`);
    const values = [];
    const holder = document.createElement("div");
    holder.className = "chart";
    holder.tabIndex = 0;
    holder.setAttribute("role", "group");
    holder.setAttribute("aria-label", `${title}. Arrow keys move, plus and minus zoom, 0 shows all.`);
    holder.addEventListener("keydown", (event) => {
      const acts = { ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), 0: () => show(...whole), Escape: () => show(...whole) };
      if (acts[event.key] && !event.ctrlKey && !event.metaKey && !event.altKey) {
        acts[event.key]();
        event.preventDefault();
      }
    });
    const hint = document.createElement("p");
    hint.className = "hint";
    hint.textContent = "Drag to zoom, double-click to show all.";
    live.append(legend, holder, zooms, hint);

    const onScale = (plot, key) => {
      // Drags and double-clicks come from one of the two plots; the other follows.
      if (key !== "x" || moving || !plots.includes(plot)) return;
      const { min, max } = plot.scales.x;
      if (min !== view[0] || max !== view[1]) show(min, max);
    };
    const onCursor = (plot) => {
      for (const value of values) {
        if (value.plot !== plot) continue;
        const column = plot.data[value.index];
        value.text.textContent = plot.cursor.idx == null || column[plot.cursor.idx] == null ? "" : ` ${printed(column[plot.cursor.idx])}${value.unit}`;
      }
    };
    // Both plots end at the same place, so that their seconds are aligned.
    const right = data.cpu.some((value) => value != null) ? 72 : 14;
    const shared = { sync, onScale, onCursor, right, whole };
    plots.push(chart(holder, data, LATENCY, { ...shared, height: 230, label: "ms", logarithmic: true, bottom: false }));
    plots.push(chart(holder, data, RATE, { ...shared, height: 150, label: "per second", logarithmic: false, bottom: true }));

    [LATENCY, RATE].forEach((kinds, which) => {
      const plot = plots[which];
      kinds
        .filter((kind) => plot.series.some((series) => series.label === kind.label))
        .forEach((kind) => {
          const index = plot.series.findIndex((series) => series.label === kind.label);
          const text = document.createElement("span");
          const toggle = button(sample(kind), () => {
            const on = toggle.getAttribute("aria-pressed") !== "true";
            toggle.setAttribute("aria-pressed", String(on));
            hidden[on ? "delete" : "add"](kind.key);
            plot.setSeries(index, { show: on });
          });
          toggle.append(kind.label, text);
          toggle.setAttribute("aria-pressed", String(!hidden.has(kind.key)));
          if (hidden.has(kind.key)) plot.setSeries(index, { show: false });
          legend.append(toggle);
          values.push({ plot, index, text, unit: kind.unit || " ms" });
        });
    });
    show(...whole);
    figure.dataset.ready = "yes";

    const resize = new ResizeObserver(() => {
      for (const plot of plots) {
        const width = Math.max(holder.clientWidth, 200);
        if (plot.width !== width) plot.setSize({ width, height: plot.height });
      }
    });
    resize.observe(holder);
    return () => {
      resize.disconnect();
      for (const plot of plots) plot.destroy();
    };
  }

  // A plot is made when it comes near the window, and again when the colours change.
  const made = new Map();
  const watch = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting || made.has(entry.target)) continue;
        const hidden = new Set();
        made.set(entry.target, { hidden, destroy: build(entry.target, hidden) });
      }
    },
    { rootMargin: "300px" },
  );
  for (const live of document.querySelectorAll(".live")) watch.observe(live.closest("figure"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const [figure, plot] of made) {
      plot.destroy();
      plot.destroy = build(figure, plot.hidden);
    }
  });

  // A link to evidence opens it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target && target.matches("details")) {
      target.open = true;
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Shows the evidence whose heading has all words of the filter.
  const filter = document.querySelector(".filter");
  if (filter) {
    const input = filter.querySelector("input");
    const found = filter.querySelector(".found");
    const entries = [...document.querySelectorAll("details.evidence")].map((entry) => [entry, entry.querySelector("summary").textContent.toLowerCase()]);
    filter.hidden = false;
    input.addEventListener("input", () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      for (const [entry, text] of entries) {
        entry.hidden = !words.every((word) => text.includes(word));
        count += entry.hidden ? 0 : 1;
      }
      found.textContent = words.length ? `${count} of ${entries.length}` : "";
    });
  }

  // Only what really scrolls is a stop for the keyboard.
  const stops = () => {
    for (const area of document.querySelectorAll(".scroll")) {
      const scrolls = area.scrollWidth > area.clientWidth + 1 || area.scrollHeight > area.clientHeight + 1;
      if (scrolls) area.tabIndex = 0;
      else area.removeAttribute("tabindex");
    }
  };
  stops();
  addEventListener("resize", stops);
  document.addEventListener("toggle", stops, true);
})();
