#!/bin/sh
# Compiles the tree-sitter parser and installs it, with the queries, in Helix's runtime folder.
#   sh install.sh [FOLDER]      FOLDER is Helix's configuration folder, by default ~/.config/helix
# Helix has capture names of its own. It does not use `locals.scm` and `folds.scm`.
set -eu
grammar=$(cd "$(dirname "$0")/../../tree-sitter-ptx" && pwd)
runtime=${1:-${XDG_CONFIG_HOME:-$HOME/.config}/helix}/runtime
queries=$runtime/queries/ptx
mkdir -p "$runtime/grammars" "$queries"
"${CC:-cc}" -O2 -fPIC -shared -I"$grammar/src" "$grammar"/src/*.c -o "$runtime/grammars/ptx.so"
cp "$grammar/queries/injections.scm" "$grammar/queries/tags.scm" "$queries/"
sed -e 's/@number/@constant.numeric/' -e 's/@module/@namespace/' -e 's/@property/@variable.other.member/' \
  -e 's/@keyword\.modifier/@keyword.storage.modifier/' -e 's/@function\.call/@function/' \
  "$grammar/queries/highlights.scm" > "$queries/highlights.scm"
sed -e 's/@indent\.begin/@indent/' -e 's/@indent\.end/@outdent/' -e '/@indent\.branch/d' \
  -e '/@indent\.dedent/d' "$grammar/queries/indents.scm" > "$queries/indents.scm"
echo "Installed the PTX parser and queries in $runtime"
