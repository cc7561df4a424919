; extends
; Inline PTX: strings of `asm` in which a word is followed by a dot and a letter, as in `add.u32`.

((gnu_asm_expression
  assembly_code: (string_literal
    (string_content) @injection.content))
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))

((gnu_asm_expression
  assembly_code: (concatenated_string
    (string_literal
      (string_content) @injection.content)))
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))
