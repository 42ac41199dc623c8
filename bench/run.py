#!/usr/bin/env python3
"""Compares Plimsoll with other load generators and prints Markdown tables.

    bench/run.py                     every part, about an hour and a half
    bench/run.py http1 tls           some parts
    bench/run.py --quick             each part short, to see that it works

The server runs on CPU 0 and the generator on CPU 1; keep the machine otherwise idle. Missing
rivals are installed from their packages first, into bench/.rivals where the package allows it.
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
    parser.add_argument("--no-build", action="store_true", help="take what is already built")
    parser.add_argument("--out", type=Path, help="write the tables to this file too")
    told = parser.parse_args()
    for part in told.parts:
        if part not in PARTS:
            parser.error(f"there is no part `{part}`; there are {', '.join(PARTS)}")
    settings = Settings(
        rounds=told.rounds or (1 if told.quick else 6),
        seconds=told.seconds or (2 if told.quick else 8),
        think_seconds=4 if told.quick else 15,
        quick=told.quick,
    )
    rivals.use_profile(told.profile)
    if not told.no_build:
        settings.say("building ours")
        rivals.build_ours(told.profile, settings.say)
    chosen = told.parts or list(PARTS)
    needed = dict.fromkeys(name for part in chosen for name in PARTS[part][1])
    rivals.install_missing(needed, settings.say)
    for name in ("plimsoll", "wrk2"):
        if not rivals.find(name):
            settings.say(f"!!! {name} is not here: IT IS LEFT OUT of every table")
    texts = [f"Measured on {_machine()}; server on CPU 0, generator on CPU 1.\n"]
    for part in chosen:
        settings.say(f"== {part}")
        texts.append(PARTS[part][0](settings))
    result = "\n\n".join(texts) + "\n"
    print(result)
    if told.out:
        told.out.parent.mkdir(parents=True, exist_ok=True)
        told.out.write_text(result)


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
