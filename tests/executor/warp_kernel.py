"""Runs an instruction of a warp with registers from arrays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ptx_lsp.executor import launch

Words = npt.NDArray[np.unsignedinteger]


def run_warp(
    instruction: str, inputs: dict[str, Words], outputs: dict[str, tuple[str, int]],
    types: dict[str, str], target: str = "sm_90", setup: str = "",
) -> dict[str, Words]:
    """The registers of `outputs` (their type and how many) of each lane after an instruction.

    `inputs` are arrays of lanes by registers. In the instruction `{a}` stands for the registers of `a` in
    braces, `%a0` and on for single ones; `types` has those that are not `.b32`.
    """
    declared: list[str] = []
    body: list[str] = []
    arguments: list[npt.NDArray[np.generic]] = []
    parameters: list[str] = []
    replaced: dict[str, str] = {}

    def register(name: str, type: str, count: int) -> Sequence[str]:
        names = [f"%{name}{at}" for at in range(count)]
        declared.append(f".reg {type} %{name}<{count}>;")
        replaced[name] = "{" + ", ".join(names) + "}"
        return names

    for name, values in inputs.items():
        type = types.get(name, ".b32")
        width = 8 if type.endswith("64") else 4
        parameters.append(f".param .u64 p_{name}")
        arguments.append(np.ascontiguousarray(values))
        names = register(name, type, values.shape[1])
        body += [
            f"ld.param.u64 %at, [p_{name}];",
            f"mad.wide.u32 %at, %lane, {width * values.shape[1]}, %at;",
            *(f"ld.global.b{8 * width} {one}, [%at+{width * at}];" for at, one in enumerate(names)),
        ]
    results: dict[str, Words] = {}
    stores: list[str] = []
    for name, (type, count) in outputs.items():
        width = 8 if type.endswith("64") else 4
        if name not in inputs:
            register(name, type, count)
        parameters.append(f".param .u64 q_{name}")
        results[name] = np.zeros((32, count), f"u{width}")
        arguments.append(results[name])
        stores += [
            f"ld.param.u64 %at, [q_{name}];",
            f"mad.wide.u32 %at, %lane, {width * count}, %at;",
            *(f"st.global.b{8 * width} [%at+{width * at}], %{name}{at};" for at in range(count)),
        ]
    for name, registers in replaced.items():
        instruction = instruction.replace("{" + name + "}", registers)
    text = "\n".join([
        f".version 9.4\n.target {target}\n.address_size 64\n.shared .align 128 .b8 memory[16384];",
        f".entry k({', '.join(parameters)})", "{", ".reg .u64 %at;", ".reg .u32 %lane;", *declared,
        "mov.u32 %lane, %tid.x;", *body, setup, f"{instruction};", *stores, "ret;", "}", "",
    ])
    launch(text, entry="k", grid=1, block=32, args=arguments)
    return results
