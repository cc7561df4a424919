"""What a PTX file means: modules, functions, registers and labels, with every name resolved."""
