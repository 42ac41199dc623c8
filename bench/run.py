#!/usr/bin/env python3
"""Compares Plimsoll with other load generators and prints Markdown tables.

    bench/run.py                     every part, about an hour and a half
    bench/run.py http1 tls           some parts
    bench/run.py --quick             each part in short form, to check that it works

The server runs on CPU 0 and the generator on CPU 1; keep the machine otherwise idle. Missing
tools are first installed from their packages, into bench/.rivals if the package allows it.
"""

import argparse
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import (  # noqa: E402
    grpc,
    growth,
    limit,
    open_model,
    rivals,
    throughput,
    users,
    websocket,
    wire,
)

PARTS = {
    "http1": (throughput.http1, ["wrk", "h2load", "oha", "fortio", "hey", "k6"]),
    "attack": (throughput.attack, ["wrk", "vegeta"]),
    "tls": (throughput.tls, ["nginx", "wrk", "oha", "fortio", "k6"]),
    "http2": (throughput.http2, ["nginx", "h2load", "k6"]),
    "grpc": (grpc.grpc, ["ghz", "k6"]),
    "websocket": (websocket.websocket, ["k6"]),
    "memory": (users.memory, ["k6"]),
    "startup": (users.startup, ["k6"]),
    "libraries": (growth.libraries, ["k6"]),
    "crowd": (growth.crowd, []),
    "users": (growth.requests, ["wrk", "k6"]),
    "lag": (open_model.lag, []),
    "truth": (open_model.truth, ["k6", "oha"]),
    "wire": (wire.wire, ["iperf3"]),
    "link": (wire.link, []),
    "find": (limit.find, []),
}


@dataclass
class Settings:
    rounds: int
    seconds: int
    think_seconds: int
    quick: bool

    @staticmethod
    def say(text):
        print(text, file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", help=f"any of: {', '.join(PARTS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="one short round of each")
    parser.add_argument("--rounds", type=int, help="rounds of each comparison (default 6)")
    parser.add_argument("--seconds", type=int, help="seconds of one run (default 8)")
    parser.add_argument("--profile", default="dist", help="Cargo profile of our programs (default dist)")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are already built")
    parser.add_argument("--out", type=Path, help="write the tables to this file too")
    args = parser.parse_args()
    for part in args.parts:
        if part not in PARTS:
            parser.error(f"unknown part `{part}`; the parts are {', '.join(PARTS)}")
    settings = Settings(
        rounds=args.rounds or (1 if args.quick else 6),
        seconds=args.seconds or (2 if args.quick else 8),
        think_seconds=4 if args.quick else 15,
        quick=args.quick,
    )
    rivals.use_profile(args.profile)
    if not args.no_build:
        settings.say("building ours")
        rivals.build_ours(args.profile, settings.say)
    chosen = args.parts or list(PARTS)
    needed = dict.fromkeys(name for part in chosen for name in PARTS[part][1])
    rivals.install_missing(needed, settings.say)
    for name in ("plimsoll", "wrk2"):
        if not rivals.find(name):
            settings.say(f"!!! {name} is not installed: IT IS LEFT OUT of every table")
    texts = [f"Measured on {_machine()}; server on CPU 0, generator on CPU 1.\n"]
    for part in chosen:
        settings.say(f"== {part}")
        texts.append(PARTS[part][0](settings))
    result = "\n\n".join(texts) + "\n"
    print(result)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(result)


def _machine():
    model = next(
        (
            line.split(":", 1)[1].strip()
            for line in Path("/proc/cpuinfo").read_text().splitlines()
            if line.startswith("model name")
        ),
        platform.machine(),
    )
    return f"{model}, Linux {platform.release()}"


if __name__ == "__main__":
    main()
