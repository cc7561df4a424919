; extends
; Inline PTX: strings of `@asmcall` in which a word is followed by a dot and a letter, as in `add.u32`.

((macrocall_expression
  (macro_identifier (identifier) @_macro)
  (argument_list
    (string_literal (content) @injection.content)))
  (#eq? @_macro "asmcall")
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))
