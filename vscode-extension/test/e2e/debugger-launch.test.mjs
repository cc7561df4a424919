// How the debugger starts: configurations of launch comments and launch files, lenses, breakpoints in the source.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { startDebugging } from './debugging.mjs';
import { TURN, becomes, until } from './waiting.mjs';

const LOOP = `.version 8.0
.target sm_80
.address_size 64
.file 1 "loop.cu"
// ptx-run: grid=1 block=32 out=u32:zeros(32)
// ptx-run: grid=1 block=4 out=u32:ones(4)
.visible .entry loop(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<3>;
	.reg .b64 %rd<3>;
	.loc 1 3 1
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	mov.u32 %r1, 0;
	.loc 1 4 1
again:
	add.u32 %r1, %r1, 1;
	.loc 1 5 1
	setp.lt.u32 %p, %r1, 100;
	@%p bra again;
	.loc 1 6 1
	mul.wide.u32 %rd1, %r0, 4;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r1;
	ret;
}
`;
const SOURCE = `__global__ void loop(unsigned *out)
{
    unsigned count = 0;
    do { ++count;
    } while (count < 100);
    out[threadIdx.x] = count;
}
`;
const LAUNCH = `file = "loop.ptx"
grid = 1
block = 8

[arguments]
out = "u32:zeros(8)"
`;
const CONFIGURATIONS = {
  version: '0.2.0',
  configurations: [{ type: 'ptx', request: 'launch', name: 'The source', program: '${workspaceFolder}/loop.ptx', show: 'source' }],
};

let editor;
let page;
let debug;
before(async () => {
  debug = await startDebugging({
    files: { 'loop.ptx': LOOP, 'loop.cu': SOURCE, 'loop.toml': LAUNCH, '.vscode/launch.json': JSON.stringify(CONFIGURATIONS, null, 2) },
  });
  ({ editor, page } = debug);
});
after(() => editor?.close());

test('each launch comment has the lens Debug', async () => {
  await editor.openFile('loop.ptx');
  const lenses = page.locator('.codelens-decoration a', { hasText: /^Debug$/ });
  await lenses.nth(1).waitFor();
  const blocks = [await threadsOf(lenses.first()), await threadsOf(lenses.last())];
  assert.deepEqual(blocks.sort(), ['32', '4']);
});

test('a launch file has the lens Debug', async () => {
  await editor.openFile('loop.toml');
  assert.equal(await threadsOf(page.locator('.codelens-decoration a', { hasText: /^Debug$/ })), '8');
});

test('Select and Start Debugging lists all launches', async () => {
  await editor.openFile('loop.ptx');
  await debug.breakpoint(25);
  await until(async () => {
    await editor.command('Debug: Select and Start Debugging');
    await rows().filter({ hasText: 'PTX...' }).click({ timeout: TURN });
    await rows().filter({ hasText: 'loop.toml' }).waitFor({ timeout: TURN });
    return true;
  });
  const launches = async () => {
    const shown = (await rows().allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' ').trim());
    return shown.filter((text) => text.includes('loop'));
  };
  await becomes(launches, [
    'loop.ptx:5 grid=1 block=32 out=u32:zeros(32)workspace',
    'loop.ptx:6 grid=1 block=4 out=u32:ones(4)workspace',
    'loop.tomlworkspace',
  ]);
  await editor.shot('debugger-configurations');
  await rows().filter({ hasText: 'loop.toml' }).click();
  await debug.stopsAt('loop.ptx', 25);
  assert.equal(await blockSize(), '8');
  await debug.stop();
});

test('a breakpoint in the source stops the kernel there, with its disassembly', async () => {
  await editor.openFile('loop.cu');
  await debug.breakpoint(6);
  await until(async () => {
    await editor.command('Debug: Select and Start Debugging');
    await rows().filter({ hasText: 'The source' }).first().click({ timeout: TURN });
    return true;
  });
  await debug.stopsAt('loop.cu', 6);
  await debug.shows('Registers', '%r1', '100');
  await editor.command('Open Disassembly View');
  await page.locator('.disassembly-view .monaco-list-row, .disassembly-view .monaco-table-tr', { hasText: 'mul.wide.u32 %rd1, %r0, 4;' }).first().waitFor();
  await editor.shot('debugger-disassembly');
});

const rows = () => page.locator('.quick-input-list .monaco-list-row');

/** The threads of a block of the launch that a lens debugs, which stops before the first instruction. */
async function threadsOf(lens) {
  await debug.startBy(lens);
  await debug.stopsAt('loop.ptx', 13);
  const found = await blockSize();
  await debug.stop();
  return found;
}

async function blockSize() {
  await debug.shows('Special registers', '%ntid.x');
  return (await debug.variable('%ntid.x').innerText()).split('=')[1].trim();
}
