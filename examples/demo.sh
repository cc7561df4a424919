#!/bin/sh
# What ptx-lsp does, in three steps; `make demo` runs this. Arguments: the folder with the commands, the report to write.
set -eu
PATH="$1:$PATH"
cd "$(dirname "$0")/.."

step() {
  printf '\n\033[1m%s\033[0m\n' "$1"
}
show() {
  echo "\$ $*"
  "$@" || test $? = 1 # findings
}

step "1. ptx-lint finds mistakes, also several at once, with columns and fixes:"
show ptx-lint --format concise examples/mistakes.ptx

step "2. ptx-run runs kernels without a GPU. The result of this one looks right, but --check finds that a barrier is missing:"
show ptx-run --check examples/reverse.ptx

step "3. A report of what compilers made: occupancy, register pressure, control flow, findings:"
show ptx-lint --exit-zero --report "$2" examples | head -n 1
echo "Open $2 in a browser."

step "Next:"
cat <<END
  . $1/activate
  ptx-lint FILE.ptx              your own PTX; also FILE.cu with inline PTX, libraries and fat binaries
  ptx-lint --kernels FILE.ptx    registers and occupancy of each kernel
  ptx-lint --explain bar.sync    any instruction, directive, special register or rule
  ptx-run --explain race         any finding of ptx-run
  ptx-run --debug FILE.ptx       step a kernel in the terminal, also backwards
  docs/tutorial.md               from a first kernel to a check in CI
  docs/editors.md                VS Code, Neovim, Helix, Emacs, Vim, Zed, Sublime Text
END
