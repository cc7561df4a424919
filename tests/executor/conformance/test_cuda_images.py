"""Textures and surfaces as the CUDA driver is given them; a driver of our own tells what it was given."""

from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from ptx_lsp.executor.machine.texture import Geometry, Opaque, Sampler, Surface, Texture
from tests.executor.conformance.cuda_images import Images, UnbindableError

DRIVER = r"""
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
typedef int R;
typedef struct { size_t width, height, depth; unsigned format, channels, flags; } Description;
typedef struct { Description d; unsigned bytes, number; char data[4096]; } Array;
typedef struct { unsigned count; Array levels[4]; } Mipmap;
typedef struct {
  Array *array; Mipmap *mipmap;
  int address[3], filter, mip;
  unsigned flags;
  float border[4], last;
} Ref;
typedef struct {
  size_t x, y, z, level;
  unsigned kind;
  char *host; uint64_t device; Array *array; void *none;
  size_t pitch, height;
} End;
typedef struct { End from, to; size_t width, height, depth; } Copy;
Ref texture, surface;
int live;
static void made(Array *a, const Description *d) { memset(a, 0, sizeof *a); a->d = *d; }
R cuArray3DCreate_v2(Array **a, const Description *d) { made(*a = malloc(sizeof **a), d); live++; return 0; }
R cuArrayDestroy(Array *a) { free(a); live--; return 0; }
R cuMipmappedArrayCreate(Mipmap **m, const Description *d, unsigned n) {
  (*m = malloc(sizeof **m))->count = n;
  for (unsigned i = 0; i < n; i++) made(&(*m)->levels[i], d);
  live++;
  return n > 4;
}
R cuMipmappedArrayGetLevel(Array **a, Mipmap *m, unsigned n) { *a = &m->levels[n]; return n >= m->count; }
R cuMipmappedArrayDestroy(Mipmap *m) { free(m); live--; return 0; }
static R wrong(void *m, const char *n, const char *name) { return m != (void *)7 || strcmp(n, name); }
R cuModuleGetTexRef(Ref **r, void *m, const char *n) {
  memset(*r = &texture, 0, sizeof texture); /* each test has a module of its own */
  return wrong(m, n, "t");
}
R cuModuleGetSurfRef(Ref **r, void *m, const char *n) { *r = &surface; return wrong(m, n, "s"); }
R cuTexRefSetArray(Ref *r, Array *a, unsigned f) { r->array = a; r->mipmap = 0; return f != 1; }
R cuTexRefSetMipmappedArray(Ref *r, Mipmap *m, unsigned f) { r->mipmap = m; return f != 1; }
R cuTexRefSetAddressMode(Ref *r, int d, int m) { r->address[d] = m; return 0; }
R cuTexRefSetFilterMode(Ref *r, int m) { r->filter = m; return 0; }
R cuTexRefSetMipmapFilterMode(Ref *r, int m) { r->mip = m; return 0; }
R cuTexRefSetMipmapLevelClamp(Ref *r, float a, float b) { r->last = b; return a != 0; }
R cuTexRefSetBorderColor(Ref *r, float *c) { memcpy(r->border, c, sizeof r->border); return 0; }
R cuTexRefSetFlags(Ref *r, unsigned f) { r->flags = f; return 0; }
R cuSurfRefSetArray(Ref *r, Array *a, unsigned f) { r->array = a; return f; }
R cuMemcpy3D_v2(const Copy *c) {
  Array *a = c->to.kind == 3 ? c->to.array : c->from.array;
  const End *host = c->to.kind == 3 ? &c->from : &c->to;
  if (host->kind != 1 || a->d.depth && a->d.depth != c->depth || c->to.kind + c->from.kind != 4) return 1;
  for (size_t z = 0; z < c->depth; z++)
    for (size_t y = 0; y < c->height; y++) {
      char *there = a->data + (z * c->height + y) * c->width;
      char *here = host->host + (z * host->height + y) * host->pitch;
      if (c->to.kind == 3) memcpy(there, here, c->width); else memcpy(here, there, c->width);
    }
  a->bytes = c->width * c->height * c->depth;
  return 0;
}
void told(unsigned *n, float *border) {
  Array *a = texture.mipmap ? texture.mipmap->levels : texture.array;
  Ref *t = &texture;
  unsigned found[] = {a->d.width, a->d.height, a->d.depth, a->d.format, a->d.channels, a->d.flags, a->bytes,
                      t->address[0], t->address[1], t->address[2], t->filter, t->flags,
                      t->mipmap ? t->mipmap->count : 0, t->mip, t->last, live};
  memcpy(n, found, sizeof found);
  memcpy(border, texture.border, sizeof texture.border);
}
void texels(unsigned level, unsigned *n) { memcpy(n, texture.mipmap ? texture.mipmap->levels[level].data
                                                                   : texture.array->data, 16); }
unsigned kernel(void) {
  for (unsigned i = 0; i < surface.array->bytes; i++) surface.array->data[i]++;
  return surface.array->d.flags;
}
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    folder = tmp_path_factory.mktemp("driver")
    source, library = folder / "driver.c", folder / "driver.so"
    source.write_text(DRIVER)
    command = ["cc", "-shared", "-fPIC", "-w", "-o", str(library), str(source)]
    if sys.platform == "win32" or subprocess.run(command, check=False).returncode:
        pytest.skip("no C compiler")
    return ctypes.CDLL(str(library))


def bound(driver: ctypes.CDLL, **objects: Opaque) -> Images:
    def call(name: str, *arguments: object) -> None:
        assert getattr(driver, name)(*arguments) == 0, name

    images = Images(call)
    try:
        images.bind(ctypes.c_void_p(7), objects)
    except UnbindableError:
        images.destroy()
        raise
    return images


def told(driver: ctypes.CDLL, texture: Texture) -> tuple[list[int], list[float]]:
    numbers, border = np.zeros(16, np.uint32), np.zeros(4, np.float32)
    images = bound(driver, t=texture)
    driver.told(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_void_p(border.ctypes.data))
    images.destroy()
    return numbers.tolist(), border.tolist()


def test_a_texture(driver: ctypes.CDLL) -> None:
    found, border = told(driver, Texture(
        np.arange(24, dtype=np.uint8).reshape(3, 4, 2), geometry="2d", address=("wrap", "border"),
        filter="linear", normalized=True, border=(1, 2, 3, 4), as_floats=True,
    ))
    size = [4, 3, 0, 1, 2, 8, 24]  # width, height, no depth, bytes, two channels, to be gathered
    assert found == [*size, 0, 3, 1, 1, 2, 0, 0, 0, 1]
    assert border == [1, 2, 3, 4]


@pytest.mark.parametrize(("geometry", "shape", "size", "flags"), [
    ("1d", (5,), [5, 0, 0], 0), ("3d", (2, 3, 4), [4, 3, 2], 0), ("a1d", (3, 5), [5, 0, 3], 1),
    ("a2d", (2, 3, 4), [4, 3, 2], 1), ("cube", (6, 2, 2), [2, 2, 6], 4),
    ("acube", (2, 6, 2, 2), [2, 2, 12], 5),
])
def test_geometries(
    driver: ctypes.CDLL, geometry: Geometry, shape: tuple[int, ...], size: list[int], flags: int
) -> None:
    array = np.zeros(shape, np.int16)
    found, _ = told(driver, Texture(array, geometry=geometry))
    assert found[:7] == [*size, 9, 1, flags, array.nbytes]
    assert found[11] == 1  # read as integers


def test_a_mipmap(driver: ctypes.CDLL) -> None:
    levels = [np.full((size, size), 10.0 + size, np.float32) for size in (4, 2, 1)]
    images = bound(driver, t=Texture(levels, mip_filter="linear", address="mirror"))
    numbers, border, texels = np.zeros(16, np.uint32), np.zeros(4, np.float32), np.zeros(4, np.float32)
    driver.told(ctypes.c_void_p(numbers.ctypes.data), ctypes.c_void_p(border.ctypes.data))
    assert numbers.tolist() == [4, 4, 0, 32, 1, 0, 64, 2, 2, 2, 0, 0, 3, 1, 2, 1]
    for level, first in ((0, 14), (1, 12), (2, 11)):
        driver.texels(ctypes.c_uint(level), ctypes.c_void_p(texels.ctypes.data))
        assert texels[0] == first
    images.destroy()


def test_a_surface(driver: ctypes.CDLL) -> None:
    array = np.arange(12, dtype=np.uint8).reshape(2, 3, 2)
    images = bound(driver, s=Surface(array, geometry="3d"))
    assert driver.kernel() == 2  # it can be stored to
    images.collect()
    images.destroy()
    assert array.reshape(-1).tolist() == list(range(1, 13))


@pytest.mark.parametrize(("one", "why"), [
    (Sampler(), "no samplers of their own"),
    (Texture(np.zeros((2, 2, 2), np.float32), geometry="2dms"), r"samples \(`\.2dms`\)"),
    (Texture(np.zeros(2, np.float32), address="clamp_ogl"), "no address mode `clamp_ogl`"),
])
def test_what_the_driver_has_not(driver: ctypes.CDLL, one: Opaque, why: str) -> None:
    with pytest.raises(UnbindableError, match=why):
        bound(driver, t=one)
