#!/usr/bin/env python3
"""Measures checks over HTTP: zanzibar on SQLite and OpenFGA, side by side.

Both have the 30,000 tuples of the benchmark and equivalent models. wrk requests
`doc:mydoc{i}#viewer@user:myuser{i}` for random i from both. The server is pinned to
one processor and wrk to another; rounds alternate. First, every server has to give the
right results for a sample, which includes checks that must be denied.

  go install github.com/openfga/openfga/cmd/openfga@v1.22.1
  cargo build --release --manifest-path reference-systems/Cargo.toml
  reference-systems/zanzibar/bench/compare_with_openfga.py

The figures are checks per second of wall-clock time and of the server's own processor time. The
latter is the rate that the processor can reach if nothing else runs on it.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TREE = pathlib.Path(__file__).resolve().parents[3]
CHECK = "/zanzigo.v1.ZanzigoService/Check"


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def post(connection, path, body):
    connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    response = connection.getresponse()
    text = response.read()
    if response.status not in (200, 201):
        sys.exit(f"{path}: {response.status} {text.decode()}")
    return json.loads(text or b"{}")


def tuples(count):
    """The benchmark's tuples: object type, id, relation, subject type, id, relation."""
    for i in range(count):
        yield ("group", f"mygroup{i}", "member", "user", f"myuser{i}", "")
        yield ("doc", f"mydoc{i}", "parent", "folder", f"myfolder{i}", "")
        yield ("folder", f"myfolder{i}", "viewer", "group", f"mygroup{i}", "member")


class Server:
    def __init__(self, name, arguments, options):
        self.name, self.options = name, options
        self.process = subprocess.Popen(
            ["taskset", "-c", options.server_cpu, *arguments],
            stdout=subprocess.PIPE if name.startswith("zanzibar") else subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def connect(self):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def stop(self):
        self.process.terminate()
        self.process.wait(20)

    def cpu_seconds(self):
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def verify(self):
        connection = self.connect()
        for i in random.sample(range(self.options.ids), min(200, self.options.ids)):
            other = (i + 1) % self.options.ids
            for user, right in ((i, True), (other, False)):
                given = self.ask(connection, i, user)
                if given is not right:
                    sys.exit(f"{self.name}: doc {i}, user {user}: {given}, should be {right}")

    def ask(self, connection, i, user):
        path, body = self.request(i, user)
        # A field that is false may be left out.
        return post(connection, path, body).get(self.answer, False)

    def measure(self, seconds, connections):
        with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
            path, _ = self.request(0, 0)
            bodies = ",\n".join(
                json.dumps(json.dumps(self.request(i, i)[1])) for i in range(self.options.ids)
            )
            script.write(
                f"local bodies = {{\n{bodies}\n}}\n"
                "local requests = {}\n"
                "init = function()\n"
                "  math.randomseed(os.time())\n"
                "  for i, body in ipairs(bodies) do\n"
                f"    requests[i] = wrk.format('POST', '{path}', {{['content-type'] = 'application/json'}}, body)\n"
                "  end\n"
                "end\n"
                "request = function() return requests[math.random(#requests)] end\n"
            )
            script.flush()
            before = self.cpu_seconds()
            output = subprocess.run(
                ["taskset", "-c", self.options.client_cpu, "wrk", "-t1", f"-c{connections}",
                 f"-d{seconds}s", "--latency", "-s", script.name, f"http://127.0.0.1:{self.port}"],
                capture_output=True, text=True, check=True,
            ).stdout
            spent = self.cpu_seconds() - before
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(f"{self.name}:\n{output}")
        count = int(re.search(r"(\d+) requests in", output).group(1))
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
        p50 = re.search(r"50%\s+(\S+)", output).group(1)
        p99 = re.search(r"99%\s+(\S+)", output).group(1)
        return {"rate": rate, "per_cpu": count / spent, "p50": p50, "p99": p99}


class Zanzibar(Server):
    answer = "result"

    def __init__(self, options):
        program = options.plimsoll_serve
        super().__init__(
            "zanzibar, SQLite", [program, "zanzibar", "--listen", "127.0.0.1:0"], options
        )
        url = json.loads(self.process.stdout.readline())["url"]
        self.port = int(url.rsplit(":", 1)[1])
        waiting = list(tuples(options.ids))

        def write():
            connection = self.connect()
            while True:
                try:
                    fields = waiting.pop()
                except IndexError:
                    return
                post(connection, CHECK.replace("Check", "Write"), {"tuple": self.tuple(fields)})

        threads = [threading.Thread(target=write) for _ in range(16)]
        [thread.start() for thread in threads]
        [thread.join() for thread in threads]

    @staticmethod
    def tuple(fields):
        names = ("objectType", "objectId", "objectRelation", "subjectType", "subjectId", "subjectRelation")
        return {name: value for name, value in zip(names, fields) if value}

    def request(self, i, user):
        fields = ("doc", f"mydoc{i}", "viewer", "user", f"myuser{user}", "")
        return CHECK, {"tuple": self.tuple(fields)}


def openfga_model():
    """The default model of zanzibar in OpenFGA's syntax."""
    this = {"this": {}}
    computed = lambda relation: {"computedUserset": {"relation": relation}}
    parent = lambda relation: {
        "tupleToUserset": {"tupleset": {"relation": "parent"}, "computedUserset": {"relation": relation}}
    }
    union = lambda *parts: {"union": {"child": list(parts)}}
    who = {"directly_related_user_types": [{"type": "user"}, {"type": "group", "relation": "member"}]}

    def type_of(name, relations, **special):
        directly = {relation: special.get(relation, who) for relation in relations}
        return {"type": name, "relations": relations, "metadata": {"relations": directly}}

    return {
        "schema_version": "1.1",
        "type_definitions": [
            {"type": "user"},
            type_of("group", {"member": this}),
            type_of("folder", {
                "owner": this,
                "editor": union(this, computed("owner")),
                "viewer": union(this, computed("editor")),
            }),
            type_of("doc", {
                "parent": this,
                "owner": union(this, parent("owner")),
                "editor": union(this, computed("owner"), parent("editor")),
                "viewer": union(this, computed("editor"), parent("viewer")),
            }, parent={"directly_related_user_types": [{"type": "folder"}]}),
        ],
    }


class OpenFga(Server):
    answer = "allowed"

    def __init__(self, options, engine, directory):
        self.port = free_port()
        storage = ["--datastore-engine", engine]
        if engine == "sqlite":
            storage += ["--datastore-uri", f"file:{directory}/openfga.sqlite"]
            subprocess.run([options.openfga, "migrate", *storage], check=True, capture_output=True)
        super().__init__(
            f"OpenFGA, {engine}",
            [options.openfga, "run", *storage, "--http-addr", f"127.0.0.1:{self.port}",
             "--grpc-addr", f"127.0.0.1:{free_port()}", "--log-level", "none",
             "--playground-enabled=false", "--metrics-enabled=false"],
            options,
        )
        deadline = time.monotonic() + 30
        while True:
            try:
                connection = self.connect()
                store = post(connection, "/stores", {"name": "measured"})["id"]
                break
            except OSError:
                if time.monotonic() > deadline:
                    sys.exit(f"{self.name} does not start")
                time.sleep(0.05)
        self.store = f"/stores/{store}"
        self.model = post(connection, f"{self.store}/authorization-models", openfga_model())[
            "authorization_model_id"
        ]
        keys = []
        for kind, id, relation, user_kind, user, user_relation in tuples(options.ids):
            user = f"{user_kind}:{user}" + (f"#{user_relation}" if user_relation else "")
            keys.append({"object": f"{kind}:{id}", "relation": relation, "user": user})
        for first in range(0, len(keys), 100):
            writes = {"tuple_keys": keys[first : first + 100]}
            post(connection, f"{self.store}/write", {"writes": writes, "authorization_model_id": self.model})

    def request(self, i, user):
        key = {"object": f"doc:mydoc{i}", "relation": "viewer", "user": f"user:myuser{user}"}
        return f"{self.store}/check", {"tuple_key": key, "authorization_model_id": self.model}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--openfga", default=shutil.which("openfga") or str(pathlib.Path.home() / "go/bin/openfga"))
    parser.add_argument("--plimsoll-serve", default=str(TREE / "target/release/plimsoll-serve"))
    parser.add_argument("--ids", type=int, default=10_000, help="number of groups, of folders and of documents")
    parser.add_argument("--seconds", type=int, default=5, help="of one round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--connections", type=int, default=50)
    parser.add_argument("--server-cpu", default="0")
    parser.add_argument("--client-cpu", default="1")
    parser.add_argument("--prepared", help="wait for this file after the tuples are created")
    options = parser.parse_args()
    for program in (options.openfga, options.plimsoll_serve, "wrk", "taskset"):
        if not shutil.which(program):
            sys.exit(f"{program} is not installed; see the top of {__file__}")

    servers = []
    with tempfile.TemporaryDirectory() as directory:
        try:
            servers.append(Zanzibar(options))
            servers.append(OpenFga(options, "memory", directory))
            servers.append(OpenFga(options, "sqlite", directory))
            for server in servers:
                server.verify()
            print("seeded and verified", file=sys.stderr, flush=True)
            if options.prepared:
                while not os.path.exists(options.prepared):
                    time.sleep(0.1)
            found = {server.name: [] for server in servers}
            for _ in range(options.rounds):
                for server in servers:
                    found[server.name].append(server.measure(options.seconds, options.connections))
            for server in servers:
                server.verify()
        finally:
            for server in servers:
                server.stop()
    print("| | checks/s | per processor second | p50 | p99 | zanzibar's ratio |\n|---|---|---|---|---|---|")
    middle = lambda name, figure: statistics.median(round[figure] for round in found[name])
    ours = middle(servers[0].name, "per_cpu")
    for name, rounds in found.items():
        per_cpu = middle(name, "per_cpu")
        typical = sorted(rounds, key=lambda round: round["rate"])[len(rounds) // 2]
        print(
            f"| {name} | {middle(name, 'rate'):,.0f} | {per_cpu:,.0f} | {typical['p50']} | "
            f"{typical['p99']} | {ours / per_cpu:.1f} |"
        )


if __name__ == "__main__":
    main()
