#!/usr/bin/env bash
# Runs the audit on the files of $FILES, annotates the workflow and writes a summary.
set -uo pipefail
shopt -s globstar nullglob

# Patterns are expanded here; a name that matches nothing is an error of the audit.
files=()
for pattern in $FILES; do
  files+=("$pattern")
done
if [ ${#files[@]} -eq 0 ]; then
  echo "::error title=Plimsoll audit::no file matches: $FILES"
  exit 2
fi

plimsoll=${PLIMSOLL:-plimsoll}
"$plimsoll" audit --format github -- "${files[@]}"
status=$?

if [ -n "${SARIF:-}" ]; then
  "$plimsoll" audit --format sarif -- "${files[@]}" >"$SARIF" 2>/dev/null
fi
if [ -n "${GITHUB_STEP_SUMMARY:-}" ]; then
  "$plimsoll" audit --format markdown -- "${files[@]}" >>"$GITHUB_STEP_SUMMARY" 2>/dev/null
fi

# 1 is a finding, 2 a file that could not be read.
if [ "$status" -eq 1 ] && [ "${FAIL_ON:-warning}" = none ]; then
  exit 0
fi
exit "$status"
