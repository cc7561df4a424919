; extends
; inherits: c

((gnu_asm_expression
  assembly_code: (raw_string_literal
    (raw_string_content) @injection.content))
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))
