#!/usr/bin/env python3
"""Checks that `plimsoll link` adds only the configured delay and the line's own queueing.

    bench/link.py                       every cell (6 minutes)
    bench/link.py --seconds 3           a quick look (2 minutes)
    bench/link.py --paths delay rate --patterns 200 burst

Each cell makes exchanges of one request and one response through the relay, each on a new connection, and some directly. An
exchange through the relay should take as long as a direct one, plus the configured delay, plus the time that the line needs
for the messages before it (a first-in, first-out queue, computed from the times at which messages enter it). The deviation
from this time, in either direction, must be at most 0.2 ms at the median and 1 ms at p99. The number of lost messages must
match the configuration within five standard deviations. Prints a Markdown table; the exit status is 1 if a cell exceeds a
bound.

As root, it runs in its own network namespace with more local ports than usual. A closed connection holds a port for a
minute, and if the kernel has few free ports left, each connect takes longer, which is not the relay's delay.

The relay has one processor, and the client and server share another. The relay uses real-time priority if that is
permitted. The client and server use it only with --real-time; without it, other programs add to the measured times.

A virtual machine is not quiet even if nothing else runs in it: its host takes processors away for milliseconds. A
thread of higher priority on both processors records these pauses (bench/src/pauses.rs; Linux, root). Exchanges during a
pause, and those in a burst after a pause, are not judged but counted in a separate column. A cell is not judged if less
than half of its exchanges remain.

paths: delay, rate (and delay), jitter (and rate), loss (and jitter)
patterns: 1, 20, 200 and 2000 new connections per second; burst: 1,000 at once, ten times
"""

import argparse
import json
import math
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import rivals  # noqa: E402
from harness.tables import table  # noqa: E402

ROUND_TRIP = "26.4ms"
RATE_MBITS = 50
JITTER = "0.5ms"
LOSS = 0.01
MEDIAN_MS, P99_MS = 0.2, 1.0
PATHS = ["delay", "rate", "jitter", "loss"]
PATTERNS = ["1", "20", "200", "2000", "burst"]
RELAY_CPU, MEASURING_CPU = 1, 0
# Set if this process already has its network namespace.
OWN_NETWORK = "PLIMSOLL_BENCH_OWN_NETWORK"
LOCAL_PORTS = "2000 65000"
REAL_TIME = 10
HEADINGS = [
    "path, new connections",
    "exchanges",
    "unfinished",
    "lost messages",
    "direct p50, ms",
    "excess p50, ms",
    "excess p99, ms",
    "highest, ms",
    "pauses of the machine",
    "exchanges during pauses",
    "",
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, help="length of each cell (default 60 at 1/s, 10 otherwise)")
    parser.add_argument("--paths", nargs="+", choices=PATHS, default=PATHS)
    parser.add_argument("--patterns", nargs="+", choices=PATTERNS, default=PATTERNS)
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument(
        "--real-time",
        action="store_true",
        help="give the client and server real-time priority too, for a machine that is not idle (Linux, root)",
    )
    parser.add_argument("--no-build", action="store_true", help="use the programs already built")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    args = parser.parse_args()
    rivals.use_profile(args.profile)
    if not args.no_build:
        build = ["cargo", "build", "--quiet", "--profile", args.profile]
        subprocess.run(
            [*build, "-p", "plimsoll", "-p", "plimsoll-bench", "--bins"], cwd=rivals.ROOT, check=True
        )
    use_own_network()
    rows, missed = [], 0
    for pattern in args.patterns:
        for row, is_missed in cells(args, pattern):
            missed += is_missed
            rows.append(row)
            print(" · ".join(row), file=sys.stderr, flush=True)
    title = (
        f"### A link of {ROUND_TRIP}, {RATE_MBITS} Mbit/s, ±{JITTER} and {LOSS:.0%} loss: deviation from the configured delay"
    )
    text = f"{title}\n\n{table(HEADINGS, rows)}\n"
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text)
    sys.exit(1 if missed else 0)


def use_own_network():
    """Starts this script again in a network namespace, if that is permitted."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        return
    if OWN_NETWORK not in os.environ:
        again = ["unshare", "--net", sys.executable, *sys.argv, "--no-build"]
        os.execvpe(again[0], again, os.environ | {OWN_NETWORK: "1"})
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    Path("/proc/sys/net/ipv4/ip_local_port_range").write_text(LOCAL_PORTS)


def cells(args, pattern):
    """The rows of a pattern, and whether each is outside the bounds or could not be judged."""
    priority = REAL_TIME if args.real_time else None
    # At one connection per second, cells do not disturb each other when they run concurrently.
    groups = [args.paths] if pattern == "1" else [[path] for path in args.paths]
    for group in groups:
        running = [Cell(path, pattern, args.seconds, priority) for path in group]
        yield from [cell.end() for cell in running]


class Cell:
    """A relay, and the client and server on both sides of it."""

    def __init__(self, path, pattern, seconds, priority):
        self.path, self.pattern = path, pattern
        if pattern == "burst":
            bursts = 10 if seconds is None else max(1, seconds // 2)
            load = ["--at-once", "1000", "--bursts", str(bursts), "--apart", "2s"]
        else:
            seconds = seconds or (60 if pattern == "1" else 10)
            load = ["--per-second", pattern, "--seconds", str(seconds)]
        relayed, known = ["--round-trip", ROUND_TRIP], ["--round-trip", ROUND_TRIP]
        if os.geteuid() == 0:
            load += ["--watch", f"{MEASURING_CPU},{RELAY_CPU}"]
        level = PATHS.index(path)
        if level >= 1:
            relayed += ["--rate", f"{RATE_MBITS}Mbit/s"]
            known += ["--rate", str(RATE_MBITS * 1_000_000)]
        if level >= 2:
            relayed += ["--jitter", JITTER]
            known += ["--jitter", JITTER]
        if level >= 3:
            relayed += ["--loss", f"{LOSS:.0%}"]
            known += ["--loss", str(LOSS)]
        self.exchanges = start("link-exchanges", [*load, *known], MEASURING_CPU, priority)
        server = self.exchanges.stdout.readline().strip()
        addresses = ["--protocol", "tcp", "--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{server}"]
        self.relay = start("plimsoll", ["link", *addresses, *relayed], RELAY_CPU, priority)
        listening = json.loads(self.relay.stdout.readline())["listening"]
        print(listening.rpartition(":")[2], file=self.exchanges.stdin, flush=True)

    def end(self):
        """Waits for the exchanges; the row, and whether it is outside the bounds or could not be judged."""
        measured = json.loads(self.exchanges.communicate()[0])
        self.relay.terminate()
        self.relay.wait()
        excess, messages, lost = measured["excess_ms"], measured["messages"], measured["lost"]
        expected = messages * LOSS if self.path == "loss" else 0
        problems = []
        if measured["unfinished"]:
            problems.append("unfinished")
        if abs(excess["p50"]) > MEDIAN_MS:
            problems.append("median")
        if abs(excess["p99"]) > P99_MS:
            problems.append("p99")
        if abs(lost - expected) > 5 * math.sqrt(expected * (1 - LOSS)):
            problems.append("loss")
        disturbed = measured["during_pauses"]
        if 2 * disturbed > measured["exchanges"]:
            verdict = "not judged"
        else:
            verdict = f"**missed: {', '.join(problems)}**" if problems else "met"
        name = self.pattern if self.pattern == "burst" else f"{self.pattern}/s"
        row = (
            f"{self.path}, {name}",
            f"{measured['exchanges']:,}",
            f"{measured['unfinished']:,}",
            f"{lost} of {messages:,}",
            f"{measured['direct_ms']['p50']:.3f}",
            f"{excess['p50']:+.3f}",
            f"{excess['p99']:+.3f}",
            f"{excess['max']:+.3f}",
            f"{measured['pauses']} ({measured['paused_ms']:.1f} ms)",
            f"{disturbed:,}",
            verdict,
        )
        return row, verdict != "met"


def start(name, arguments, cpu, priority):
    def place():
        os.sched_setaffinity(0, {cpu})
        if priority:
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))

    program = rivals.find(name)
    if not program:
        sys.exit(f"{name} is not built: leave --no-build out")
    return subprocess.Popen(
        [str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL if name == "plimsoll" else None,
        text=True,
        preexec_fn=place,
    )


if __name__ == "__main__":
    main()
