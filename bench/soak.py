#!/usr/bin/env python3
"""Checks that memory stays constant at full speed.

    bench/soak.py full                               30 minutes of each run, both kernel interfaces (9 hours)
    bench/soak.py full --seconds 600 --io epoll      ten minutes of each run (90 minutes)
    bench/soak.py churn                              every cell, 3 minutes each (3 hours)
    bench/soak.py churn --at-once 4                  four cells at a time (45 minutes)
    bench/soak.py churn --seconds 30                 a quick look
    bench/soak.py users                              10,000 users of a script come and go for an hour
    bench/soak.py churn --protocols h2c grpc --connections new unread --io uring

full: 100 users of http, run, grpc and WebSocket, over persistent and over new connections, against fast servers.
churn: connections come and go. Each cell runs one plimsoll load command with 4 users against one server, and reads the resident
memory of the generator every second.

After the warm-up, a cell passes if the highest memory of the last third of the time is at most 5% or 2 MB above that
of the first third. Prints a Markdown table; the exit status is 1 if a cell fails.

protocols: http1, h2c, h2 (over TLS), http3, grpc, websocket
connections: persistent  one connection per user for the whole run
             new         a new connection for each request
             refused     no process listens on the port
             reset       the server resets each connection (HTTP/3: refuses the version)
             unread      the server sends more than the client reads before it closes
"""

import argparse
import itertools
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import churn, endurance, growth, rivals  # noqa: E402
from harness.tables import table  # noqa: E402

HEADINGS = [
    "protocol, connections, I/O",
    "requests or messages",
    "failed",
    "highest of the first third, MB",
    "of the last third, MB",
    "memory",
]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["churn", "full", "users"])
    parser.add_argument("--seconds", type=int, help="length of each cell (default: churn 180, full 1800, users 3600)")
    parser.add_argument("--warm-up", type=int, default=20, help="seconds not judged (default 20)")
    parser.add_argument("--protocols", nargs="+", choices=churn.PROTOCOLS, default=churn.PROTOCOLS)
    parser.add_argument("--connections", nargs="+", choices=churn.CONNECTIONS, default=churn.CONNECTIONS)
    parser.add_argument("--io", nargs="+", choices=churn.MODES, default=churn.MODES)
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument("--no-build", action="store_true", help="use the programs already built")
    parser.add_argument("--out", type=Path, help="write the table to this file too")
    parser.add_argument(
        "--at-once", type=int, default=1, help="cells that run at the same time and share the CPUs (default 1)"
    )
    args = parser.parse_args()
    args.seconds = args.seconds or {"churn": 180, "full": 1800, "users": 3600}[args.part]
    if args.seconds - args.warm_up < 9:
        parser.error("--seconds must be at least 9 above --warm-up, to have samples to compare")
    rivals.use_profile(args.profile)
    if not args.no_build:
        build = ["cargo", "build", "--quiet", "--profile", args.profile]
        subprocess.run(
            [*build, "-p", "plimsoll", "-p", "plimsoll-bench", "--bins"], cwd=rivals.ROOT, check=True
        )
    if args.part == "full":
        text, failed = endurance.soak(args.seconds, args.io, args.at_once)
    elif args.part == "users":
        text, failed = growth.come_and_go(args.seconds)
    else:
        text, failed = churn_soak(args)
    print(text)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text)
    sys.exit(1 if failed else 0)


def churn_soak(args):
    """The table of all cells, and how many of them failed."""
    cells = list(itertools.product(args.protocols, args.connections, args.io))

    def one(cell):
        result = churn.run(*cell, args.seconds, args.warm_up)
        print(" · ".join(result.row()), file=sys.stderr, flush=True)
        return result

    with ThreadPoolExecutor(args.at_once) as together:
        results = list(together.map(one, cells))
    rows = [result.row() for result in results]
    failed = sum(not result.is_flat for result in results)
    title = f"### Memory while connections come and go: {args.seconds} s per cell, 4 users, {args.warm_up} s warm-up, {args.at_once} at a time"
    return f"{title}\n\n{table(HEADINGS, rows)}\n", failed


if __name__ == "__main__":
    main()
