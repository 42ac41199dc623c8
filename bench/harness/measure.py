"""Runs one program on one CPU and measures its cost."""

import os
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

GENERATOR_CPU = 1
SERVER_CPU = 0


@dataclass
class Cost:
    """The cost and the output of one run of a program."""

    exit_status: int
    wall_seconds: float
    cpu_seconds: float
    stdout: str
    stderr: str
    peak_rss_bytes: int = 0
    resident_bytes: list = field(default_factory=list)
    started_ns: int = 0

    def steady_rss_bytes(self):
        """Median resident memory over the second half of the run."""
        half = sorted(self.resident_bytes[len(self.resident_bytes) // 2 :])
        return half[len(half) // 2] if half else 0


def run(argv, *, env=None, cwd=None, timeout=600, cpu=GENERATOR_CPU, sample_every=0.1):
    """Runs `argv` pinned to `cpu`; user and system time come from the kernel's own account."""
    command = [str(part) for part in argv]
    if cpu is not None:
        command = ["taskset", "-c", str(cpu), *command]
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        started_ns = time.monotonic_ns()
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        watch = _MemoryWatch(process.pid, sample_every)
        watch.start()
        killer = threading.Timer(timeout, process.kill)
        killer.start()
        # wait4 and not Popen.wait: only it returns the resource usage of this child.
        _, status, usage = os.wait4(process.pid, 0)
        wall = (time.monotonic_ns() - started_ns) / 1e9
        killer.cancel()
        watch.stop()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Cost(
            exit_status=process.returncode,
            wall_seconds=wall,
            cpu_seconds=usage.ru_utime + usage.ru_stime,
            stdout=out.read(),
            stderr=err.read(),
            peak_rss_bytes=watch.peak,
            resident_bytes=watch.resident,
            started_ns=started_ns,
        )


class _MemoryWatch(threading.Thread):
    """Reads a process's memory from /proc.

    `ru_maxrss` would not do: it starts from what this interpreter held when it forked.
    """

    def __init__(self, pid, every):
        super().__init__(daemon=True)
        self.status = Path(f"/proc/{pid}/status")
        self.every = every
        self.peak = 0
        self.resident = []
        self.over = threading.Event()

    def run(self):
        while not self.over.wait(self.every):
            try:
                lines = self.status.read_text().splitlines()
            except OSError:
                return
            for line in lines:
                if line.startswith("VmHWM:"):
                    self.peak = max(self.peak, int(line.split()[1]) * 1024)
                elif line.startswith("VmRSS:"):
                    self.resident.append(int(line.split()[1]) * 1024)

    def stop(self):
        self.over.set()
        self.join()
