"""Closed loops at full speed: requests per second of the generator's own CPU time."""

from . import tables
from .contenders import (
    BARE,
    FORTIO,
    HEY,
    OHA,
    VEGETA,
    WRK,
    h2load,
    plimsoll_attack,
    plimsoll_http,
    script,
)
from .servers import FixedServer, Nginx
from .tables import spread, table

CONNECTIONS = 100


def http1(settings):
    """HTTP/1.1, 150-byte responses from the fixed-response server."""
    rows = [
        BARE,
        WRK,
        plimsoll_http(),
        h2load("h2load --h1", ["--h1"]),
        FORTIO,
        OHA,
        HEY,
        script("plimsoll run, get + check", "plimsoll", "simple.js"),
        script("plimsoll run, larger", "plimsoll", "larger.js"),
        script("plimsoll run, bodies discarded", "plimsoll", "discard.js"),
        script("k6, get + check", "k6", "simple.js"),
        script("k6, larger", "k6", "larger.js"),
        script("k6, bodies discarded", "k6", "discard.js"),
    ]
    goals = [
        ("plimsoll http", "wrk", 1.2),
        ("plimsoll http", "bare epoll loop", 0.95),
        ("plimsoll run, get + check", "wrk", 0.85),
        ("plimsoll run, get + check", "k6, get + check", 12),
        ("plimsoll run, larger", "k6, larger", 6),
    ]
    title = "HTTP/1.1, closed loop, 100 connections, 150-byte responses"
    return compare(title, FixedServer, rows, "wrk", goals, settings)


def attack(settings):
    """A target list at full speed, with and without every response body in the results."""
    rows = [
        WRK,
        plimsoll_attack("plimsoll attack", ["--json"]),
        plimsoll_attack("plimsoll attack, results kept", ["--json", "-output=results.bin"]),
        VEGETA,
    ]
    goals = [
        ("plimsoll attack", "wrk", 1.2),
        ("plimsoll attack, results kept", "vegeta", 3.0),
    ]
    title = "Attack: one target, -rate=0 -max-workers=100, 150-byte responses"
    return compare(title, FixedServer, rows, "wrk", goals, settings)


def tls(settings):
    """HTTP/1.1 over TLS 1.3 against nginx."""
    rows = [
        WRK,
        plimsoll_http(flags=["--insecure", "--h1"]),
        FORTIO,
        OHA,
        script("plimsoll run, get + check", "plimsoll", "simple.js"),
        script("k6, get + check", "k6", "simple.js"),
    ]
    server = lambda: Nginx(tls=True, http2=False)
    goals = [("plimsoll http", "wrk", 1.0)]
    title = "TLS 1.3, HTTP/1.1, closed loop, 100 connections (nginx)"
    return compare(title, server, rows, "wrk", goals, settings)


def http2(settings):
    """HTTP/2 with one stream per connection, without and with TLS."""
    clear = compare(
        "HTTP/2 in plain text, 100 connections, one stream each (nginx)",
        lambda: Nginx(tls=False, http2=True),
        [h2load("h2load", []), plimsoll_http(flags=["--h2c"])],
        "h2load",
        [("plimsoll http", "h2load", 1.0)],
        settings,
    )
    secure = compare(
        "HTTP/2 over TLS 1.3, 100 connections, one stream each (nginx)",
        lambda: Nginx(tls=True, http2=True),
        [
            h2load("h2load", []),
            plimsoll_http(flags=["--h2", "--insecure"]),
            script("plimsoll run, get + check", "plimsoll", "simple.js"),
            script("k6, get + check", "k6", "simple.js"),
        ],
        "h2load",
        [("plimsoll http", "h2load", 1.0)],
        settings,
    )
    return clear + "\n\n" + secure


def compare(title, server, rows, base, goals, settings):
    """Interleaves the contenders: each round runs all of them, every second round backwards."""
    present = [row for row in rows if row.available()]
    absent = [row.name for row in rows if not row.available()]
    per_second = {row.name: [] for row in present}
    per_cpu_second = {row.name: [] for row in present}
    broken = {}
    for number in range(settings.rounds):
        for row in present if number % 2 == 0 else reversed(present):
            if row.name in broken:
                continue
            with server() as running:
                requests, cost = row.run(running.url, CONNECTIONS, settings.seconds)
            if requests == 0 or cost.exit_status != 0:
                broken[row.name] = f"exit {cost.exit_status}: {(cost.stderr or cost.stdout)[-200:]}"
                settings.say(f"{title}: {row.name} failed, {broken[row.name]}")
                continue
            per_second[row.name].append(requests / settings.seconds)
            per_cpu_second[row.name].append(requests / cost.cpu_seconds)
            settings.say(
                f"{row.name}: {requests / settings.seconds:.0f}/s, "
                f"{cost.cpu_seconds / requests * 1e6:.2f} µs CPU"
            )
    ratio = lambda name, other: [
        one / two for one, two in zip(per_cpu_second.get(name, []), per_cpu_second.get(other, []))
    ]
    lines = [
        (
            name,
            spread([value / 1e3 for value in per_second[name]], "{:.1f}"),
            spread([1e6 / value for value in values]),
            spread([value / 1e3 for value in values], "{:.1f}"),
            spread(ratio(name, base)),
        )
        for name, values in per_cpu_second.items()
        if values
    ]
    headings = ["generator", "k requests/s", "CPU µs/request", "k requests/CPU s", f"ratio to {base}"]
    text = f"### {title}\n\n{table(headings, lines)}\n"
    judged = [(f"{name} / {other}", ratio(name, other), "≥", goal) for name, other, goal in goals]
    if any(values for _, values, _, _ in judged):
        text += f"\n{tables.goals(judged)}\n"
    if absent or broken:
        text += f"\nLeft out: {', '.join(absent + list(broken))}.\n"
    return text
