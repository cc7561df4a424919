"""The earlier name of `ptx_lsp.analyses`: `from analyses.occupancy import occupancy` imports the same module.

Nothing in ptx-lsp imports it. A wheel has it as the single module `analyses.py`: Python prefers a package of
that name in the same folder.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType


class _Alias(MetaPathFinder, Loader):
    """Imports `ptx_lsp.analyses.NAME` for `analyses.NAME`, as long as this module is `analyses`."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        is_ours = fullname.startswith(f"{__name__}.") and sys.modules.get(__name__) is _THIS
        return ModuleSpec(fullname, self) if is_ours else None

    def exec_module(self, module: ModuleType) -> None:
        sys.modules[module.__name__] = import_module(f"ptx_lsp.{module.__name__}")


_THIS = sys.modules[__name__]
__path__ = list[str]()
sys.meta_path.insert(0, _Alias())
