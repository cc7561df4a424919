"""Makes docs/report.png: the HTML report on examples/saxpy.ptx, as Chromium shows it.

    python docs/report_picture.py

The variable CHROMIUM names the browser; by default it is `chromium`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
WIDTH, HEIGHT = 1200, 1600


def main() -> None:
    target = ROOT / "docs" / "report.png"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "report.html")
        command = [sys.executable, "-m", "ptx_lsp", "--no-config", "examples/saxpy.ptx", "--report", page]
        subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
        browser = os.environ.get("CHROMIUM", "chromium")
        flags = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        size = [f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={target}"]
        subprocess.run([browser, *flags, *size, page.as_uri()], check=True, capture_output=True)
    with Image.open(target) as shot:
        smaller = shot.convert("RGB").quantize(64, dither=Image.Dither.NONE)
    smaller.save(target, optimize=True)
    print(f"{target}: {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
