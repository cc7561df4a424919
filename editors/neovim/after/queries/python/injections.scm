; extends
; Inline PTX: the strings of Triton's `inline_asm_elementwise` and of `inline_asm` in which a word is followed by
; a dot and a letter, as in `add.u32`.

((call
  function: [
    (identifier) @_function
    (attribute attribute: (identifier) @_function)
  ]
  arguments: (argument_list
    [
      (string (string_content) @injection.content)
      (concatenated_string (string (string_content) @injection.content))
      (keyword_argument value: (string (string_content) @injection.content))
      (keyword_argument
        value: (concatenated_string (string (string_content) @injection.content)))
      (keyword_argument
        value: (parenthesized_expression
          (concatenated_string (string (string_content) @injection.content))))
    ]))
  (#any-of? @_function "inline_asm_elementwise" "inline_asm" "inline_ptx" "InlineAsm")
  (#match? @injection.content "[a-z]\\.[a-z]")
  (#set! injection.language "ptx"))
