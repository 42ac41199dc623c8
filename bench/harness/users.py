"""The cost of many mostly idle users: resident memory, and the time until all of them run."""

from . import measure, rivals
from .contenders import SCRIPTS, script
from .servers import FixedServer
from .tables import goals, megabytes, spread, table


def memory(settings):
    """Resident memory with one second of think time."""
    counts = [1, 1000] if settings.quick else [1, 1000, 5000, 10000]
    rows, judged = [], []
    for users in counts:
        found = {}
        for name in ("plimsoll", "k6"):
            if not rivals.find(name):
                continue
            with FixedServer() as server:
                contender = script(name, name, "think.js")
                requests, cost = contender.run(server.url, users, settings.think_seconds)
            settings.say(f"{name}, {users} users: {megabytes(cost.peak_rss_bytes)} MB, {requests} requests")
            if requests:
                found[name] = cost
        row = [f"{users:,}"]
        for name in ("plimsoll", "k6"):
            cost = found.get(name)
            row.append(megabytes(cost.peak_rss_bytes) if cost else "–")
            row.append(megabytes(cost.steady_rss_bytes()) if cost else "–")
        both = len(found) == 2
        ratio = found["plimsoll"].peak_rss_bytes / found["k6"].peak_rss_bytes if both else None
        row.append(f"{ratio:.2f}" if ratio else "–")
        rows.append(row)
        if ratio and users in (1000, 5000):
            judged.append((f"memory of {users:,} users ÷ k6's", ratio, "≤", 0.25))
    headings = ["users", "plimsoll peak MB", "steady", "k6 peak MB", "steady", "ratio of peaks"]
    return "### Resident memory, `http.get` and one second of think time\n\n" + f"{table(headings, rows)}\n\n{goals(judged)}"


def startup(settings):
    """From starting the program to the first request of the last of many users."""
    users = 1000 if settings.quick else 10000
    rows = []
    for name in ("plimsoll", "k6"):
        if not rivals.find(name):
            continue
        first, last = [], []
        for _ in range(settings.rounds):
            with FixedServer(mark=users) as server:
                args = ["run", "--quiet", "-e", f"URL={server.url}", "-e", f"USERS={users}"]
                cost = measure.run(
                    [rivals.find(name), *args, SCRIPTS / "once.js"],
                    env={"K6_NO_USAGE_REPORT": "true"},
                )
            if server.report["marked_request_ns"] is None:
                settings.say(f"{name}: only {server.report['connections']} users sent a request")
                continue
            first.append((server.report["first_request_ns"] - cost.started_ns) / 1e9)
            last.append((server.report["marked_request_ns"] - cost.started_ns) / 1e9)
            settings.say(f"{name}: first request after {first[-1]:.2f} s, last user's {last[-1]:.2f} s")
        rows.append((name, spread(first), spread(last)))
    title = f"### Starting {users:,} users, one CPU\n\n"
    return title + table(["generator", "first request, s", "every user has sent one, s"], rows)
