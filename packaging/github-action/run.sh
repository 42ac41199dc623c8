#!/usr/bin/env bash
# Runs plimsoll with $ARGUMENTS, one per line, and writes its reports to $DIRECTORY. Plimsoll itself writes the annotations
# and the step summary. The exit status is that of plimsoll.
set -uo pipefail

plimsoll=${PLIMSOLL:-plimsoll}
directory=${DIRECTORY:-plimsoll-report}

arguments=()
while IFS= read -r line; do
  # Spaces around an argument come from the indentation of the workflow.
  line="${line#"${line%%[![:space:]]*}"}"
  line="${line%"${line##*[![:space:]]}"}"
  if [ -n "$line" ]; then
    arguments+=("$line")
  fi
done <<<"${ARGUMENTS:-}"
if [ ${#arguments[@]} -eq 0 ]; then
  echo "::error title=Plimsoll::the input \"arguments\" is empty: write one argument per line, such as http"
  exit 104
fi
if ! command -v "$plimsoll" >/dev/null 2>&1; then
  echo "::error title=Plimsoll::the program $plimsoll was not found: install it in an earlier step, or set the input \"plimsoll\""
  exit 255
fi

mkdir -p "$directory" || exit 255
flags=(
  --record "$directory/run.jsonl"
  --report "$directory/report.html"
  --report "$directory/report.md"
  --report "$directory/report.json"
  --junit "$directory/junit.xml"
  --github
)
if [ -n "${FAIL_ON:-}" ]; then
  flags+=(--fail-on "$FAIL_ON")
fi
if [ -n "${BASELINE:-}" ]; then
  flags+=(--baseline "$BASELINE")
fi

"$plimsoll" "${arguments[@]}" "${flags[@]}"
status=$?
if [ -n "${GITHUB_OUTPUT:-}" ]; then
  {
    echo "status=$status"
    echo "directory=$directory"
  } >>"$GITHUB_OUTPUT"
fi
exit "$status"
