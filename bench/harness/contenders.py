"""How to run each generator with the same load, and how to read its results."""

import json
import re
import subprocess
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from . import measure, rivals

SCRIPTS = rivals.BENCH / "scripts"


@dataclass(frozen=True)
class Contender:
    """One row of a table: a program, its arguments, and its own count of requests."""

    name: str
    program: str
    arguments: Callable  # (url, connections, seconds, scratch folder) -> list
    requests: Callable  # (Cost, scratch folder) -> int
    env: dict = field(default_factory=dict)

    def available(self):
        return rivals.find(self.program) is not None

    def run(self, url, connections, seconds, env=None, **options):
        """Runs once and returns (requests, Cost). A failed run returns no requests."""
        with tempfile.TemporaryDirectory(prefix="bench-run-") as scratch:
            arguments = self.arguments(url, connections, seconds, scratch)
            cost = measure.run(
                [rivals.find(self.program), *arguments],
                env={"K6_NO_USAGE_REPORT": "true", **self.env, **(env or {})},
                cwd=scratch,
                timeout=seconds * 4 + 60,
                **options,
            )
            try:
                return self.requests(cost, scratch), cost
            except (ValueError, KeyError, TypeError, AttributeError, IndexError, OSError):
                return 0, cost


def _number(pattern):
    return lambda cost, _: int(re.search(pattern, cost.stdout).group(1))


def _json(*path):
    def read(cost, _):
        value = json.loads(cost.stdout)
        for key in path:
            value = value[key]
        return int(value)

    return read


def exported_requests(_, scratch):
    return json.loads((Path(scratch) / "summary.json").read_text())["metrics"]["http_reqs"]["count"]


def script(name, program, file, flags=(), env=None):
    """A k6 script, run by k6 or by Plimsoll, which accept the same arguments."""
    return Contender(
        name,
        program,
        lambda url, connections, seconds, scratch: [
            *("run", "--quiet", "--summary-export", "summary.json"),
            *("--vus", connections, "--duration", f"{seconds}s", "-e", f"URL={url}"),
            *("--insecure-skip-tls-verify", *flags, SCRIPTS / file),
        ],
        exported_requests,
        env or {},
    )


def plimsoll_http(name="plimsoll http", flags=()):
    return Contender(
        name,
        "plimsoll",
        lambda url, connections, seconds, _: [
            *("http", "-c", connections, "-d", f"{seconds}s", "--json", *flags, url)
        ],
        _json("requests"),
    )


def _attack_flags(url, connections, seconds, scratch):
    """A closed loop on a list of one target; vegeta and Plimsoll have the same flags."""
    targets = Path(scratch) / "targets.txt"
    targets.write_text(f"GET {url}\n")
    workers = f"-max-workers={connections}"
    return ["attack", "-rate=0", workers, f"-duration={seconds}s", f"-targets={targets}"]


def plimsoll_attack(name, flags):
    """attack prints the outcome of the run in addition to its results."""
    return Contender(
        name,
        "plimsoll",
        lambda *how: [*_attack_flags(*how), *flags],
        _json("requests"),
    )


def bare(*flags):
    """The upper limit: an epoll loop that sends fixed bytes and parses nothing."""
    return Contender(
        "bare epoll loop",
        "bare-client",
        lambda url, connections, seconds, _: [
            *("--port", re.search(r":(\d+)/", url).group(1)),
            *("--connections", connections, "--seconds", seconds, *flags),
        ],
        _json("requests"),
    )


def _reported(_, scratch):
    report = [rivals.find("vegeta"), "report", "-type=json", "results.bin"]
    printed = subprocess.run(report, cwd=scratch, capture_output=True, text=True, check=True)
    return int(json.loads(printed.stdout)["requests"])


VEGETA = Contender(
    "vegeta",
    "vegeta",
    lambda url, connections, *how: [
        *_attack_flags(url, connections, *how),
        *("-output=results.bin", f"-workers={connections}"),
    ],
    _reported,
)
BARE = bare()
WRK = Contender(
    "wrk",
    "wrk",
    lambda url, connections, seconds, _: ["-t1", f"-c{connections}", f"-d{seconds}s", url],
    _number(r"(\d+) requests in"),
)


def h2load(name, flags):
    return Contender(
        name,
        "h2load",
        lambda url, connections, seconds, _: [
            *("-t1", "-c", connections, "-m1", "-D", seconds, *flags, url)
        ],
        _number(r"(\d+) succeeded"),
    )


OHA = Contender(
    "oha",
    "oha",
    lambda url, connections, seconds, _: [
        *("-z", f"{seconds}s", "-c", connections, "--no-tui", "--insecure"),
        *("--output-format", "json", url),
    ],
    lambda cost, _: sum(json.loads(cost.stdout)["statusCodeDistribution"].values()),
)
FORTIO = Contender(
    "fortio",
    "fortio",
    lambda url, connections, seconds, _: [
        *("load", "-quiet", "-qps", 0, "-c", connections, "-t", f"{seconds}s", "-k"),
        *("-json", "-", url),
    ],
    _json("DurationHistogram", "Count"),
)
HEY = Contender(
    "hey",
    "hey",
    lambda url, connections, seconds, _: ["-z", f"{seconds}s", "-c", connections, url],
    lambda cost, _: sum(map(int, re.findall(r"\[\d+\]\s+(\d+) responses", cost.stdout))),
)
