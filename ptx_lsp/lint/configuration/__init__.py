"""The settings of a run: configuration files, selected rules, suppressions, budgets."""
