// Receives the run as server-sent events, or reads it from a saved page, and shows it.

const $ = (id) => document.getElementById(id);
// The page as the server sent it. A saved page is this one with the run in it.
const served = document.documentElement.outerHTML;
// A page that the browser has saved already contains charts, but without their contents.
for (const id of ["charts", "agent-rates", "agent-times"]) $(id).replaceChildren();
const perSecond = (key) => (p) => (p.span > 0 && p[key] !== null ? p[key] / p.span : null);
const latency = (key) => (p) => (p.latency ? p.latency[key] : null);
const isOpen = (p) => p.offered !== null;

const parent = $("charts");
const load = new Chart(parent, {
  title: "Iterations per second",
  text: texts.number,
  series: [
    { label: "offered", color: "--soft", value: perSecond("offered"), dash: true },
    { label: "started", color: "--c0", value: (p) => perSecond(isOpen(p) ? "scheduled_started" : "started")(p) },
    { label: "finished", color: "--c2", value: (p) => perSecond(isOpen(p) ? "scheduled_finished" : "finished")(p) },
    { label: "dropped", color: "--c1", value: (p) => (isOpen(p) ? perSecond("dropped")(p) : null) },
    { label: "failed requests", color: "--bad", value: perSecond("failed") },
  ],
});
const times = new Chart(parent, {
  title: "Latency",
  text: texts.milliseconds,
  log: true,
  heat: true,
  series: [
    { label: "p50", color: "--c2", value: latency("p50") },
    { label: "p95", color: "--c0", value: latency("p95") },
    { label: "p99", color: "--c1", value: latency("p99") },
    { label: "max", color: "--bad", value: latency("max"), dash: true },
  ],
});
const requests = new Chart(parent, {
  title: "Requests per second",
  text: texts.number,
  series: [
    { label: "requests", color: "--c0", value: perSecond("requests") },
    { label: "failed", color: "--bad", value: perSecond("failed") },
  ],
});
const users = new Chart(parent, {
  title: "Users",
  text: texts.number,
  series: [
    { label: "users", color: "--c3", value: (p) => p.users },
    { label: "iterations in flight", color: "--c0", value: (p) => p.in_flight },
  ],
});
const lag = new Chart(parent, {
  title: "Lateness of the generator",
  text: texts.milliseconds,
  series: [
    { label: "send lag p99", color: "--c1", value: (p) => p.lag },
    { label: "timers, max", color: "--c3", value: (p) => p.late },
  ],
});
const processor = new Chart(parent, {
  title: "Processor share of the busiest worker",
  text: texts.percent,
  series: [{ label: "busiest worker", color: "--c4", value: (p) => p.cpu }],
});

const system = new Chart(parent, {
  title: "Processors used by the measured system",
  text: texts.number,
  series: [{ label: "measured system", color: "--c2", value: (p) => p.system_cpu }],
});

const agent = (place, value) => (p) => (p.agents?.[place] ? value(p.agents[place], p) : null);
const agentRates = multiples($("agent-rates"), { text: texts.number }, (place) => [
  { label: "all", color: "--c0", value: agent(place, (one, p) => (p.span > 0 ? (state.requests > 0 ? one.requests : one.finished) / p.span : null)) },
  { label: "failed", color: "--bad", value: agent(place, (one, p) => (p.span > 0 && state.requests > 0 ? one.failed / p.span : null)) },
]);
const agentTimes = multiples($("agent-times"), { text: texts.milliseconds, log: true }, (place) => [
  { label: "p50", color: "--c2", value: agent(place, (one) => one.p50) },
  { label: "p99", color: "--c1", value: agent(place, (one) => one.p99) },
]);

let points = [];
let state = null;

// A table. Cells are strings, or { text, kind } with the name of a class.
function table(id, columns, rows) {
  const part = $(`${id}-part`);
  if (part) part.hidden = rows.length === 0;
  const element = $(id);
  const content = JSON.stringify(rows);
  if (element.dataset.content === content) return;
  element.dataset.content = content;
  const cell = (tag, kind, content) => {
    const made = document.createElement(tag);
    made.className = kind;
    made.textContent = content;
    return made;
  };
  const head = document.createElement("thead");
  const names = document.createElement("tr");
  for (const [name, kind] of columns) {
    const made = cell("th", kind, name);
    made.scope = "col";
    names.append(made);
  }
  head.append(names);
  const body = document.createElement("tbody");
  for (const row of rows) {
    const line = document.createElement("tr");
    row.forEach((entry, place) => {
      const { text, kind } = typeof entry === "object" && entry !== null ? entry : { text: entry, kind: "" };
      line.append(cell("td", `${columns[place][1]} ${kind}`.trim(), String(text)));
    });
    body.append(line);
  }
  element.replaceChildren(head, body);
}

function tiles(entries) {
  $("tiles").replaceChildren(
    ...entries.map(([name, value, note]) => {
      const tile = document.createElement("div");
      const title = document.createElement("dt");
      title.textContent = name;
      const figure = document.createElement("dd");
      figure.textContent = value;
      if (note) {
        const small = document.createElement("small");
        small.textContent = note;
        figure.append(small);
      }
      tile.append(title, figure);
      return tile;
    }),
  );
}

function size(bytes) {
  if (bytes < 1e3) return `${digits(bytes)} B`;
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${digits(bytes / 1e3 ** power)} ${["B", "kB", "MB", "GB", "TB"][power]}`;
}
const share = (part, whole) => (whole > 0 ? texts.percent(part / whole) : "–");

function showHeader() {
  const ended = state.ended !== null;
  $("phase").textContent = ended ? "ended" : state.phase;
  $("title").textContent = state.title || "Plimsoll";
  document.title = `${ended ? "ended" : state.done > 0 ? `${Math.floor(state.done * 100)}%` : "running"} – ${state.title || "Plimsoll"}`;
  // A search does not know how long it will take.
  if (state.steps && state.done === 0) $("done").removeAttribute("value");
  else $("done").value = state.done;
  const left = state.duration === null ? null : Math.max(0, state.duration - state.elapsed);
  const percent = `${Math.floor(state.done * 100)}%`;
  const parts = state.steps && state.done === 0 ? [clock(state.elapsed)] : [percent, clock(state.elapsed)];
  if (ended) parts.push(state.ended);
  else if (left !== null && state.phase === "running") parts.push(`at most ${clock(left)} left`);
  $("time").textContent = parts.join(" · ");
  const box = $("verdict");
  box.hidden = !state.verdict;
  if (!state.verdict) return;
  const { level, reasons, is_final } = state.verdict;
  box.className = `verdict ${level}`;
  const lines = [`${is_final ? "Verdict" : "Verdict on the generator so far"}: ${level}`, ...reasons];
  const content = lines.join("\n");
  if (box.dataset.content === content) return;
  box.dataset.content = content;
  box.replaceChildren(
    ...lines.map((line, place) => {
      const paragraph = document.createElement("p");
      if (place > 0) {
        paragraph.textContent = line;
        return paragraph;
      }
      const strong = document.createElement("strong");
      strong.textContent = line;
      paragraph.append(strong);
      return paragraph;
    }),
  );
}

function showTiles() {
  const last = points[points.length - 1];
  const { iterations } = state;
  const rate = last ? perSecond(state.requests > 0 ? "requests" : "finished")(last) : null;
  const entries = [[state.requests > 0 ? "requests/s" : "iterations/s", texts.number(rate), state.requests > 0 ? `${number(state.requests)} in total` : `${number(iterations.finished)} in total`]];
  entries.push(["failed", number(state.failed), share(state.failed, state.requests)]);
  if (state.latency) {
    const { p50, p99, max, metric } = state.latency;
    entries.push(["latency p50", texts.milliseconds(last?.latency?.p50 ?? null), `${texts.milliseconds(p50)} in the whole run`]);
    entries.push(["latency p95", texts.milliseconds(last?.latency?.p95 ?? null), `${texts.milliseconds(state.latency.p95)} in the whole run`]);
    entries.push(["latency p99", texts.milliseconds(last?.latency?.p99 ?? null), `${texts.milliseconds(p99)} in the whole run, max ${texts.milliseconds(max)}`]);
    times.heading.textContent = `Latency (${metric})`;
  }
  entries.push(["users", number(state.users), `${number(state.users_ready)} initialized`]);
  for (const [name, key] of [["received/s", "received"], ["sent/s", "sent"]]) {
    entries.push([name, last ? size(perSecond(key)(last) ?? 0) : "–", `${size(state[key])} in total`]);
  }
  if (iterations.offered !== null) {
    entries.push(["started of offered", share(iterations.scheduled_started, iterations.offered), `${number(iterations.dropped)} dropped`]);
    // Only iterations with a schedule can be compared with the offered ones.
    const isMixed = iterations.started !== iterations.scheduled_started;
    load.heading.textContent = `Iterations per second${isMixed ? " of scenarios with a schedule" : ""}`;
    entries.push(["send lag p99", texts.milliseconds(state.generator.send_lag), "whole run"]);
  }
  tiles(entries);
}

// The steps of a search or a lab.
function showSteps() {
  const { steps } = state;
  $("steps-part").hidden = !steps;
  if (!steps) return;
  const marks = { none: "", good: { text: "✓", kind: "good" }, bad: { text: "✕", kind: "bad" }, doubt: { text: "?", kind: "doubt" } };
  const isNumber = (place) => steps.rows.length > 0 && steps.rows.every(({ cells }) => /^[-–]?[\d.,]*%?$/.test(cells[place] ?? ""));
  table(
    "steps",
    [...steps.columns.map((name, place) => [name, isNumber(place) ? "n" : "text"]), ["", ""]],
    steps.rows.map(({ cells, mark }) => [...cells, marks[mark]]),
  );
  $("steps-part").hidden = false;
  $("steps-title").textContent = steps.title;
  $("steps-now").textContent = steps.now;
  const result = $("result");
  result.hidden = steps.result.length === 0;
  result.replaceChildren(
    ...steps.result.map((line) => {
      const paragraph = document.createElement("p");
      paragraph.textContent = line;
      return paragraph;
    }),
  );
}

function showTables() {
  table(
    "thresholds",
    [["metric", "text"], ["condition", ""], ["measured", "n"], ["margin", "n"], ["", ""]],
    state.thresholds.map(({ metric, source, ok, measured, margin }) => [
      metric,
      source,
      measured === null ? "–" : digits(measured),
      margin === null ? "–" : texts.percent(margin),
      ok ? { text: "✓ met", kind: "good" } : { text: "✕ crossed", kind: "bad" },
    ]),
  );
  table(
    "names",
    [["name", "text"], ["method", ""], ["requests", "n"], ["failed", "n"], ["p50", "n"], ["p95", "n"], ["p99", "n"], ["max", "n"]],
    state.names.map((row) => [
      row.name,
      row.method,
      number(row.requests),
      row.failed > 0 ? { text: number(row.failed), kind: "bad" } : "0",
      ...["p50", "p95", "p99", "max"].map((key) => texts.milliseconds(row[key])),
    ]),
  );
  const figure = (value) => (value === null ? "–" : digits(value));
  table(
    "tags",
    [["metric", "text"], ["count", "n"], ["share", "n"], ["p50", "n"], ["p95", "n"], ["p99", "n"], ["max", "n"]],
    state.tags.map((row) => [row.metric, texts.number(row.count), row.share === null ? "–" : texts.percent(row.share), ...["p50", "p95", "p99", "max"].map((key) => figure(row[key]))]),
  );
  const scenarios = state.scenarios.length > 1 ? state.scenarios : [];
  table(
    "scenarios",
    [["scenario", "text"], ["executor", ""], ["done", "n"], ["users", "n"], ["iterations", "n"], ["dropped", "n"]],
    scenarios.map((row) => [row.name, row.executor, texts.percent(row.done), number(row.users), number(row.finished), number(row.dropped)]),
  );
  table(
    "checks",
    [["check", "text"], ["passed", "n"], ["failed", "n"], ["rate", "n"]],
    state.checks.map(({ name, passes, fails }) => [
      name,
      number(passes),
      fails > 0 ? { text: number(fails), kind: "bad" } : "0",
      share(passes, passes + fails),
    ]),
  );
  table(
    "agents",
    [["agent", "text"], ["region", ""], ["users", "n"], [state.requests > 0 ? "requests" : "iterations", "n"], ["failed", "n"], ["p50", "n"], ["p99", "n"], ["max", "n"], ["busiest worker", "n"], ["", "text"]],
    state.agents.map((row) => [
      row.name,
      row.region ?? "",
      number(row.users),
      number(state.requests > 0 ? row.requests : row.finished),
      row.failed > 0 ? { text: number(row.failed), kind: "bad" } : "0",
      ...["p50", "p99", "max"].map((key) => texts.milliseconds(row[key])),
      row.cpu > 0.9 ? { text: texts.percent(row.cpu), kind: "bad" } : texts.percent(row.cpu),
      row.lost === null ? "" : { text: `lost: ${row.lost}`, kind: "bad" },
    ]),
  );
  const counts = (rows) => rows.map(({ text, count }) => [text, number(count)]);
  table("statuses", [["status", "text"], ["responses", "n"]], counts(state.statuses));
  table("errors", [["error", "text"], ["times", "n"]], counts(state.errors));
  table(
    "systems",
    [["listens on", "text"], ["processes", "n"], ["processors used", "n"], ["memory", "n"]],
    state.systems.map(({ port, processes, cpu, memory }) => [`port ${port}`, number(processes), texts.number(cpu), size(memory)]),
  );
  const { generator } = state;
  table(
    "generator",
    [["", "text"], ["latest second", "n"]],
    generator.workers.length === 0
      ? []
      : [
          // The workers of a fleet are in the table of agents.
          ...(state.agents.length > 0 ? [] : generator.workers).map((busy, place) => [`processor share of worker ${place + 1}`, busy > 0.9 ? { text: texts.percent(busy), kind: "bad" } : texts.percent(busy)]),
          ["time a worker waited for a processor", texts.percent(generator.waited)],
          ["largest lateness of a timer", texts.milliseconds(generator.late)],
          [state.agents.length > 0 ? "memory of this process, without the agents" : "memory", size(generator.memory)],
        ],
  );
}

// A chart of each agent's rate, and a chart of its latency.
function showAgents() {
  const count = points.reduce((most, p) => Math.max(most, p.agents?.length ?? 0), 0);
  if (count === 0) return;
  const names = state.agents.slice(0, count).map(({ name, region, lost }) => [name, region, lost === null ? null : "lost"].filter(Boolean).join(" – "));
  $("agents-rate").textContent = state.requests > 0 ? "requests per second" : "iterations per second";
  agentRates(points, names);
  agentTimes(points, names);
  $("agents-times").hidden = points.every((p) => (p.agents ?? []).every((one) => one.p50 === null));
}

// The times that the dashed lines in the charts mark.
function showMarks() {
  marks.splice(0, marks.length, ...state.marks);
  $("marks").hidden = marks.length === 0;
  $("marks").textContent = marks.length === 0 ? "" : `Dashed lines: ${marks.map(({ at_seconds: at, text }, place) => `${place + 1}: at ${clock(at)}, ${text}`).join("; ")}`;
}

function show() {
  if (!state) return;
  showHeader();
  showSteps();
  $("tiles").hidden = Boolean(state.steps);
  if (!state.steps) showTiles();
  showTables();
  showMarks();
  // If every iteration is one request, the first chart already shows it.
  const isSame = points.every((p) => Math.abs(p.requests - p.finished) <= Math.max(2, 0.02 * p.finished));
  const hasRequests = points.some((p) => p.requests > 0);
  load.show(points);
  times.show(points);
  requests.show(isSame || !hasRequests ? [] : points);
  users.show(points);
  lag.show(points);
  processor.show(points);
  system.show(points);
  showAgents();
  $("save").hidden = false;
  document.body.dataset.points = String(points.length);
}

const connection = $("connection");

// The run as JSON that is safe as the text of an element.
const asText = () => JSON.stringify({ points, state }).replaceAll("<", "\\u003c");

function savePage() {
  const empty = /(<script id="run"[^>]*>)[^]*?(?=<\/script>)/;
  const page = `<!doctype html>\n${served.replace(empty, (_, start) => start + asText())}`;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([page], { type: "text/html" }));
  link.download = "plimsoll.html";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
$("save").addEventListener("click", savePage);

function follow() {
  const source = new EventSource(`events${location.search}`);
  source.addEventListener("open", () => {
    connection.textContent = "";
  });
  source.addEventListener("error", () => {
    if (state && state.ended !== null) {
      // The run has ended, and this page contains all of it, even if the browser saves it.
      source.close();
      connection.textContent = "";
      $("run").textContent = asText();
    } else {
      connection.textContent = "connection lost; trying again";
    }
  });
  source.addEventListener("history", (event) => {
    ({ points, state } = JSON.parse(event.data));
    show();
  });
  source.addEventListener("news", (event) => {
    const news = JSON.parse(event.data);
    state = news.state;
    if (news.place !== null) points[news.place] = news.point;
    show();
  });
}

const saved = $("run").textContent;
if (saved) {
  ({ points, state } = JSON.parse(saved));
  show();
  connection.textContent = state.ended === null ? "saved during the run" : "";
} else {
  follow();
}
