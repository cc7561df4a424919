#!/usr/bin/env bash
# Posts findings as review comments with reviewdog: integrations/reviewdog.sh [PATH ...]
# REVIEWDOG_REPORTER is github-pr-review, gitlab-mr-discussion, ... (default: local)
set -uo pipefail
report=$(mktemp)
trap 'rm -f "$report"' EXIT
ptx-lint --exit-zero --format rdjson "${@:-.}" > "$report" || exit $?
reviewdog -f=rdjson -name=ptx-lint -reporter="${REVIEWDOG_REPORTER:-local}" \
  -fail-level="${REVIEWDOG_FAIL_LEVEL:-error}" < "$report"
