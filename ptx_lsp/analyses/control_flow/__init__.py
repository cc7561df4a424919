"""Control flow: basic blocks, dominators, loops, early exits and the call graph."""
