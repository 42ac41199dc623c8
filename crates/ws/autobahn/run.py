#!/usr/bin/env python3
"""Tests both WebSocket modules with Autobahn's fuzzing server, and prints its verdicts.

    PYTHON2=python2.7 crates/ws/autobahn/run.py PLIMSOLL [CASE ...]

The suite is written in Python 2, whose pip installs it into target/autobahn. CASE is a pattern
such as `7.*`; all cases take a few minutes. The exit status is 1 if any case violates RFC 6455 or
RFC 7692. The suite's own report is in target/autobahn/reports.
"""

import collections
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
WORK = HERE.parents[2] / "target" / "autobahn"
SUITE = "autobahntestsuite==25.10.1"
# INFORMATIONAL states which of several valid behaviors was observed. UNIMPLEMENTED cases request
# compression windows of another size. Scripts cannot offer these, so the cases run uncompressed.
GOOD = {"OK", "NON-STRICT", "INFORMATIONAL", "UNIMPLEMENTED"}
MODULES = {"k6-ws": "echo.js", "k6-websockets": "echo-evented.js"}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, cases = Path(sys.argv[1]).resolve(), sys.argv[2:] or ["*"]
    python, environment = suite()
    port = free_port()
    shutil.rmtree(WORK / "reports", ignore_errors=True)
    server_url = f"ws://127.0.0.1:{port}"
    (WORK / "server.json").write_text(
        json.dumps(
            {
                "url": server_url,
                "outdir": str(WORK / "reports"),
                "cases": cases,
                "exclude-cases": [],
                "exclude-agent-cases": {},
            }
        )
    )
    start = "import site; site.addsitedir('site'); from autobahntestsuite.wstest import run; run()"
    with open(WORK / "server.log", "w") as log:
        server = subprocess.Popen(
            [python, "-c", start, "-m", "fuzzingserver", "-s", "server.json"],
            cwd=WORK,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            wait_for(port, server)
            for agent, script in MODULES.items():
                subprocess.run(
                    [program, "run", "--quiet"]
                    + ["-e", f"SERVER={server_url}", "-e", f"AGENT={agent}", HERE / script],
                    check=True,
                    stdout=subprocess.DEVNULL,
                )
        finally:
            server.terminate()
            server.wait()
    return report(json.loads((WORK / "reports" / "index.json").read_text()))


def suite():
    """Returns the Python that has the suite, and its environment."""
    python = os.environ.get("PYTHON2") or "python2.7"
    if not shutil.which(python):
        sys.exit(
            f"{python} is missing: Autobahn's suite is written in Python 2.7. You can unpack the packages of "
            "an older Debian release anywhere and set PYTHON2 to the program"
        )
    site = WORK / "site"
    inherited = os.environ.get("PYTHONPATH")
    path = os.pathsep.join([str(site), *([inherited] if inherited else [])])
    environment = {**os.environ, "PYTHONPATH": path}
    if not (site / "autobahntestsuite").is_dir():
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--target", site, SUITE], check=True)
    return python, environment


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for(port, server):
    until = time.monotonic() + 30
    while time.monotonic() < until and server.poll() is None:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    sys.exit(f"the fuzzing server does not listen: {(WORK / 'server.log').read_text()[-2000:]}")


def report(index):
    """Prints the counts and each failed case. Returns 1 if there are any."""
    print("| module | cases | behavior | closing |\n|---|---:|---|---|")
    failed = []
    for agent in MODULES:
        cases = index.get(agent, {})
        tally = [
            collections.Counter(case[key] for case in cases.values())
            for key in ("behavior", "behaviorClose")
        ]
        counts = [", ".join(f"{count} {name}" for name, count in one.most_common()) for one in tally]
        print(f"| {agent} | {len(cases)} | {counts[0]} | {counts[1]} |")
        if not cases:
            failed.append(f"{agent}: no cases ran")
        for number, case in sorted(cases.items()):
            if case["behavior"] not in GOOD or case["behaviorClose"] not in GOOD:
                failed.append(f"{agent} {number}: {case['behavior']}, closing {case['behaviorClose']}")
    print("\n".join(failed), file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
