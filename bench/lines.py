#!/usr/bin/env python3
"""Counts the user-space cache lines that a request touches, by the kind of memory that they belong to.

    bench/lines.py                    all cases, with 10 and 50 users
    bench/lines.py --users 10 500     with other numbers of users
    bench/lines.py --case "get and one check"

Users of a script are counted in both modes: with separate runtimes, and with an image of the heap (docs/decisions/0015).

In a round, every user sends one request. The generator then touches some lines that all users share (code,
constants, tables) and some that only one user needs. With more users, only the second kind grows, so counts for two numbers
of users separate the kinds. A line costs almost nothing if a round fits into the cache, and up to 100 ns if it was evicted.

Runs plimsoll under valgrind's lackey, on one processor with its server, which takes about a minute for each case, mode and
number of users.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from instructions import CASES, ROOT, _address, _pin  # noqa: E402

# crates/quickjs/src/fiber.rs, STACK_SIZE
SCRIPT_STACK = 256 * 1024
# The modes in which users of a script can start.
MODES = {"own runtimes": "off", "image": "on"}
# Kinds with fewer lines than this in a request are one row.
MIN_LINES = 3


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--users", nargs=2, type=int, default=[10, 50], help="two numbers of users (default 10 50)")
    parser.add_argument("--case", nargs="+", choices=list(CASES), default=list(CASES), help="only these cases")
    parser.add_argument("--skip", type=int, default=8, help="rounds before the count begins (default 8)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds counted (default 5)")
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument("--no-build", action="store_true", help="use the programs that are already built")
    args = parser.parse_args()
    for name in ("valgrind", "nm"):
        if not shutil.which(name):
            sys.exit(f"{name} is not installed; on Debian: apt-get install valgrind binutils")
    if not args.no_build:
        build = ["cargo", "build", "--quiet", "--profile", args.profile, "-p", "plimsoll", "-p", "plimsoll-bench", "--bins"]
        subprocess.run(build, cwd=ROOT, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")) / args.profile
    for name in args.case:
        server, case = CASES[name]
        modes = {None: "off"} if name.startswith("plimsoll http") else MODES
        process = subprocess.Popen([target / server, "--port", "0"], stdout=subprocess.PIPE, text=True, preexec_fn=_pin)
        try:
            url = _address(process.stdout.readline())
            for mode, image in modes.items():
                counted = [count(target, case, url, users, args, image) for users in args.users]
                print(table(f"{name}, {mode}" if mode else name, args.users, counted), flush=True)
        finally:
            process.kill()


def count(target, case, url, users, args, image):
    """The lines of a round of all users, by kind."""
    requests = users * (args.skip + args.rounds + 4)
    arguments = [str(part) for part in case(url, requests)]
    # The cases are written for ten users.
    for flag in ("-c", "--vus"):
        if flag in arguments:
            arguments[arguments.index(flag) + 1] = str(users)
    command = [target / "touched-lines", "--program", target / "plimsoll", "--script-stack", SCRIPT_STACK]
    command += ["--window", users, "--skip", args.skip, "--windows", args.rounds, "--", *arguments]
    ran = subprocess.run(
        [str(part) for part in command],
        capture_output=True,
        text=True,
        timeout=1800,
        preexec_fn=_pin,
        env={**os.environ, "URL": url, "NO_COLOR": "1", "PLIMSOLL_IMAGE": image},
    )
    if ran.returncode != 0:
        sys.exit(f"touched-lines ended with {ran.returncode}:\n{ran.stderr[-2000:]}")
    return json.loads(ran.stdout)


def table(name, users, counted):
    few, many = users
    rows, rest = [], [0.0, 0.0]
    for kind in dict.fromkeys([*counted[0], *counted[1]]):
        first, second = (found.get(kind, 0.0) for found in counted)
        own = (second - first) / (many - few)
        shared = first - few * own
        if own < MIN_LINES and shared < 10 * MIN_LINES:
            rest = [rest[0] + shared, rest[1] + own]
        else:
            rows.append((kind, shared, own))
    rows.sort(key=lambda row: -row[2])
    rows.append(("others", *rest))
    rows.append(("**all**", sum(row[1] for row in rows), sum(row[2] for row in rows)))
    lines = [f"### {name}", "", f"| kind | shared by all users | of each user | in a round of {many} |", "|---|---:|---:|---:|"]
    for kind, shared, own in rows:
        lines.append(f"| {kind} | {shared:,.0f} | {own:,.1f} | {shared + own * many:,.0f} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
