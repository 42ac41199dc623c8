#!/usr/bin/env python3
"""Checks the conclusions of a lab on servers with known differences, while other programs run.

    bench/differences.py                  five labs; takes about 11 minutes
    bench/differences.py --labs 1         one lab
    bench/differences.py --out FILE       write the table to a file too

Each lab compares a server that responds after 20 ms with equal ones and with ones that take 3, 10 and 50 % longer, while
two programs of low priority use the processors in random bursts. A Markdown table shows how often each outcome occurred, and
how often the interval of the ratio contains the true ratio. The exit status is 1 if a conclusion is wrong: a difference
between equal times, a longer time that is called shorter, or "no difference larger than x" although the difference is larger.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import rivals  # noqa: E402
from harness.tables import table  # noqa: E402

BASE_MS = 20
# The value of the axis, and the difference in percent.
DIFFERENCES = {"same": 0, "slow3": 3, "slow10": 10, "slow50": 50}
FIGURES = ["latency_p50", "latency_p95"]
OUTCOMES = ["larger", "smaller", "no-difference", "uncertain", "not-measured"]

LAB = """
[lab]
title = "Known differences"
pause = "100ms"

[axes]
build = {builds}

[[variables]]
delay = "{base}ms"
{variables}
[[system]]
name = "server"
command = "{server} --port {{port}} --delay fixed={{delay}}"
ready = {{ http = "/" }}

[[load]]
http = {{ url = "{{server.url}}/" }}
users = 4
warmup = "500ms"
duration = "3s"
restarts = {restarts}

[[compare]]
primary = true
axis = "build"
figures = {figures}
"""

VARIABLE = """
[[variables]]
when = {{ build = "{build}" }}
delay = "{delay}ms"
"""

NOISE = """
import random, time
while True:
    end = time.monotonic() + random.uniform(0.005, 0.3)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0.005, 0.3))
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--labs", type=int, default=5, help="number of labs (default 5)")
    parser.add_argument("--restarts", type=int, default=5, help="restarts of each lab (default 5)")
    parser.add_argument("--noise", type=int, default=2, help="number of other programs (default 2)")
    parser.add_argument("--profile", default="release", help="Cargo profile of the programs (default release)")
    parser.add_argument("--out", type=Path, help="file for the table")
    args = parser.parse_args()
    rivals.use_profile(args.profile)
    plimsoll, server = (
        rivals.find(name) or sys.exit(f"build {name} first, with the profile {args.profile}")
        for name in ("plimsoll", "fixed-server")
    )
    noise = [subprocess.Popen(["nice", sys.executable, "-c", NOISE]) for _ in range(args.noise)]
    found, floors = [], []
    try:
        for number in range(1, args.labs + 1):
            result = run_lab(plimsoll, lab_text(server, args.restarts))
            found += result["comparisons"]
            floors += (result.get("same_cell") or {}).get("floors", [])
            print(f"lab {number} of {args.labs} is done", file=sys.stderr)
    finally:
        for process in noise:
            process.kill()
            process.wait()
    text, is_wrong = conclude(found, floors)
    print(text)
    if args.out:
        args.out.write_text(text + "\n")
    sys.exit(1 if is_wrong else 0)


def lab_text(server, restarts):
    variables = [
        VARIABLE.format(build=build, delay=BASE_MS * (100 + percent) / 100)
        for build, percent in DIFFERENCES.items()
    ]
    return LAB.format(
        builds=json.dumps(["base", *DIFFERENCES]),
        base=BASE_MS,
        variables="".join(variables),
        server=server.resolve(),
        restarts=restarts,
        figures=json.dumps(FIGURES),
    )


def run_lab(plimsoll, text):
    with tempfile.TemporaryDirectory() as folder:
        lab = Path(folder) / "lab.toml"
        lab.write_text(text)
        results = Path(folder) / "results"
        command = [plimsoll.resolve(), "lab", "run", lab, "--results", results]
        ended = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
        written = list(results.glob("*/result.json"))
        if not written:
            sys.exit(f"the lab has no result: {ended.stderr.decode()}")
        return json.loads(written[0].read_text())


def conclude(found, floors):
    """The table, and whether a conclusion is wrong."""
    rows, is_wrong = [], False
    for build, percent in DIFFERENCES.items():
        for figure in FIGURES:
            these = [
                one for one in found if one["cells"][1].endswith(f"build={build}") and one["figure"] == figure
            ]
            outcomes = Counter(one["outcome"] for one in these)
            bounds = [one["at_most"] * 100 for one in these if one["outcome"] == "no-difference"]
            is_wrong |= outcomes["smaller"] > 0 or (percent == 0 and outcomes["larger"] > 0)
            is_wrong |= any(bound < percent for bound in bounds)
            intervals = [one["interval"] for one in these if one.get("interval")]
            true = 1 + percent / 100
            hits = sum(low <= true <= high for low, high in intervals)
            widths = sorted((high - low) / 2 / true * 100 for low, high in intervals)
            middle = f"{widths[len(widths) // 2]:.1f} %" if widths else "–"
            rows.append(
                [f"{percent} %", figure]
                + [outcomes[outcome] or "–" for outcome in OUTCOMES]
                + [f"{hits} of {len(intervals)}", middle]
            )
    head = ["difference", "figure", *OUTCOMES, "intervals with the true ratio", "median half-width"]
    text = table(head, rows)
    for figure in FIGURES:
        shares = sorted(floor["share"] * 100 for floor in floors if floor["figure"] == figure)
        if shares:
            text += f"\n\nFloor of {figure}: {shares[0]:.1f} to {shares[-1]:.1f} %, median {shares[len(shares) // 2]:.1f} %."
    return text, is_wrong


if __name__ == "__main__":
    main()
