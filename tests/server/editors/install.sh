#!/bin/sh
# Installs the editors that the tests drive and a system's packages have: Emacs with eglot, Vim with ALE, and
# tmux, which presses the keys. Debian and Ubuntu, as root or with sudo. Installs nothing twice.
set -eu
packages="tmux vim vim-ale emacs-nox elpa-eglot"
missing=""
for package in $packages; do
  dpkg-query -W -f '${Status}' "$package" 2> /dev/null | grep -q ' installed$' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if ! command -v apt-get > /dev/null; then
  echo "apt-get is missing: install Emacs with eglot, Vim with ALE, and tmux to run their tests" >&2
  exit 1
fi
root=""
if [ "$(id -u)" != 0 ]; then
  root="sudo -n"
  $root true || { echo "only root can install$missing" >&2; exit 1; }
fi
echo "Installing$missing"
$root apt-get update -qq
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing > /dev/null
