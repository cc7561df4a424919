; Later patterns win over earlier ones.

; not a name of `bra` and `call`, which are no registers
((instruction operand: (identifier) @variable)
  (#match? @variable "^[%]"))
(address (identifier) @variable)
(vector (identifier) @variable)
(group (identifier) @variable)
(pair (identifier) @variable)
(member object: (identifier) @variable)
(element array: (identifier) @variable)
(element index: (identifier) @variable)
(binary_expression (identifier) @variable)
(unary_expression (identifier) @variable)
(relocation (identifier) @variable)
(initializer_list (identifier) @variable)
(declarator name: (identifier) @variable)
(declarator initializer: (identifier) @variable)
((identifier) @variable.builtin
  (#match? @variable.builtin "^[%](tid|ntid|ctaid|nctaid|laneid|warpid|nwarpid|smid|nsmid|gridid|clusterid|nclusterid|cluster_ctaid|cluster_nctaid|cluster_ctarank|cluster_nctarank|is_explicit_cluster|lanemask_(eq|le|lt|ge|gt)|clock(_hi|64)?|pm[0-7](_64)?|envreg[0-9]+|globaltimer(_lo|_hi)?|reserved_smem_offset_.*|total_smem_size|aggr_smem_size|dynamic_smem_size|current_graph_exec)$"))
((identifier) @constant.builtin
  (#eq? @constant.builtin "WARP_SZ"))
((identifier) @variable.builtin
  (#eq? @variable.builtin "_"))

; instructions
(opcode (modifier) @attribute)
((modifier) @type.builtin
  (#match? @type.builtin "^\\.(pred|[busf](8|16|32|64|128)|u16x2|s16x2|f16x2|bf16x2|bf16|tf32|e[0-9]m[0-9].*|texref|samplerref|surfref|v[2348])$"))
(guard ["@" "!"] @operator)
(guard predicate: (identifier) @variable.parameter)
(member component: (modifier) @property)
(label name: (identifier) @label)
((instruction
  opcode: (opcode name: (identifier) @_opcode)
  operand: (identifier) @label)
  (#eq? @_opcode "bra"))
((instruction
  opcode: (opcode name: (identifier) @_opcode)
  operand: (identifier) @function.call)
  (#eq? @_opcode "call"))
(target_list (identifier) @label)
(opcode name: (identifier) @function.builtin)

; declarations
[
  ".extern" ".visible" ".weak" ".common"
] @keyword.modifier
[
  ".reg" ".sreg" ".const" ".global" ".local" ".param" ".shared" ".tex" ".surf"
  ".align" ".attribute" ".struct" ".union"
] @keyword
[ ".entry" ".func" ] @keyword.function
[
  ".version" ".target" ".address_size" ".file" ".loc" ".loc_intermediate" ".section" ".pragma" ".alias"
  ".branchtargets" ".calltargets" ".callprototype"
] @keyword.directive
(directive name: (modifier) @keyword.directive)
(function_directive name: (modifier) @keyword.directive)
(section name: (modifier) @module)
(location_attribute name: (identifier) @keyword.directive)
(function name: (identifier) @function)
(alias name: (identifier) @function)
(alias aliasee: (identifier) @function)
(parameter (declarator name: (identifier) @variable.parameter))
(aggregate name: (identifier) @type)
(type_name (identifier) @type)
(target name: (identifier) @constant)

; leaves
(integer) @number
(float) @number.float
(exact_float) @number.float
(string) @string
(comment) @comment
(preprocessor_line) @keyword.directive
(dwarf_line) @keyword.directive
["," ";" ":"] @punctuation.delimiter
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
(binary_expression operator: _ @operator)
(unary_expression operator: _ @operator)
["=" "?"] @operator
(junk) @error
(malformed_number) @error
(stray_brace) @error
