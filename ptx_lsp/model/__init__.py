"""The model of a PTX file: modules, functions, registers and labels, with every name resolved."""
