; extends
; Inline PTX: strings of `asm!` in which a word is followed by a dot and a letter, as in `add.u32`.

((macro_invocation
  macro: [
    (identifier) @_macro
    (scoped_identifier name: (identifier) @_macro)
  ]
  (token_tree
    [
      (string_literal (string_content) @injection.content)
      (raw_string_literal (string_content) @injection.content)
    ]))
  (#any-of? @_macro "asm" "ptx_asm")
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))
