"""One rule a file; `ptx_lsp.lint.rule.all_rules` finds them."""
