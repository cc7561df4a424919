"""What counts: configuration files, selected rules, suppressions, budgets."""
