"""Network paths: throughput compared with iperf3, and the accuracy of an emulated link."""

import contextlib
import json
import statistics
import subprocess
import time

from . import measure, rivals
from .tables import spread, table

RATE = 10_000
ROUND_TRIP_MS = 20.0


def wire(settings):
    """A TCP stream over loopback, with Plimsoll and iperf3 in each role, interleaved."""
    rows = {
        "iperf3 → iperf3": ("iperf3", "iperf3"),
        "plimsoll → iperf3": ("plimsoll", "iperf3"),
        "iperf3 → plimsoll": ("iperf3", "plimsoll"),
        "plimsoll → plimsoll": ("plimsoll", "plimsoll"),
    }
    rates = {name: [] for name in rows}
    seconds = min(settings.seconds, 5)
    for number in range(settings.rounds):
        order = list(rows) if number % 2 == 0 else list(reversed(rows))
        for name in order:
            client, server = rows[name]
            rate = _stream(client, server, seconds)
            if rate is None:
                settings.say(f"{name}: no figure")
                continue
            rates[name].append(rate)
            settings.say(f"{name}: {rate / 1e9:.1f} Gbit/s")
    base = rates["iperf3 → iperf3"]
    lines, worst = [], None
    for name, values in rates.items():
        ratios = [one / two for one, two in zip(values, base)]
        lines.append((name, spread([value / 1e9 for value in values], "{:.1f}"), spread(ratios)))
        if name.startswith("plimsoll") and ratios:
            median = statistics.median(ratios)
            worst = median if worst is None else min(worst, median)
    verdict = "not measured" if worst is None else "reached" if worst >= 0.95 else "**missed**"
    text = "### One TCP stream over loopback, client → server\n\n"
    text += table(["", "Gbit/s", "ratio to iperf3"], lines)
    shown = "–" if worst is None else f"{worst:.2f}"
    return f"{text}\n\nThe lower of Plimsoll's client ratios is {shown}. The goal is ≥ 0.95: {verdict}."


def _stream(client, server, seconds):
    """Received bits per second; None if there is no result."""
    port = _free_port()
    server = subprocess.Popen(
        ["taskset", "-c", str(measure.SERVER_CPU), *_program(server), "-s", "-1", "-p", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        time.sleep(0.3)
        args = ["-c", "127.0.0.1", "-p", str(port), "-t", str(seconds), "-J"]
        cost = measure.run([*_program(client), *args])
        return json.loads(cost.stdout)["end"]["sum_received"]["bits_per_second"]
    except (ValueError, KeyError):
        return None
    finally:
        server.kill()
        server.wait()


def _program(name):
    found = str(rivals.find(name))
    return [found, "throughput"] if name == "plimsoll" else [found]


def _free_port():
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def link(settings):
    """Small messages to an echo server and back, directly and through a link, at 10,000/s."""
    rows = []
    seconds = min(settings.seconds, 3)
    for protocol in ("udp", "tcp"):
        for number in range(settings.rounds):
            with _echo() as port:
                direct = _round_trip(f"127.0.0.1:{port}", protocol, seconds)
                with _link(port) as (address, account):
                    through = _round_trip(address, protocol, seconds)
                report = account()
            # How much longer the round trip took than configured.
            errors = {q: through["round_trip"][q] - direct["round_trip"][q] - ROUND_TRIP_MS for q in ("p50", "p99")}
            rows.append(
                (
                    protocol.upper(),
                    f"{through['back']} of {through['sent']}",
                    f"{direct['round_trip']['p50']:.3f}",
                    f"{through['round_trip']['p50']:.3f}",
                    f"{errors['p50']:+.3f}",
                    f"{errors['p99']:+.3f}",
                    f"{report['forward']['late_us']['p50'] / 1e3:.3f}",
                    "reached" if abs(errors["p50"]) <= 0.2 else "**missed**",
                )
            )
            settings.say(f"{protocol}: {errors['p50']:+.3f} ms at the median")
    headings = [
        "",
        "returned",
        "direct p50 ms",
        "through the link",
        f"− direct − {ROUND_TRIP_MS:.0f} ms",
        "the same at p99",
        "own lateness, one way",
        "within 0.2 ms",
    ]
    title = f"### A link with a round trip of {ROUND_TRIP_MS:.0f} ms, {RATE:,} messages/s of 64 bytes\n\n"
    return title + table(headings, rows)


@contextlib.contextmanager
def _echo():
    command = ["taskset", "-c", str(measure.SERVER_CPU), str(rivals.find("echo-round-trip")), "--serve", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            yield json.loads(server.stdout.readline())["port"]
        finally:
            server.kill()


@contextlib.contextmanager
def _link(port):
    args = ["--listen", "127.0.0.1:0", "--to", f"127.0.0.1:{port}", "--round-trip", f"{ROUND_TRIP_MS}ms"]
    # The link has its own processor; the echo server and its client share the other.
    command = ["taskset", "-c", str(measure.GENERATOR_CPU), str(rivals.find("plimsoll")), "link", *args]
    last = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as relay:
        try:
            yield json.loads(relay.stdout.readline())["listening"], lambda: last
        finally:
            relay.terminate()
            last.update(json.loads(relay.stdout.readline()))


def _round_trip(address, protocol, seconds):
    args = ["--connect", address, "--protocol", protocol, "--rate", str(RATE), "--seconds", str(seconds)]
    return json.loads(measure.run([rivals.find("echo-round-trip"), *args], cpu=measure.SERVER_CPU).stdout)
