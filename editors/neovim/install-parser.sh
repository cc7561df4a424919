#!/bin/sh
# Compiles the tree-sitter parser and installs it, with the queries, where Neovim finds them.
#   sh install-parser.sh [FOLDER]      FOLDER is in Neovim's runtimepath, by default ~/.config/nvim
set -eu
grammar=$(cd "$(dirname "$0")/../../tree-sitter-ptx" && pwd)
folder=${1:-${XDG_CONFIG_HOME:-$HOME/.config}/nvim}
mkdir -p "$folder/parser" "$folder/queries/ptx"
"${CC:-cc}" -O2 -fPIC -shared -I"$grammar/src" "$grammar"/src/*.c -o "$folder/parser/ptx.so"
cp "$grammar"/queries/*.scm "$folder/queries/ptx/"
echo "Installed the PTX parser and queries in $folder"
