#!/usr/bin/env python3
"""Measures how long one call of a script can block its worker.

    bench/busy.py                    every call; takes about three minutes
    bench/busy.py --calls base64     calls whose names contain this

For each call, one user makes the call repeatedly, and another user on the same worker thread sleeps 10 ms at a time. After a
few seconds, this script sends SIGINT. The Markdown table shows the largest delay of a sleep and the time from SIGINT to the
exit. If this script runs as root, the measured process has priority over other programs (nice -20).
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from harness import rivals  # noqa: E402
from harness.tables import table  # noqa: E402

TEXT = "'abcdefgh'.repeat(25e6)"
BYTES = "new Uint8Array(2e8)"
SECRET = "crypto.subtle.importKey('raw', new Uint8Array(16), 'AES-GCM', false, ['encrypt'])"
GCM = "crypto.subtle.encrypt({ name: 'AES-GCM', iv: new Uint8Array(12) }, await key, data)"
PBKDF2 = "crypto.subtle.importKey('raw', new Uint8Array(16), 'PBKDF2', false, ['deriveBits'])"
DERIVE = "{ name: 'PBKDF2', hash: 'SHA-256', salt: new Uint8Array(16), iterations: 1e6 }"
FIELDS = "Object.fromEntries(Array.from({ length: 1e6 }, (_, n) => ['k' + ((n * 7919) % 1e6), n]))"
REFUSED = "http://127.0.0.1:9/"

# The name, the setup code, and the call.
CALLS = [
    ("no call: the noise of the machine", "0", "sleep(0.01)"),
    ("`while (true) {}`", "0", "while (true) {}"),
    ("an empty function", "0", "data"),
    ("parse 55 MB of HTML", "'<p>x</p>'.repeat(6.9e6)", "parseHTML(data)"),
    ("`http.get`, URL of 50 MB", f"'{REFUSED}' + 'a'.repeat(5e7)", "http.get(data)"),
    ("`http.get`, URL of 1 MB", f"'{REFUSED}' + 'a'.repeat(1e6)", "http.get(data)"),
    ("`http.post`, 1e6 form fields", FIELDS, f"http.post('{REFUSED}', data)"),
    ("`http.post`, body of 200 MB", TEXT, f"http.post('{REFUSED}', data)"),
    ("`http.batch`, 1e5 requests", f"new Array(1e5).fill('{REFUSED}')", "http.batch(data)"),
    ("AES-GCM, 200 MB", BYTES, f"key ??= {SECRET}; await {GCM}"),
    ("PBKDF2, 1e6 iterations", "0", f"key ??= {PBKDF2}; await crypto.subtle.deriveBits({DERIVE}, await key, 256)"),
    ("SHA-512 of a 200 MB string", TEXT, "k6crypto.sha512(data, 'hex')"),
    ("SHA-256 of 200 MB of bytes", BYTES, "await crypto.subtle.digest('SHA-256', data)"),
    ("`b64encode`, 200 MB", TEXT, "encoding.b64encode(data)"),
    ("`b64decode`, 200 MB", TEXT, "encoding.b64decode(data)"),
    ("`TextEncoder`, 200 MB", TEXT, "new TextEncoder().encode(data)"),
    ("`TextDecoder`, 200 MB", BYTES, "new TextDecoder().decode(data)"),
    ("`Number`, 1e8 digits", "'1'.repeat(1e8)", "Number(data)"),
    ("`JSON.parse`, 50 MB", "'[' + '{\"a\":[1,2,3]},'.repeat(3.3e6) + '1]'", "JSON.parse(data)"),
    ("sort 1e7 numbers", "0", "new Float64Array(1e7).map(Math.random).sort()"),
    ("free 1e6 objects at once", "0", "data = Array.from({ length: 1e6 }, () => ({})); data = 0"),
    ("a regular expression of 2^30 steps", "'a'.repeat(30) + 'b'", "/^(a+)+$/.test(data)"),
]

SCRIPT = """
import {{ sleep }} from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import encoding from 'k6/encoding';
import k6crypto from 'k6/crypto';
import {{ parseHTML }} from 'k6/html';
import {{ Trend }} from 'k6/metrics';
const late = new Trend('late');
const scenario = (name) => ({{ executor: 'constant-vus', vus: 1, duration: '10m', gracefulStop: '0s', exec: name }});
export const options = {{ scenarios: {{ caller: scenario('caller'), other: scenario('other') }} }};
let data, key;
export async function caller() {{
  data ??= {data};
  {call};
}}
export function other() {{
  const begun = exec.instance.currentTestRunDuration;
  sleep(0.01);
  late.add(exec.instance.currentTestRunDuration - begun - 10);
}}
"""


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", default="", help="measure the calls whose names contain this")
    parser.add_argument("--seconds", type=float, default=4, help="time before SIGINT (default 4)")
    parser.add_argument("--profile", default="release", help="Cargo profile of the program (default release)")
    args = parser.parse_args()
    rivals.use_profile(args.profile)
    program = rivals.find("plimsoll") or sys.exit(f"build plimsoll first: cargo build --profile {args.profile}")
    rows = []
    for name, data, call in CALLS:
        if args.calls in name:
            longest, exit_time = measure(program, SCRIPT.format(data=data, call=call), args.seconds)
            rows.append([name, f"{longest:.1f}", f"{exit_time * 1000:.0f}"])
            print(rows[-1], file=sys.stderr)
    print(table(["call", "longest delay of the other user's timer, ms", "SIGINT to exit, ms"], rows))


def measure(program, script, seconds):
    """The longest delay of the other user in milliseconds, and the seconds from SIGINT to exit."""
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder) / "summary.json"
        command = [program, "run", "--quiet", "--threads", "1", "--summary-export", summary, "-"]
        process = subprocess.Popen(
            list(map(str, command)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            preexec_fn=ahead_of_others,
        )
        process.stdin.write(script.encode())
        process.stdin.close()
        time.sleep(seconds)
        if process.poll() is not None:
            sys.exit(f"the run ended early, with {process.returncode}")
        process.send_signal(signal.SIGINT)
        begun = time.monotonic()
        process.wait(60)
        exit_time = time.monotonic() - begun
        return json.loads(summary.read_text())["metrics"]["late"]["max"], exit_time


def ahead_of_others():
    if os.geteuid() == 0:
        # In its own session, so it does not share a scheduling group with other programs.
        os.setsid()
        os.setpriority(os.PRIO_PROCESS, 0, -20)
        autogroup = Path("/proc/self/autogroup")
        if autogroup.exists():
            autogroup.write_text("-20")


if __name__ == "__main__":
    main()
