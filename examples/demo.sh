#!/usr/bin/env bash
# Builds both programs and runs a lab in its quick form, on the server's embedded storage:
# starts it, seeds it, checks its responses, loads it in sixteen variants and writes a report.
# It needs no database, and uses only loopback.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup build
# rustup installs cargo there, but the shell that ran rustup does not have it in PATH yet.
export PATH="$PATH:$HOME/.cargo/bin"

# On a terminal, cargo shows its progress.
quiet=()
[[ -t 2 ]] || quiet=(--quiet)
echo "Building Plimsoll and one reference system. The first time takes about ten minutes on two processors …"
# The lab does not need fleet, HTTP/3, Parquet or Redis, which take a third of a full build.
cargo build "${quiet[@]}" --profile quick --package plimsoll --no-default-features --features scripts
cargo build "${quiet[@]}" --profile quick --manifest-path reference-systems/Cargo.toml \
  --no-default-features --features zanzibar
target=${CARGO_TARGET_DIR:-target}

echo "\$ plimsoll lab run labs/zanzibar --quick --results $target/demo"
status=0
report=$("$target/quick/plimsoll" lab run labs/zanzibar --quick --results "$target/demo") || status=$?

if [[ -n $report ]]; then
  echo
  echo "The report, for a browser:  ${report%.md}.html"
  echo "The same, to read here:     $report"
  echo "The same, for programs:     $(dirname "$report")/result.json"
  echo "Every cell and value of it: plimsoll lab plan labs/zanzibar --quick"
fi
exit "$status"
