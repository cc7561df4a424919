# SYNTAX TEST "source.python" "PTX in strings of Python"
x = "add.u32 %r1;"
#    ^^^ - support.function.opcode.ptx
y = tl.inline_asm_elementwise("shl.b32 $0, $1, 3;", "=r,r", [f(x)], dtype=tl.int32)
#      ^^^^^^^^^^^^^^^^^^^^^^ support.function.python
#                              ^^^ support.function.opcode.ptx
#                                 ^^^^ storage.type.ptx
#                                      ^^ variable.parameter.operand.ptx
#                                                    ^^^^ - meta.embedded.inline.ptx
z = inline_asm(t, [x], """
    {
    .reg .b32 t;
#   ^^^^ storage.modifier.state-space.ptx
    add.u32 t, $1, {n};
#   ^^^ support.function.opcode.ptx
#                  ^^^ variable.parameter.operand.ptx
    }""", "=r,r")
def f(x): return x
#^^ keyword.python
