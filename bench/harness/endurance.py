"""Long runs: what is resident at the end beside what was after the first stretch."""

from .contenders import plimsoll_http, script
from .servers import FixedServer
from .tables import megabytes, table

USERS = 100


def soak(settings):
    """Ten minutes at full speed, and as many distinct URLs as that makes."""
    seconds = 30 if settings.quick else 600
    rows = []
    for contender, what in (
        (plimsoll_http(), "one URL"),
        (script("plimsoll run", "plimsoll", "simple.js"), "one URL"),
        (script("plimsoll run", "plimsoll", "distinct.js"), "a URL for each request"),
    ):
        if not contender.available():
            continue
        with FixedServer() as server:
            requests, cost = contender.run(server.url, USERS, seconds)
        seen = cost.resident_bytes
        if not requests or len(seen) < 20:
            settings.say(f"{contender.name} failed: {cost.stderr[-300:]}")
            continue
        tenth = len(seen) // 10
        early, late = max(seen[:tenth]), max(seen[-tenth:])
        settings.say(f"{contender.name}, {what}: {megabytes(early)} MB, later {megabytes(late)} MB")
        rows.append(
            (
                contender.name,
                what,
                f"{requests:,}",
                megabytes(early),
                megabytes(late),
                f"{late / early:.2f}",
            )
        )
    headings = ["generator", "requests to", "requests", "first tenth, MB", "last tenth, MB", "ratio"]
    return f"### Resident memory over {seconds} s at full speed\n\n" + table(headings, rows)
