"""Textures: reading and asking about them (PTX ISA, section "Texture Instructions").

In unified texture mode a texture brings its sampler along; in independent mode (`.target ...,
texmode_independent`) the sampler is an operand of its own.
"""

from __future__ import annotations

from ptx_lsp.isa.schema.entry import instruction
from ptx_lsp.isa.schema.operand import address, only, predicate, reads, writes

_TEXTURE = address(type=".texref|.u64")
_SAMPLING = ".filter_mode|.addr_mode_0|.addr_mode_1|.addr_mode_2"
"""Asked of a sampler where textures have samplers of their own, else of the texture."""
_SAMPLER = only("variable", "register", type=".u64", what="a sampler, or a .u64 register")._replace(
    is_sampler=True
)

# Longer vectors than the geometry needs are allowed: what is too much is ignored. Where a vector
# is expected, one register is taken as well.
_ONE, _TWO, _FOUR = (1, 0, 2, 4), (2, 0, 4), (4, 0)
_ANY = (0, 1, 2, 4)  # one register; ptxas does not look at the length of a vector here
_COORDINATES = reads(
        {".a1d|.a2d|.acube|.2dms|.a2dms": ".b32", "ctype=.s32": ".s32", "": ".f32|.s32"},
        count={".1d": _ONE, ".2d|.a1d": _TWO, "": _FOUR},
    )._replace(after_index=True)
_OFFSET = reads(".s32", count={".1d|.a1d": (1, 0, 2, 4), ".3d": (4, 0), "": (2, 0, 4)})
_GRADIENT = reads(".f32", count={".1d|.a1d": 1, ".2d|.a2d": 2, "": 4})
_DEFINITIONS = """
        .geom  = { .1d, .2d, .3d, .a1d, .a2d, .cube, .acube, .2dms, .a2dms };
        .dtype = { .u32, .s32, .f16, .f32 };
        .ctype = { .s32, .f32 };
"""
_TEXEL = writes({".v2": ".f16x2", "": ".dtype"}, count={".v2": 2, "": 4}, sink=True)
_OPERANDS = {
    "d": _TEXEL,
    "p": predicate("write"),
    "a": _TEXTURE,
    "b": _SAMPLER,
    "c": _COORDINATES,
    "offset": _OFFSET,
    "depth": reads(".f32"),
}
_ARRAY_INDEX = [  # where no sampler stands before them, the coordinates are what follows `a`
    (f".a1d|.a2d|.acube +{name}:float-index", "the index of an array texture is an integer")
    for name in ("b", "c")
]
_UNLESS = [
    *_ARRAY_INDEX,
    (".cube|.acube ctype=.s32", "the coordinates of a cube map are .f32"),
    (".2dms|.a2dms ctype=.f32", "the coordinates of a multi-sample texture are .s32"),
    ("+depth ctype=.s32", "a depth can be compared where coordinates are .f32"),
    ("+depth .3d|.2dms|.a2dms", "depth textures of this geometry are not supported"),
    ("+offset .cube|.acube", "cube maps take no offset"),
    (".f16x2 +d:sink", "an element of a vector of .f16x2 cannot be _"),
]
_NO_LEVELS = (".2dms|.a2dms", "multi-sample textures have no levels of detail")
_SINCE = [
    (".f16|.f16x2", "4.2", 53),
    ("+a:register", "3.1", 20),
    ("+offset", "4.3", 30),
    ("+depth", "4.3", 30),
    ("+p", "7.1", 60),
]

instruction(
    "tex",
    section="texture-instructions-tex",
    summary="Reads a texture at coordinates, filtered as its sampler says.",
    syntax=f"""
        tex.geom.v4.dtype.ctype d{{|p}}, [a, {{b,}} c]{{, offset}}{{, depth}};
        tex.geom.v2.f16x2.ctype d{{|p}}, [a, {{b,}} c]{{, offset}}{{, depth}};
        {_DEFINITIONS}
    """,
    operands=_OPERANDS,
    unless=_UNLESS,
    since=[
        ("", "1.0", 10),
        (".a1d|.a2d", "2.3", 10),
        (".cube", "3.0", 10),
        (".acube", "3.0", 20),
        (".2dms|.a2dms", "3.2", 30),
        *_SINCE,
    ],
    notes=["Before PTX ISA 1.2 ptxas takes four coordinates only."],
    example="tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, {%f5, %f6}];",
)

instruction(
    "tex.base",
    section="texture-instructions-tex",
    summary="Reads the finest level of a mipmapped texture.",
    syntax=f"""
        tex.base.geom.v4.dtype.ctype d{{|p}}, [a, {{b,}} c]{{, offset}}{{, depth}};
        tex.base.geom.v2.f16x2.ctype d{{|p}}, [a, {{b,}} c]{{, offset}}{{, depth}};
        {_DEFINITIONS}
    """,
    operands=_OPERANDS,
    unless=_UNLESS,
    since=[("", "3.1", 20), (".2dms|.a2dms", "3.2", 30), *_SINCE],
    example="tex.base.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, {%f5, %f6}];",
)

instruction(
    "tex.level",
    section="texture-instructions-tex",
    summary="Reads a mipmapped texture at the level of detail `lod`.",
    syntax=f"""
        tex.level.geom.v4.dtype.ctype d{{|p}}, [a, {{b,}} c], lod{{, offset}}{{, depth}};
        tex.level.geom.v2.f16x2.ctype d{{|p}}, [a, {{b,}} c], lod{{, offset}}{{, depth}};
        {_DEFINITIONS}
    """,
    operands={**_OPERANDS, "lod": reads(".ctype", count=_ANY)},
    unless=[*_UNLESS, _NO_LEVELS],
    since=[("", "3.1", 20), *_SINCE],
    example="tex.level.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, {%f5, %f6}], %f7;",
)

instruction(
    "tex.grad",
    section="texture-instructions-tex",
    summary="Reads a mipmapped texture at the level of detail that follows from the partial"
    " derivatives of the coordinates.",
    syntax=f"""
        tex.grad.geom.v4.dtype.ctype d{{|p}}, [a, {{b,}} c], dPdx, dPdy{{, offset}}{{, depth}};
        tex.grad.geom.v2.f16x2.ctype d{{|p}}, [a, {{b,}} c], dPdx, dPdy{{, offset}}{{, depth}};
        {_DEFINITIONS}
    """,
    operands={**_OPERANDS, "dPdx": _GRADIENT, "dPdy": _GRADIENT},
    unless=[*_UNLESS, _NO_LEVELS],
    since=[("", "3.1", 20), (".cube|.acube", "4.3", 20), *_SINCE],
    example="tex.grad.1d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, {%f5}], {%f6}, {%f7};",
)

instruction(
    "tld4",
    section="texture-instructions-tld4",
    summary="Reads one component of the four texels that filtering at these coordinates would"
    " mix.",
    syntax="""
        tld4.comp.geom.v4.dtype.f32 d{|p}, [a, {b,} c]{, offset}{, depth};
        .comp  = { .r, .g, .b, .a };
        .geom  = { .2d, .a2d, .cube, .acube };
        .dtype = { .u32, .s32, .f32 };
    """,
    operands={
        "d": writes(".dtype", count=4, sink=True),
        "p": predicate("write"),
        "a": _TEXTURE,
        "b": _SAMPLER,
        "c": reads({".a2d|.acube": ".b32", "": ".f32|.s32"}, count={".2d": _TWO, "": _FOUR})._replace(
            after_index=True
        ),
        "offset": reads(".s32", count=(2, 4, 0)),
        "depth": reads(".f32"),
    },
    unless=[*_ARRAY_INDEX, ("+offset .cube|.acube", "cube maps take no offset")],
    since=[
        ("", "2.2", 20),
        (".a2d|.cube|.acube", "4.3", 30),
        ("+a:register", "3.1", 20),
        ("+offset", "4.3", 30),
        ("+depth", "4.3", 30),
        ("+p", "7.1", 60),
    ],
    example="tld4.r.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [tex0, {%f5, %f6}];",
)

instruction(
    "txq",
    section="texture-instructions-txq",
    summary="Asks for a property of a texture or a sampler, such as its width.",
    syntax="""
        txq.tquery.b32        d, [a];
        txq.squery.b32        d, [a];
        txq.force_unnormalized_coords.b32 d, [sampler];
        .tquery  = { .width, .height, .depth, .channel_data_type, .channel_order,
                     .normalized_coords, .array_size, .num_mipmap_levels, .num_samples };
        .squery  = { .filter_mode, .addr_mode_0, .addr_mode_1, .addr_mode_2 };
    """,
    operands={
        "d": writes(".b32"),
        "a": address(type={_SAMPLING: ".texref|.samplerref|.u64", "": ".texref|.u64"}),
        "sampler": address(type=".samplerref|.u64"),
    },
    since=[
        ("", "1.5", 10),
        ("+a:register", "3.1", 20),
        (".channel_data_type|.channel_order", "2.1", 10),
        ("+sampler:register", "3.1", 20),
        (".force_unnormalized_coords", "2.2", 10),
        (".array_size", "4.1", 10),
        (".num_mipmap_levels", "4.1", 20),
        (".num_samples", "4.1", 30),
    ],
    example="txq.width.b32 %r1, [tex0];",
)

instruction(
    "txq.level",
    section="texture-instructions-txq",
    summary="Asks for the size of a level of a mipmapped texture.",
    syntax="""
        txq.level.query.b32 d, [a], lod;
        .query = { .width, .height, .depth };
    """,
    operands={"d": writes(".b32"), "a": _TEXTURE, "lod": reads(".u32", count=_ANY)},
    since=[("", "4.3", 30)],
    example="txq.level.width.b32 %r1, [tex0], 1;",
)

instruction(
    "istypep",
    section="texture-instructions-istypep",
    summary="Sets a predicate where an address is that of a texture, sampler or surface.",
    syntax="""
        istypep.type p, a;
        .type = { .texref, .samplerref, .surfref };
    """,
    operands={"p": predicate("write"), "a": reads(".u64")},
    since=[("", "4.0", 30)],
    example="istypep.texref %p1, %rd1;",
)
