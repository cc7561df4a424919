(function
  name: (identifier) @name
  body: (block)) @definition.function

(function
  name: (identifier) @name) @definition.interface

(source_file
  (declaration
    (declarator name: (identifier) @name)) @definition.constant)

(aggregate name: (identifier) @name) @definition.class

((instruction
  opcode: (opcode name: (identifier) @_opcode)
  operand: (identifier) @name) @reference.call
  (#eq? @_opcode "call"))
