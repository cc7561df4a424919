"""Makes docs/editor.gif of the frames that the tests of the VS Code extension take (`tour.test.mjs`).

    cd vscode-extension && npm run package && node --test test/e2e/tour.test.mjs
    python docs/animation.py
"""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[1]
FRAMES = ROOT / "out" / "vscode"
WIDTH = 880
COLOURS = 128


def main() -> None:
    frames = json.loads((FRAMES / "tour.json").read_text(encoding="utf-8"))
    pictures: list[Image.Image] = []
    for frame in frames:
        with Image.open(FRAMES / frame["file"]) as shot:
            size = (WIDTH, round(shot.height * WIDTH / shot.width))
            pictures.append(shot.convert("RGB").resize(size, Image.Resampling.LANCZOS))
    whole = Image.new("RGB", (WIDTH, sum(one.height for one in pictures)))
    top = 0
    for one in pictures:
        whole.paste(one, (0, top))
        top += one.height
    palette = whole.quantize(COLOURS, dither=Image.Dither.NONE)  # one for all: pixels that stay are equal
    first, *others = [one.quantize(palette=palette, dither=Image.Dither.NONE) for one in pictures]
    target = ROOT / "docs" / "editor.gif"
    first.save(
        target,
        save_all=True,
        append_images=others,
        duration=[frame["milliseconds"] for frame in frames],
        loop=0,
        optimize=True,
    )
    print(f"{target}: {len(frames)} frames, {target.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
