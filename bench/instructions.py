#!/usr/bin/env python3
"""Counts the instructions that one request costs the generator, and checks them against a budget.

    bench/instructions.py             compare with bench/instructions.json; exit 1 above the budget
    bench/instructions.py --record    write the counts as the new budget

Seconds depend on the machine and its other work; user-space instructions hardly do. Each
case runs twice under valgrind's lackey, with few and with many requests. The difference is
the cost of the requests, without the start of the program. Only the default path, over epoll, is
counted. Callgrind stops with an assertion when a signal arrives on a script's stack, as it does when a user
first changes a page of the heap image (docs/decisions/0015).

Noise only adds instructions: from work that depends on the clock, and from waiting for a server that has
no processor (callgrind counted 24,500 instructions for a script's request on an idle machine, and up to
26,700 while two busy programs ran). So the server shares the generator's processor, where it runs as soon as the
generator waits. If a case is not clearly within its budget, it is counted again, up to a maximum number of
rounds. The round with the fewest instructions counts. --record always counts all rounds.
"""

import argparse
import json
import math
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUDGET = ROOT / "bench" / "instructions.json"
FEW, MANY = 500, 2500
MAX_ROUNDS = 6
# Stop after a round with at most this increase.
CLOSE = 0.05
# Tolerated increase. The number of times that the generator waits for the server, and so calls
# the kernel, varies between runs.
TOLERANCE = 0.10

# For each name, the server, and the command that sends this number of requests to it.
CASES = {
    "plimsoll http": ("fixed-server", lambda url, count: _http(url, count)),
    "plimsoll http over HTTP/2": ("http2-fixed", lambda url, count: _http(url, count, "--h2c")),
    "get and one check": ("fixed-server", lambda url, count: _script("simple.js", count)),
    "get and one check over HTTP/2": (
        "http2-fixed",
        lambda url, count: _script("simple.js", count, "--protocol", "h2c"),
    ),
    "larger script": ("fixed-server", lambda url, count: _script("larger.js", count)),
}


def _http(url, count, *flags):
    return ["http", "-q", "-c", "10", "-n", str(count), "-d", "10m", *flags, url]


def _script(name, count, *flags):
    scripts = ROOT / "bench" / "scripts"
    return ["run", "-q", "--vus", "10", "--iterations", str(count), *flags, str(scripts / name)]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true", help="write the measured values as the new budget")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are already built")
    args = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("valgrind is not installed; on Debian: apt-get install valgrind")
    if not args.no_build:
        # The other features take minutes to build, and no counted request uses them. For the same reason, this profile only
        # optimizes the crates that a counted request runs.
        build = ["cargo", "build", "--quiet", "--profile", "quick", "--no-default-features"]
        build += ["--features", "plimsoll/scripts", "-p", "plimsoll", "-p", "plimsoll-bench", "--bins"]
        subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / "quick"
    budget = json.loads(BUDGET.read_text())
    servers, urls = [], {}
    try:
        for name in sorted({server for server, _ in CASES.values()}):
            command = [target / name, "--port", "0"]
            server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=_pin)
            servers.append(server)
            urls[name] = _address(server.stdout.readline())
        counted = {}
        for name, (server, case) in CASES.items():
            goal = 0 if args.record else budget[name] * (1 + CLOSE)
            counted[name] = count(target / "plimsoll", case, urls[server], goal)
    finally:
        for server in servers:
            server.kill()
    if args.record:
        BUDGET.write_text(json.dumps(counted, indent=2) + "\n")
        budget = counted
    over = False
    print("| case | instructions per request | budget | |\n|---|---:|---:|---|")
    for name, instructions in counted.items():
        change = instructions / budget[name] - 1
        over |= change > TOLERANCE
        verdict = "**too many**" if change > TOLERANCE else "within"
        if change < -TOLERANCE:
            verdict = "fewer: record it with bench/instructions.py --record"
        print(f"| {name} | {instructions:,} | {budget[name]:,} | {change:+.1%}, {verdict} |")
    if over:
        sys.exit(
            f"a request costs over {TOLERANCE:.0%} more instructions than recorded in {BUDGET.name}. Find the reason "
            "with `valgrind --tool=callgrind`, or record the new figure with --record and explain why it is worth it"
        )


def _address(line):
    found = re.search(r"http://[^\s\"]+", line) or re.search(r"(\d+\.\d+\.\d+\.\d+:\d+)", line)
    if not found:
        sys.exit(f"the fixed-response server printed {line!r} instead of its address")
    address = found.group(0)
    return address if address.startswith("http") else f"http://{address}/"


def count(program, case, url, goal):
    """Instructions per request: the slope between a short run and a long run. Stops early at `goal`."""

    def slope():
        few, many = (_instructions([program, *case(url, number)], url) for number in (FEW, MANY))
        return (many - few) / (MANY - FEW)

    least = math.inf
    for _ in range(MAX_ROUNDS):
        least = min(least, slope())
        if least <= goal:
            break
    return round(least)


def _pin():
    """Pins a process to the processor on which everything runs."""
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def _instructions(command, url):
    ran = subprocess.run(
        ["valgrind", "--tool=lackey", "--basic-counts=yes", *map(str, command)],
        capture_output=True,
        text=True,
        timeout=300,
        preexec_fn=_pin,
        env={**os.environ, "URL": url, "NO_COLOR": "1"},
    )
    found = re.search(r"guest instrs: +([\d,]+)", ran.stderr)
    if ran.returncode != 0 or not found:
        sys.exit(f"{' '.join(map(str, command))} ended with {ran.returncode}:\n{ran.stderr[-2000:]}")
    return int(found.group(1).replace(",", ""))


if __name__ == "__main__":
    main()
