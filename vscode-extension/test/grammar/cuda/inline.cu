// SYNTAX TEST "source.cpp" "PTX in the strings of asm"
int lane() { // asm("not.here;")
//           ^^^^^^^^^^^^^^^^^^^ - support.function.opcode.ptx
  int x;
//^^^ storage.type.built-in.primitive.cpp
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(x));
//^^^ storage.type.asm.cpp
//    ^^^^^^^^ storage.modifier.cpp
//              ^^^ support.function.opcode.ptx
//                 ^^^^ storage.type.ptx
//                      ^^ variable.parameter.operand.ptx
//                          ^^^^^^^^ variable.other.register.ptx
//                                        ^^ string.quoted.double.cpp
  asm("{ .reg .pred p;\n\t"
//       ^^^^ storage.modifier.state-space.ptx
//                    ^^ constant.character.escape.cpp
      "setp.ne.b32 p, %1, 0;\n\t"
//     ^^^^ support.function.opcode.ptx
      "@p add.s32 %0, %0, 1; }" : "+r"(x) : "r"(f("x")));
//     ^ keyword.control.guard.ptx
//        ^^^ support.function.opcode.ptx
  float y;
//^^^^^ storage.type.built-in.primitive.cpp
}
