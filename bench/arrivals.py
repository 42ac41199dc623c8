#!/usr/bin/env python3
"""Checks whether the times at which requests are sent follow the requested arrival process.

    bench/arrivals.py                     every process at 1,000/s and 20,000/s, five runs of 5 s each: five minutes
    bench/arrivals.py --rates 1000        one rate
    bench/arrivals.py --out FILE          write the table to a file too

The kernel timestamps each request on the loopback interface when it is sent. The timestamps are read after the run, so reading
them does not disturb it. Needs root. The gaps between requests are mapped to shares that are uniform between 0 and 1 if the
process is the requested one. Each run has different random numbers. The table has the median and the range of the runs:

* A² is the Anderson–Darling statistic for 2,000 gaps in eight parts of the run. By chance, one in 1,000 cases exceeds 6.0.
* The distance is the largest difference between the two distribution functions, for all gaps. By chance, one in 1,000 cases
  exceeds 1.95/√n: 0.028 for 5,000 gaps and 0.006 for 100,000.
* The correlation is the largest of the correlations of a gap's share with those of the first, second and third gap after it.
  By chance, one in 1,000 cases exceeds 3.6/√n: 0.051 for 5,000 gaps and 0.011 for 100,000.

The exit status is 1 if requests are missing, or if one of the runs at 1,000/s deviates by more than chance does in one of
100,000 cases. At 20,000/s the mean gap is 50 µs. A generator that wakes up a few microseconds late deviates
measurably in 100,000 gaps; the distance shows by how much.
"""

import argparse
import ctypes
import math
import json
import os
import random
import socket
import struct
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import measure, rivals  # noqa: E402
from harness.servers import FixedServer  # noqa: E402
from harness.tables import spread, table  # noqa: E402

# By chance, one in 1,000 cases exceeds the first value, and one in 100,000 the second.
UNLIKELY, REJECTED = 6.0, 10.3
# The same for a correlation, in standard deviations: one in 150,000 cases exceeds it.
CORRELATED = 4.5
SECONDS = 5
ON, OFF = 0.2, 0.8
# Linux constants that Python does not define.
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
PACKET_STATISTICS, SOL_PACKET, OUTGOING = 6, 263, 4
# Sockets for a single protocol do not see outgoing packets.
ALL = 3
SNAP = 96


class Capture:
    """The packets that are sent to a TCP port on the loopback interface, with the kernel's timestamps."""

    def __init__(self, port):
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL))
        program = [
            (0x28, 0, 0, 12), (0x15, 0, 8, 0x0800),  # IPv4
            (0x30, 0, 0, 0xFFFFF004), (0x15, 0, 6, OUTGOING),  # each packet once
            (0x30, 0, 0, 23), (0x15, 0, 4, 6),  # TCP
            (0xB1, 0, 0, 14), (0x48, 0, 0, 16), (0x15, 0, 1, port),  # to this port
            (0x06, 0, 0, SNAP), (0x06, 0, 0, 0),
        ]
        code = b"".join(struct.pack("HBBI", *line) for line in program)
        memory = ctypes.create_string_buffer(code)
        header = struct.pack("HL", len(program), ctypes.addressof(memory))
        self.socket.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, header)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
        self.socket.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 30)
        self.socket.bind(("lo", 0))

    def sent(self):
        """The times of packets with a request, in seconds, and the number of packets that this script missed."""
        times = []
        self.socket.setblocking(False)
        while True:
            try:
                packet, control, _, _ = self.socket.recvmsg(SNAP, 64)
            except BlockingIOError:
                break
            length = (packet[14] & 15) * 4
            if packet[14 + length + 20:].find(b"HTTP/1.1") < 0 and b"GET " not in packet:
                continue
            seconds, nanos = struct.unpack("ll", control[0][2][:16])
            times.append(seconds + nanos / 1e9)
        statistics = self.socket.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8)
        return sorted(times), struct.unpack("II", statistics)[1]


def anderson_darling(values):
    values = sorted(min(max(value, 1e-12), 1 - 1e-12) for value in values)
    n = len(values)
    total = sum(
        (2 * i + 1) * (math.log(values[i]) + math.log(1 - values[n - 1 - i])) for i in range(n)
    )
    return -n - total / n


def distance(values):
    values = sorted(values)
    n = len(values)
    return max(max(value - i / n, (i + 1) / n - value) for i, value in enumerate(values))


def correlation(shares):
    """The largest correlation of a share with one of the next three."""
    found = []
    for lag in (1, 2, 3):
        pairs = list(zip(shares, shares[lag:]))
        found.append(12 * sum((a - 0.5) * (b - 0.5) for a, b in pairs) / len(pairs))
    return max(found, key=abs)


def share(process, gap, rate):
    """The share of gaps that are shorter, if the process is the requested one."""
    if process.startswith("gamma:0.5"):
        return math.erf(math.sqrt(gap * rate / 2))
    return 1 - math.exp(-gap * rate)


def gaps_of(process, times):
    if process.startswith("on-off"):
        # Without the pauses, the arrivals are a Poisson process.
        start = times[0]
        cycle = ON + OFF
        times = [
            (since // cycle) * cycle + min(since % cycle, ON) * cycle / ON
            for since in (at - start for at in times)
        ]
    return [after - before for before, after in zip(times, times[1:])]


def trace(folder, rate, seed):
    """A Poisson process as a file of times."""
    chance, at, lines = random.Random(seed), 0.0, []
    while at < SECONDS:
        lines.append(f"{at:.9f}")
        at += chance.expovariate(rate)
    path = Path(folder) / "times.txt"
    path.write_text("\n".join(lines))
    return f"trace:{path}", len(lines)


def measure_one(process, rate, seed, folder):
    """The times of one run: missing requests, lost stamps, A² of some gaps, distance and correlation of all, verdict."""
    with FixedServer() as server:
        capture = Capture(server.port)
        expected, flags = rate * SECONDS, ["--rate", rate, "--duration", f"{SECONDS}s"]
        arrivals = f"{process}@{seed}"
        if process == "trace":
            arrivals, expected = trace(folder, rate, seed)
            flags = []
        command = [rivals.find("plimsoll"), "http", server.url, "--json", "--users", "50"]
        ended = measure.run([*command, *flags, "--arrivals", arrivals])
        times, lost = capture.sent()
    try:
        verdict = json.loads(ended.stdout)["generator"]["verdict"]
    except (ValueError, KeyError):
        sys.exit(f"plimsoll failed: {ended.stderr[-300:]}")
    # The first request only checks that the server responds.
    times = times[len(times) - expected:] if len(times) == expected + 1 else times
    shares = [share(process, gap, rate) for gap in gaps_of(process, times)]
    parts = [shares[len(shares) * part // 8:][:250] for part in range(8)]
    statistic = anderson_darling(sum(parts, []))
    return expected - len(times), lost, statistic, distance(shares), correlation(shares), verdict


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", type=int, nargs="+", default=[1000, 20000])
    parser.add_argument("--runs", type=int, default=5, help="runs of each process and rate (default 5)")
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument("--out", type=Path, help="file for the table")
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("reading the packets of an interface needs root")
    rivals.use_profile(args.profile)
    if not rivals.find("plimsoll"):
        sys.exit(f"build plimsoll first, with the profile {args.profile}")
    rows, is_bad = [], False
    with tempfile.TemporaryDirectory() as folder:
        for rate in args.rates:
            for process in ("poisson", "gamma:0.5", f"on-off:{ON}s/{OFF}s", "trace"):
                runs = [measure_one(process, rate, seed, folder) for seed in range(1, args.runs + 1)]
                missing, lost, statistics, distances, correlations, verdicts = zip(*runs)
                limit = CORRELATED / math.sqrt(rate * SECONDS)
                deviates = max(statistics) > REJECTED or max(map(abs, correlations)) > limit
                is_bad |= sum(missing) != 0 or rate <= 1000 and deviates
                rows.append([
                    process,
                    f"{rate:,}/s",
                    sum(missing) if sum(lost) == 0 else f"{sum(missing)} ({sum(lost)} stamps lost)",
                    spread(statistics, "{:.1f}"),
                    f"{sum(value < UNLIKELY for value in statistics)} of {len(runs)}",
                    spread(distances, "{:.4f}"),
                    spread(correlations, "{:+.3f}"),
                    f"{verdicts.count('valid')} of {len(runs)}",
                ])
                print(f"{process} at {rate}/s is done", file=sys.stderr)
    headings = [
        "process", "rate", "missing", "A²", "below 6.0", "distance", "correlation", "verdict valid",
    ]
    text = table(headings, rows)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
