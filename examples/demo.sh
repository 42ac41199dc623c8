#!/usr/bin/env bash
# Builds both programs, starts the reference server on free ports, runs a k6 script
# against it and shows the summary.
set -euo pipefail
cd "$(dirname "$0")/.."

for need in cargo:"Rust, by rustup (the version is in rust-toolchain.toml)" cc:"a C compiler (Debian: apt-get install build-essential)"; do
  command -v "${need%%:*}" >/dev/null 2>&1 || {
    echo "demo: '${need%%:*}' is missing; install ${need#*:}" >&2
    exit 1
  }
done

echo "Building (the first time takes some minutes) …"
cargo build --quiet --profile fast --package plimsoll --package plimsoll-serve
programs=${CARGO_TARGET_DIR:-target}/fast
results=${CARGO_TARGET_DIR:-target}/demo
rm -rf "$results"
mkdir -p "$results"

"$programs/plimsoll" serve payload --plain-port 0 --tls-port off --mutual-tls-port off --grpc-port off \
  >"$results/server.json" 2>"$results/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; wait "$server" 2>/dev/null || true' EXIT

# The server says where it is in one line of JSON, once it is ready.
for _ in $(seq 100); do
  [[ -s $results/server.json ]] && break
  kill -0 "$server" 2>/dev/null || { echo "demo: the server did not start:" >&2; cat "$results/server.log" >&2; exit 1; }
  sleep 0.05
done
url=$(sed -nE 's/.*"plain":"([^"]+)".*/\1/p' "$results/server.json")
[[ -n $url ]] || { echo "demo: the server did not say where it is; see $results/server.log" >&2; exit 1; }

echo "\$ plimsoll run -e BASE_URL=$url --summary-export $results/summary.json examples/demo.js"
status=0
"$programs/plimsoll" run -e BASE_URL="$url" --summary-export "$results/summary.json" examples/demo.js || status=$?

echo
[[ -s $results/summary.json ]] && echo "The same result as JSON: $results/summary.json"
echo "The server's log:        $results/server.log"
exit "$status"
