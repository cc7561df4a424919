"""Damage to declarations, heads, prototypes, calls, sections, numbers and tokens, a subject a module.

The files are written for it: together they have every directive, state space and form of declaration.
"""

from importlib import import_module
from pkgutil import iter_modules

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
