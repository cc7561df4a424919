"""Texts of shapes that make programs slow: each shape in any size, legal or not. Nothing lists them."""

from importlib import import_module
from pkgutil import iter_modules

from benchmarks.shapes.making import SHAPES as SHAPES

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
