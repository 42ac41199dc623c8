#!/usr/bin/env python3
"""Checks the times at which requests leave against the arrival process that was requested.

    bench/arrivals.py                     every process at 1,000/s and 20,000/s, 5 s each
    bench/arrivals.py --rates 1000        one rate
    bench/arrivals.py --out FILE          write the table to a file too

The kernel stamps each request on the loopback interface when it is sent; the stamps are read after the run, so that reading
them disturbs nothing. Needs root. The gaps between requests are mapped to values that are uniform between 0 and 1 if the
process is the requested one. The table has the statistic of Anderson and Darling for the first 2,000 gaps and for all
(above 6.0, chance explains the deviation in one of 1,000 cases), the largest distance between both distribution functions,
and the correlation of gaps with the first, second and third after them (within ±4/√n of 0 if they are independent). The exit
status is 1 if a value at 1,000/s is outside, or if the number of requests is not the requested one.

At 20,000/s the mean gap is 50 µs. A generator that wakes up late by a few of these microseconds deviates measurably in 100,000
gaps; the distance shows how much that is.
"""

import argparse
import ctypes
import math
import os
import random
import socket
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import rivals  # noqa: E402
from harness.tables import table  # noqa: E402

REJECTED = 6.0
SECONDS = 5
ON, OFF = 0.2, 0.8
# Linux's numbers, which Python does not have.
SO_ATTACH_FILTER, SO_RCVBUFFORCE, SO_TIMESTAMPNS = 26, 33, 35
PACKET_STATISTICS, SOL_PACKET, OUTGOING = 6, 263, 4
# Sockets for one protocol see no packets that leave.
ALL = 3
SNAP = 96


class Capture:
    """The packets that leave for a TCP port on the loopback interface, with the kernel's time of each."""

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
        """The times of packets with a request, in seconds, and how many packets were lost here."""
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


def correlation(values, lag):
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values)
    pairs = zip(values, values[lag:])
    return sum((a - mean) * (b - mean) for a, b in pairs) / variance


def uniform(process, gap, rate):
    """The share of gaps that are shorter, if the process is the requested one."""
    if process == "gamma:0.5":
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


def trace(folder, rate):
    """A Poisson process as a file of times."""
    chance, at, lines = random.Random(5), 0.0, []
    while at < SECONDS:
        lines.append(f"{at:.9f}")
        at += chance.expovariate(rate)
    path = Path(folder) / "times.txt"
    path.write_text("\n".join(lines))
    return f"trace:{path}", len(lines)


def measure(plimsoll, server, process, rate, folder):
    with subprocess.Popen([server], stdout=subprocess.PIPE, text=True) as running:
        port = int(running.stdout.readline().rsplit(":", 1)[1])
        capture = Capture(port)
        expected, flags = rate * SECONDS, ["--rate", str(rate), "--duration", f"{SECONDS}s"]
        arrivals = process
        if process == "trace":
            arrivals, expected = trace(folder, rate)
            flags = []
        command = [plimsoll, "http", f"http://127.0.0.1:{port}/", "--json", "--users", "50"]
        command += [*flags, "--arrivals", arrivals]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        times, lost = capture.sent()
        running.terminate()
    # The first request only checks that the server responds.
    times = times[len(times) - expected:] if len(times) == expected + 1 else times
    gaps = gaps_of(process, times)
    shares = [uniform(process, gap, rate) for gap in gaps]
    few = anderson_darling(shares[:2000])
    bound = 4 / math.sqrt(len(gaps))
    correlations = [correlation(gaps, lag) for lag in (1, 2, 3)]
    is_good = (
        len(times) == expected
        and few < REJECTED
        and all(abs(value) < bound for value in correlations)
    )
    row = [
        process,
        f"{rate:,}/s",
        f"{len(times):,} of {expected:,}",
        lost,
        f"{few:.1f}",
        f"{anderson_darling(shares):.1f}",
        f"{distance(shares):.4f}",
        ", ".join(f"{value:+.3f}" for value in correlations),
        f"±{bound:.3f}",
    ]
    return row, is_good


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rates", type=int, nargs="+", default=[1000, 20000])
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument("--out", type=Path, help="file for the table")
    args = parser.parse_args()
    if os.geteuid() != 0:
        sys.exit("reading the packets of an interface needs root")
    rivals.use_profile(args.profile)
    plimsoll, server = (
        rivals.find(name) or sys.exit(f"build {name} first, with the profile {args.profile}")
        for name in ("plimsoll", "fixed-server")
    )
    rows, bad = [], 0
    with tempfile.TemporaryDirectory() as folder:
        for rate in args.rates:
            for process in ("poisson", "gamma:0.5", f"on-off:{ON}s/{OFF}s", "trace"):
                row, is_good = measure(plimsoll, server, process, rate, folder)
                rows.append(row)
                bad += rate <= 1000 and not is_good
                print(f"{process} at {rate}/s is done", file=sys.stderr)
    headings = [
        "process", "rate", "requests", "lost", "A² of 2,000", "A² of all", "distance", "correlations", "bound",
    ]
    text = table(headings, rows)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
