"""Builds the Go programs that the prove.py scripts need."""

import os
import shutil
import subprocess


def build(source, folder, name):
    """Returns the path of a program: the value of the variable NAME, or else a program built in `folder` from the main.go and
    the go.mod in `source`."""
    given = os.environ.get(name.upper())
    if given:
        return given
    for file in ("main.go", "go.mod"):
        shutil.copy(source / file, folder)
    environment = os.environ | {"GOFLAGS": "-mod=mod"}
    for command in (["go", "mod", "tidy"], ["go", "build", "-o", name, "."]):
        subprocess.run(command, cwd=folder, env=environment, check=True)
    return str(folder / name)
