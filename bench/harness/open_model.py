"""The open model: checks that the load is sent on schedule and that the reported latencies are correct."""

import json
import tempfile
from pathlib import Path

from . import measure, rivals
from .contenders import SCRIPTS
from .servers import FixedServer
from .tables import table

QUANTILES = ("p50", "p95", "p99", "max")
LAWS = {
    "fixed 1 ms": "fixed=1ms",
    "1 ms, 10 % of them 20 ms": "bimodal=1ms,20ms@10%",
    "1 ms, stalled 1 s in every 5 s": "stall=1s/5s+1ms",
}


def lag(settings):
    """How late requests are sent at 20,000/s."""
    rows = []
    if rivals.find("plimsoll"):
        for _ in range(settings.rounds):
            with FixedServer() as server:
                args = ["http", "--rate", "20000", "-d", f"{settings.seconds}s", "--json", server.url]
                cost = measure.run([rivals.find("plimsoll"), *args])
            try:
                reported = json.loads(cost.stdout)
            except ValueError:
                settings.say(f"plimsoll failed: {cost.stderr[-300:]}")
                continue
            late = reported["send_lag"]
            rows.append(
                (
                    f"{reported['requests_per_second']:.0f}",
                    *(f"{late[name]:.3f}" for name in ("p50", "p99", "p999", "max")),
                    f"{cost.cpu_seconds / cost.wall_seconds:.2f}",
                    "reached" if late["p99"] < 1 else "**missed**",
                )
            )
    headings = ["sent/s", "p50 ms", "p99", "p99.9", "max", "CPUs used", "p99 < 1 ms"]
    return "### Send lag at 20,000/s, open model\n\n" + table(headings, rows)


def truth(settings):
    """Reported quantiles compared with the server's actual delays."""
    text = ["### Reported latency compared with the server's, 1,000/s offered, open model\n"]
    text.append("In milliseconds. The difference from what the server recorded in the same run is in parentheses.\n")
    seconds = 10 if settings.quick else 20
    for title, law in LAWS.items():
        rows, truth_row = [], None
        for name, ask in _reporters().items():
            with FixedServer(delay=law) as server:
                reported = ask(server.url, seconds)
            if reported is None:
                settings.say(f"{name}: no figures under {law}")
                continue
            actual = server.report["given"]
            truth_row = truth_row or ("truth", *(f"{actual[q]:.3f}" for q in QUANTILES), "")
            rows.append((name, *(_cell(reported.get(q), actual[q]) for q in QUANTILES), _honest(reported, actual)))
            settings.say(f"{law}: {name} {reported}")
        headings = ["", *QUANTILES, "within 2 % + 0.03 ms"]
        text.append(f"**{title}**\n\n" + table(headings, [truth_row, *rows] if truth_row else rows) + "\n")
    return "\n".join(text)


def _cell(reported, actual):
    return "–" if reported is None else f"{reported:.3f} ({reported - actual:+.3f})"


def _honest(reported, actual):
    """Checks p50, p95 and p99. The maximum is a single sample and is only shown."""
    wrong = [
        q
        for q in ("p50", "p95", "p99")
        if reported.get(q) is not None and abs(reported[q] - actual[q]) > 0.02 * actual[q] + 0.03
    ]
    return "yes" if not wrong else f"**no: {', '.join(wrong)}**"


def _reporters():
    found = {}
    if rivals.find("plimsoll"):
        found["plimsoll http, response time"] = _plimsoll_http
        found["plimsoll run, http_req_response_time"] = _script("plimsoll", "http_req_response_time")
    if rivals.find("k6"):
        found["k6, http_req_duration"] = _script("k6", "http_req_duration")
    if rivals.find("wrk2"):
        found["wrk2"] = _wrk2
    if rivals.find("oha"):
        found["oha --latency-correction"] = _oha
    return found


def _plimsoll_http(url, seconds):
    args = ["http", "--rate", "1000", "-d", f"{seconds}s", "--json", url]
    cost = measure.run([rivals.find("plimsoll"), *args])
    try:
        return json.loads(cost.stdout)["response_time"]
    except (ValueError, KeyError):
        return None


def _script(program, metric):
    def ask(url, seconds):
        with tempfile.TemporaryDirectory(prefix="bench-truth-") as scratch:
            args = ["run", "--quiet", "-e", f"URL={url}", "-e", f"SECONDS={seconds}"]
            args += ["--summary-trend-stats", "p(50),p(95),p(99),max"]
            args += ["--summary-export", "summary.json", SCRIPTS / "rate.js"]
            measure.run(
                [rivals.find(program), *args], cwd=scratch, env={"K6_NO_USAGE_REPORT": "true"}
            )
            try:
                metrics = json.loads((Path(scratch) / "summary.json").read_text())["metrics"]
                values = metrics[metric]
                return {q: values[q if q == "max" else f"p({q[1:]})"] for q in QUANTILES}
            except (OSError, ValueError, KeyError):
                return None

    return ask


def _oha(url, seconds):
    args = ["-z", f"{seconds}s", "-q", "1000", "--latency-correction", "-c", "1100", "--no-tui"]
    cost = measure.run([rivals.find("oha"), *args, "--output-format", "json", url])
    try:
        reported = json.loads(cost.stdout)
        values = {q: reported["latencyPercentiles"][q] * 1e3 for q in ("p50", "p95", "p99")}
        return {**values, "max": reported["summary"]["slowest"] * 1e3}
    except (ValueError, KeyError, TypeError):
        return None


def _wrk2(url, seconds):
    args = ["-t1", "-c1100", f"-d{seconds}s", "-R1000", "--latency", url]
    cost = measure.run([rivals.find("wrk2"), *args])
    units = {"us": 1e-3, "ms": 1.0, "s": 1e3, "m": 6e4}
    found = {}
    for line in cost.stdout.splitlines():
        words = line.split()
        if len(words) == 2 and words[0].endswith("%"):
            name = {"50.000%": "p50", "99.000%": "p99", "100.000%": "max"}.get(words[0])
            number = words[1].rstrip("msu")
            if name:
                found[name] = float(number) * units[words[1][len(number) :]]
    return found or None
