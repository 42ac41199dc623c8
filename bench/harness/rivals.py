"""Finds the programs that are measured, and installs those that are missing."""

import os
import shutil
import subprocess
from pathlib import Path

BENCH = Path(__file__).resolve().parent.parent
ROOT = BENCH.parent
RIVALS = BENCH / ".rivals"

APT = {"wrk": "wrk", "iperf3": "iperf3", "h2load": "nghttp2-client", "nginx": "nginx-light"}
GO = {
    "k6": "go.k6.io/k6@v1.8.1",
    # The newest version whose modules are all available from the module proxy.
    "fortio": "fortio.org/fortio@v1.66.5",
    "hey": "github.com/rakyll/hey@v0.1.4",
    "ghz": "github.com/bojand/ghz/cmd/ghz@v0.120.0",
    "vegeta": "github.com/tsenart/vegeta/v12@v12.12.0",
}
CARGO = {"oha": "1.16.0"}
# Not available as a package, so it is measured only if it is in PATH.
UNPACKAGED = {"wrk2"}
OURS = {
    "plimsoll": ("plimsoll", "release"),
    "fixed-server": ("plimsoll-bench", "release"),
    "bare-client": ("plimsoll-bench", "release"),
    "echo-round-trip": ("plimsoll-bench", "release"),
    "link-exchanges": ("plimsoll-bench", "release"),
    "grpc-fixed": ("plimsoll-bench", "release"),
    "websocket-echo": ("plimsoll-bench", "release"),
}


def find(name):
    """The path of a program, or None if it is not installed."""
    if name in OURS:
        built = target() / OURS[name][1] / name
        return built if built.exists() else None
    for folder in (RIVALS / "bin", Path.home() / "go/bin"):
        if (folder / name).exists():
            return folder / name
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/sbin")
    return Path(found) if found else None


def use_profile(profile):
    """Uses our programs from another Cargo profile than `release`."""
    for name, (package, _) in OURS.items():
        OURS[name] = (package, profile)


def target():
    return Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))


def build_ours(profile, say):
    """Builds our programs with a Cargo profile."""
    for package in ("plimsoll-bench", "plimsoll"):
        _try(["cargo", "build", "--profile", profile, "--quiet", "-p", package], say, cwd=ROOT)


def install_missing(names, say):
    """Installs the missing tools; reports those that could not be installed."""
    for name in names:
        if name in OURS or find(name):
            continue
        say(f"installing {name}")
        environment = {"GOBIN": str(RIVALS / "bin"), "GOFLAGS": "-mod=mod"}
        if name in APT:
            _try(["apt-get", "install", "-y", "-q", APT[name]], say)
        elif name in GO:
            _try(["go", "install", GO[name]], say, env=environment)
        elif name in CARGO:
            version = ["--version", CARGO[name], "--locked"]
            _try(["cargo", "install", name, *version, "--root", RIVALS], say)
        if not find(name):
            say(f"!!! {name} is not installed and could not be installed: IT IS LEFT OUT of every table")


def _try(command, say, env=None, cwd=None):
    try:
        done = subprocess.run(
            [str(part) for part in command],
            env={**os.environ, **(env or {})},
            cwd=cwd,
            capture_output=True,
            text=True,
            timeout=1800,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        say(f"!!! {command[0]}: {error}")
        return
    if done.returncode != 0:
        say(f"!!! {' '.join(map(str, command))} failed: {done.stderr.strip()[-600:]}")
