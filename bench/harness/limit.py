"""Compares the limit that `plimsoll find` reports with the capacity that a server has by construction."""

import json

from . import measure, rivals
from .servers import FixedServer
from .tables import table

# Each capacity: the server's argument, its description, requests per second, and the first rate of the search.
SERVERS = (
    ("rate=2000/s", "a token bucket, 2,000/s", 2_000.0, 500),
    ("pool=8x5ms", "8 workers of 5 ms", 1_600.0, 400),
)
WANTED = 0.05


def find(settings):
    rows = []
    trial, soak = ("1s", "2s") if settings.quick else ("2s", "8s")
    for capacity, words, truth, start in SERVERS:
        with FixedServer(capacity=capacity) as server:
            args = ["find", "--objective", "p95<50ms", "--trial", trial, "--soak", soak]
            args += ["--repeats", "2", "--start", str(start), "--json", "--"]
            cost = measure.run([rivals.find("plimsoll"), *args, "http", "-c", "100", server.url])
        try:
            result = json.loads(cost.stdout)
        except ValueError:
            settings.say(f"{words}: no result: {cost.stderr[-300:]}")
            continue
        settings.say(f"{words}: {result['answer']}")
        kept, broken = result["kept"], result["broken"]
        errors = [None if rate is None else rate / truth - 1 for rate in (kept, broken)]
        near = all(error is not None and abs(error) <= WANTED for error in errors)
        rows.append(
            (
                words,
                f"{truth:,.0f}",
                *(_rate(rate, error) for rate, error in zip((kept, broken), errors)),
                "yes" if result["confirmed"] else "no",
                len(result["trials"]),
                f"{cost.wall_seconds:.0f}",
                "reached" if near and result["confirmed"] else "**missed**",
            )
        )
    headings = [
        "server",
        "capacity/s",
        "met/s",
        "no longer met/s",
        "soaked",
        "trials",
        "seconds",
        "both within 5 %",
    ]
    title = "### The limit found, compared with the known capacity\n\n"
    return title + table(headings, rows)


def _rate(rate, error):
    return "–" if rate is None else f"{rate:,} ({error:+.1%})"
