"""What a user costs, and what a request costs, as users and libraries grow."""

import os
import statistics
import tempfile
from pathlib import Path

from . import rivals
from .contenders import WRK, plimsoll_http, script
from .servers import FixedServer
from .tables import table

# Of the memory that is available, what a run may need.
SHARE_OF_MEMORY = 0.6

SLEEPS = "import { sleep } from 'k6';\n"
REQUESTS = "import http from 'k6/http';\n" + SLEEPS


def libraries(settings):
    """Memory and creation of a user, by the size of what its script imports."""
    counts = [100] if settings.quick else [100, 1000, 10000]
    sizes = [0, 500] if settings.quick else [0, 100, 500]
    rows = []
    for kilobytes in sizes:
        for with_http in (False, True):
            # Per program: memory and processor time of one user, from the runs so far.
            known = {}
            for users in counts:
                row = [f"{kilobytes} kB", "yes" if with_http else "no", f"{users:,}"]
                found = {}
                for name in ("plimsoll", "k6"):
                    if not rivals.find(name):
                        continue
                    if users * known.get(name, (0, 0))[0] > SHARE_OF_MEMORY * _available():
                        continue
                    found[name] = _one_user(settings, name, kilobytes, with_http, users)
                    known[name] = found[name]
                for place in (0, 1):
                    scale = 1024 if place == 0 else 1e-3
                    row += [_figure(found, name, place, scale) for name in ("plimsoll", "k6")]
                both = len(found) == 2 and found["k6"][0] > 0
                row.append(f"{found['plimsoll'][0] / found['k6'][0]:.2f}" if both else "–")
                rows.append(row)
    headings = ["library", "HTTP", "users", "KiB a user", "k6", "ms of CPU to create", "k6", "ratio of memory"]
    return (
        "### A user of a script with a library\n\n"
        "Peak memory and processor time of a run beyond those of a run with one user, divided by the other users. "
        "– is a run that needs more memory than this machine has. With HTTP, the time includes one request.\n\n"
        + table(headings, rows)
    )


def requests(settings):
    """Processor time of a request, by the number of users."""
    counts = [10, 50, 500] if settings.quick else [10, 50, 100, 500, 2000, 10000]
    contenders = [
        plimsoll_http(),
        WRK,
        script("get + check", "plimsoll", "simple.js"),
        script("k6, get + check", "k6", "simple.js"),
    ]
    contenders = [one for one in contenders if one.available()]
    rows = []
    for users in counts:
        found = {one.name: [] for one in contenders}
        for _ in range(settings.rounds):
            for one in contenders:
                with FixedServer() as server:
                    made, cost = one.run(server.url, users, settings.seconds)
                if made:
                    found[one.name].append(cost.cpu_seconds / made * 1e6)
        medians = {name: statistics.median(values) for name, values in found.items() if values}
        settings.say(f"{users} users: {medians}")
        row = [f"{users:,}"]
        row += [f"{medians[one.name]:.1f}" if one.name in medians else "–" for one in contenders]
        row.append(_ratio(medians, "k6, get + check", "get + check"))
        row.append(_ratio(medians, "wrk", "plimsoll http"))
        row.append(_ratio(medians, "get + check", "plimsoll http"))
        rows.append(row)
    headings = ["users", *(f"{one.name}, µs" for one in contenders)]
    headings += ["k6 ÷ ours", "wrk ÷ `plimsoll http`", "script ÷ `plimsoll http`"]
    return (
        "### Processor time of a request by the number of users, HTTP/1.1, 150-byte responses\n\n"
        + table(headings, rows)
    )


def _one_user(settings, name, kilobytes, with_http, users):
    """Bytes and seconds of processor time of one more user."""
    costs = []
    with tempfile.TemporaryDirectory(prefix="bench-library-") as folder:
        (Path(folder) / "library.js").write_text(library(kilobytes))
        text = REQUESTS if with_http else SLEEPS
        text += "import * as library from './library.js';\n" if kilobytes else ""
        call = "http.get(__ENV.URL); " if with_http else ""
        use = "library.last(1); " if kilobytes else ""
        # Every user waits until the last one has begun.
        text += f"export default function () {{ {call}{use}sleep({settings.think_seconds}); }}\n"
        (Path(folder) / "script.js").write_text(text)
        with FixedServer() as server:
            for count in (1, users):
                # One iteration for each user, however long all of them take to begin.
                one = script(name, name, Path(folder) / "script.js")
                one = _iterations(one, count)
                _, cost = one.run(server.url, count, 600)
                costs.append(cost)
    bytes_each = (costs[1].peak_rss_bytes - costs[0].peak_rss_bytes) / (users - 1)
    seconds_each = (costs[1].cpu_seconds - costs[0].cpu_seconds) / (users - 1)
    settings.say(f"{name}, {kilobytes} kB, HTTP {with_http}, {users} users: {bytes_each / 1024:.1f} KiB, {seconds_each * 1e3:.3f} ms")
    return bytes_each, seconds_each


def library(kilobytes):
    """A module of this size: functions, classes, tables and regular expressions, as bundled libraries have them."""
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

    return type(contender)(contender.name, contender.program, changed, lambda cost, _: 1)


def _available():
    for line in Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _figure(found, name, place, scale):
    if name not in found:
        return "–"
    return f"{found[name][place] / scale:.1f}" if place == 0 else f"{found[name][place] / scale:.2f}"


def _ratio(medians, above, below):
    if above not in medians or below not in medians:
        return "–"
    return f"{medians[above] / medians[below]:.2f}"
