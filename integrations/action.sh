#!/usr/bin/env bash
# Runs ptx-lint for the GitHub action. PTX_LINT_* are its inputs, GITHUB_* the files of GitHub.
# Works with bash 3.2, the version of macOS.
set -uo pipefail

options=()
[[ -n ${PTX_LINT_FAIL_ON:-} ]] && options+=(--fail-on "$PTX_LINT_FAIL_ON")
[[ -n ${PTX_LINT_BASELINE:-} ]] && options+=(--baseline "$PTX_LINT_BASELINE")
[[ -n ${PTX_LINT_SARIF:-} ]] && options+=(--format "sarif=$PTX_LINT_SARIF")
[[ ${PTX_LINT_PTXAS:-false} == true ]] && options+=(--ptxas)
summary=""
if [[ ${PTX_LINT_SUMMARY:-true} == true && -n ${GITHUB_STEP_SUMMARY:-} ]]; then
  summary=$(mktemp)
  options+=(--format "markdown=$summary")
fi
if [[ ${PTX_LINT_ANNOTATIONS:-true} == true ]]; then
  options+=(--format github)
else
  options+=(--format full)
fi

# Inputs are words separated by blanks, quotes as in a shell; xargs runs nothing of what they say.
words() { [[ -z ${1//[[:space:]]/} ]] || printf '%s\n' "$1" | xargs printf '%s\0'; }
more=() paths=()
while IFS= read -r -d '' word; do more+=("$word"); done < <(words "${PTX_LINT_ARGS:-}")
while IFS= read -r -d '' word; do paths+=("$word"); done < <(words "${PTX_LINT_PATHS:-.}")

ptx-lint "${options[@]}" ${more[@]+"${more[@]}"} -- ${paths[@]+"${paths[@]}"}
status=$?
if [[ -n $summary ]]; then
  cat "$summary" >> "$GITHUB_STEP_SUMMARY"
  rm -f "$summary"
fi
[[ -n ${GITHUB_OUTPUT:-} ]] && echo "status=$status" >> "$GITHUB_OUTPUT"
exit "$status"
