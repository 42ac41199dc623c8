"""The cost of a user and of a request, by the number of users and the size of their libraries."""

import json
import os
import resource
import statistics
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from . import rivals
from .contenders import WRK, Contender, exported_requests, plimsoll_http, script
from .flatness import judge
from .servers import FixedServer
from .tables import goals, megabytes, spread, table

# The modes in which users of a script can start (docs/decisions/0015).
MODES = {"own runtimes": {"PLIMSOLL_IMAGE": "off"}, "image": {"PLIMSOLL_IMAGE": "on"}}

# The columns of the table `libraries`: a name, the program, its environment.
SLEEPERS = [*((mode, "plimsoll", env) for mode, env in MODES.items()), ("k6", "k6", {})]

GOAL_KIB = 25
GOAL_GB = 4
GOAL_MS = 0.1

# The share of the available memory that a run may use.
SHARE_OF_MEMORY = 0.6

# Longer than 10,000 users need to reach the sleep in their first iteration.
SLEEP_SECONDS = 8

SLEEPS = "import { sleep } from 'k6';\n"
REQUESTS = "import http from 'k6/http';\n" + SLEEPS


def libraries(settings):
    """Memory and creation of a user, by the size of the library that its script imports."""
    rows, found = [], {}
    sleepers = [sleeper for sleeper in SLEEPERS if rivals.find(sleeper[1])]
    for kilobytes in [0, 500] if settings.quick else [0, 100, 500]:
        for with_http in (False, True):
            counts = [1, 100] if settings.quick else [1, 100, 1000, 10000]
            for users in counts:
                for name, program, env in sleepers:
                    series = found.setdefault((name, kilobytes, with_http), {})
                    if users == 1 or users * _more(series)[0] < SHARE_OF_MEMORY * _available():
                        series[users] = resident(program, kilobytes, with_http, users, SLEEP_SECONDS, env)
                        settings.say(f"{name}, {kilobytes} kB, HTTP {with_http}, {users} users: {series[users]}")
                rows.append(_row(found, kilobytes, with_http, users))
    names = [name for name, *_ in SLEEPERS]
    headings = ["library", "HTTP", "users", f"KiB a user (goal ≤ {GOAL_KIB}): {names[0]}", *names[1:], "image ÷ k6"]
    headings += [f"ms of CPU to create a user (goal ≤ {GOAL_MS}): {names[0]}", *names[1:]]
    text = (
        "### A user of a script with a library\n\n"
        "Peak memory and processor time of a run minus those of a run with one user, divided by the number of other users; "
        "with one user, those of the whole program. The ratio compares the whole programs. – marks a run that needs more "
        "memory than this machine has. With HTTP, the time includes one request.\n\n" + table(headings, rows)
    )
    return f"{text}\n\n{goals(_goals_of_memory(found))}"


def crowd(settings):
    """Peak memory of 100,000 users that send a request each second and import a library."""
    users, seconds = (2_000, 8) if settings.quick else (100_000, 60)
    # Each user has a connection, and so has the server. Where a process has a lower limit, several share the
    # users, each with its own server, and the memory of all processes is added.
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    processes = -(-users // min(files - 1_000, 20_000))
    each = users // processes
    with tempfile.TemporaryDirectory(prefix="bench-crowd-") as folder:
        one = script("plimsoll", "plimsoll", _sleeper(folder, 500, True, 1), env=MODES["image"])

        def run(_):
            with FixedServer(mark=each) as server:
                requests, cost = one.run(server.url, each, seconds, cpu=None)
            if cost.exit_status != 0:
                raise SystemExit(f"{each:,} users: the exit status was {cost.exit_status}: {cost.stderr[-500:]}")
            connected = server.report["marked_request_ns"]
            return requests, cost, (connected - cost.started_ns) / 1e9 if connected else None

        with ThreadPoolExecutor(processes) as together:
            runs = list(together.map(run, range(processes)))
    requests = sum(count for count, *_ in runs)
    peak = sum(cost.peak_rss_bytes for _, cost, _ in runs) / 1e9
    cpu = sum(cost.cpu_seconds for _, cost, _ in runs)
    connected = [after for *_, after in runs]
    last = f"{max(connected):.1f} s" if all(connected) else "not all of them did"
    headings = ["users", "processes", "duration", "requests", "every user has sent one after", "peak memory, GB", "CPU s"]
    row = [f"{each * processes:,}", processes, f"{seconds} s", f"{requests:,}", last, f"{peak:.2f}", f"{cpu:.1f}"]
    judged = [(f"{each * processes:,} users, library of 500 kB, HTTP, GB", peak, "≤", GOAL_GB)]
    title = f"### {each * processes:,} users of a script with a library of 500 kB: `http.get` and one second of think time"
    return f"{title}\n\n{table(headings, [row])}\n\n{goals(judged)}"


def come_and_go(seconds):
    """Memory while 10,000 users with a library repeatedly start over half a minute and stop over another."""
    users, half = 10_000, 30
    stages = [{"duration": f"{half}s", "target": target} for _ in range(seconds // (2 * half)) for target in (users, 0)]
    scenario = {"executor": "ramping-vus", "stages": stages, "gracefulRampDown": "0s", "gracefulStop": "0s"}
    with tempfile.TemporaryDirectory(prefix="bench-users-") as folder:
        file = _sleeper(folder, 500, True, 10, {"scenarios": {"users": scenario}})
        flags = ["run", "--quiet", "--summary-export", "summary.json", "-e"]
        one = Contender(
            "plimsoll",
            "plimsoll",
            lambda url, *_: [*flags, f"URL={url}", file],
            exported_requests,
            MODES["image"],
        )
        with FixedServer() as server:
            requests, cost = one.run(server.url, users, seconds, cpu=None, sample_every=1)
    if cost.exit_status != 0:
        raise SystemExit(f"the exit status was {cost.exit_status}: {cost.stderr[-500:]}")
    early, late, flat = judge(cost.resident_bytes, 1)
    row = [f"{seconds} s", f"{users * len(stages) // 2:,}", f"{requests:,}", megabytes(early), megabytes(late)]
    headings = ["duration", "users that came and left", "requests", "highest of the first third, MB", "of the last third, MB", "memory"]
    title = "### Memory while 10,000 users of a script with a library of 500 kB come and go"
    return f"{title}\n\n{table(headings, [[*row, 'flat' if flat else '**grows**']])}\n", int(not flat)


def _row(found, kilobytes, with_http, users):
    all_series = {name: found.get((name, kilobytes, with_http), {}) for name, *_ in SLEEPERS}
    each = [_more(series, users) if users in series else None for series in all_series.values()]
    memory = [f"{one[0] / 1024:,.1f}" if one else "–" for one in each]
    time = [f"{one[1] * 1e3:.2f}" if one else "–" for one in each]
    image, k6 = (all_series[name].get(users) for name in ("image", "k6"))
    ratio = f"{image[0] / k6[0]:.2f}" if image and k6 else "–"
    return [f"{kilobytes} kB", "yes" if with_http else "no", f"{users:,}", *memory, ratio, *time]


def _more(series, users=None):
    """Bytes and seconds of an additional user, at this number of users or at the largest number that ran."""
    users = users or max(series)
    if users == 1:
        return series[1]
    return tuple((many - one) / (users - 1) for one, many in zip(series[1], series[users]))


def _goals_of_memory(found):
    judged = []
    for mode in MODES:
        ours = {key[1:]: series for key, series in found.items() if key[0] == mode}
        asleep = max(_more(series)[0] for series in ours.values())
        created = max(_more(series)[1] for (_, with_http), series in ours.items() if not with_http)
        many = _more(ours[500, True])[0] * 100_000 + ours[500, True][1][0]
        judged += [
            (f"{mode}: memory of a sleeping user with any library, KiB", asleep / 1024, "≤", GOAL_KIB),
            (
                f"{mode}: 100,000 users, library of 500 kB, HTTP, from the memory of one more user, GB",
                many / 1e9,
                "≤",
                GOAL_GB,
            ),
            (f"{mode}: CPU time to create a user after the first, ms", created * 1e3, "≤", GOAL_MS),
        ]
    return judged


def requests(settings):
    """Processor time of a request, by the number of users."""
    counts = [10, 50, 500] if settings.quick else [10, 50, 100, 500, 1000, 2000, 10000]
    http, k6 = plimsoll_http(), script("k6", "k6", "simple.js")
    ours = {mode: script(f"get + check, {mode}", "plimsoll", "simple.js", env=env) for mode, env in MODES.items()}
    contenders = [one for one in (http, WRK, *ours.values(), k6) if one.available()]
    rows, judged, costs = [], [], {}
    for users in counts:
        found = {one.name: [] for one in contenders}
        for number in range(settings.rounds):
            for one in contenders if number % 2 == 0 else reversed(contenders):
                with FixedServer() as server:
                    made, cost = one.run(server.url, users, settings.seconds)
                found[one.name].append(cost.cpu_seconds / made * 1e6 if made else None)
        settings.say(f"{users} users: {found}")
        costs[users] = found
        above_wrk = _ratios(found, WRK.name, http.name)
        row = [f"{users:,}", *(spread(_present(found[one.name]), "{:.1f}") for one in contenders)]
        ratios = []
        for one in ours.values():
            above_k6, above_http = _ratios(found, k6.name, one.name), _ratios(found, one.name, http.name)
            ratios += [spread(above_k6), spread(above_http)]
            if users in (10, 50, 100, 500, 2000):
                judged.append((f"k6 ÷ {one.name}, {users:,} users", above_k6, "≥", 10))
            if users == 50:
                judged.append((f"{one.name} ÷ plimsoll http, 50 users", above_http, "≤", 1.05))
        if users in (500, 1000):
            judged.append((f"wrk ÷ plimsoll http, {users:,} connections", above_wrk, "≥", 1.2))
        if users == 50:
            # The image must not slow down users that all fit into the caches.
            judged.append(
                ("image ÷ own runtimes, 50 users", _ratios(found, ours["image"].name, ours["own runtimes"].name), "≤", 1.05)
            )
        rows.append([*row, spread(above_wrk), *ratios])
    if 2000 in costs:
        few, many = (_present(costs[users][http.name]) for users in (50, 2000))
        judged.append(("plimsoll http, 2,000 ÷ 50 users", [statistics.median(many) / statistics.median(few)], "≤", 1.15))
    headings = ["users", *(f"{one.name}, µs" for one in contenders)]
    headings.append("wrk ÷ plimsoll http")
    for mode in MODES:
        headings += [f"k6 ÷ {mode} (goal ≥ 10)", f"{mode} ÷ plimsoll http"]
    return (
        "### Processor time of a request by the number of users, HTTP/1.1, 150-byte responses\n\n"
        f"{table(headings, rows)}\n\n{goals(judged)}"
    )


def resident(program, kilobytes, with_http, users, sleep, env):
    """Peak memory in bytes and seconds of processor time of a run in which each user sleeps in its only iteration."""
    with tempfile.TemporaryDirectory(prefix="bench-library-") as folder:
        # All users are created before the first begins, so they sleep at the same time.
        file = _sleeper(folder, kilobytes, with_http, sleep)
        with FixedServer() as server:
            one = _iterations(script(program, program, file, env=env), users)
            _, cost = one.run(server.url, users, 600)
    if cost.exit_status != 0:
        raise SystemExit(f"{program} with {users} users ended with {cost.exit_status}: {cost.stderr[-500:]}")
    return cost.peak_rss_bytes, cost.cpu_seconds


def _sleeper(folder, kilobytes, with_http, sleep, options=None):
    """The path of a new script in this folder: each iteration uses the library, sends a request with HTTP, and sleeps."""
    (Path(folder) / "library.js").write_text(library(kilobytes))
    text = REQUESTS if with_http else SLEEPS
    text += "import * as library from './library.js';\n" if kilobytes else ""
    text += f"export const options = {json.dumps(options)};\n" if options else ""
    call = "http.get(__ENV.URL); " if with_http else ""
    use = "library.last(1); " if kilobytes else ""
    file = Path(folder) / "script.js"
    file.write_text(f"{text}export default function () {{ {call}{use}sleep({sleep}); }}\n")
    return file


def library(kilobytes):
    """A module of this size with functions, classes, tables and regular expressions, as in bundled libraries."""
    parts, size, number = [], 0, 0
    while size < kilobytes * 1000:
        number += 1
        part = (
            f"export function f{number}(a, b) {{\n"
            f"  const options = {{ name: 'option {number}', depth: {number % 7}, list: [a, b, {number}] }};\n"
            f"  if (a > b) {{ return options.list.map((x) => x + {number}).join('-'); }}\n"
            f"  return `${{options.name}} ${{a}} of ${{b}}`.replace(/([a-z]+) ({number % 10})/g, '$2 $1');\n"
            f"}}\n"
            f"export class C{number} {{\n"
            f"  constructor(value) {{ this.value = value; this.cache = {{}}; }}\n"
            f"  get double() {{ return this.value * 2; }}\n"
            f"  find(key) {{ return this.cache[key] || (this.cache[key] = f{number}(this.value, key)); }}\n"
            f"}}\n"
            f"export const table{number} = {{ id: {number}, codes: [{number}, {number + 1}], text: 'entry {number}' }};\n"
        )
        parts.append(part)
        size += len(part)
    parts.append(f"export const last = (x) => f{max(number, 1)}(x, 2);\n" if number else "")
    return "".join(parts)


def _iterations(contender, count):
    """The same script, one iteration for each user instead of a duration."""
    arguments = contender.arguments

    def changed(url, connections, seconds, scratch):
        words = [str(word) for word in arguments(url, connections, seconds, scratch)]
        at = words.index("--duration")
        return [*words[:at], "--iterations", str(count), *words[at + 2 :]]

    return type(contender)(contender.name, contender.program, changed, lambda cost, _: 1, contender.env)


def _available():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _present(values):
    return [value for value in values if value is not None]


def _ratios(found, above, below):
    """The ratio within each round in which both ran."""
    pairs = zip(found.get(above, []), found.get(below, []))
    return [one / other for one, other in pairs if one is not None and other is not None]
