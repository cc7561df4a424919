// The editor in daily use: a kernel of Triton with dynamic shared memory, and completion while an instruction is typed.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { ANSWER, TURN, becomes, until, untilVisible } from './waiting.mjs';

const KERNEL = `.version 8.3
.target sm_90a
.address_size 64

.extern .shared .align 16 .b8 global_smem[];
.visible .entry tile(.param .u64 .ptr .global .align 4 tile_param_0)
.reqntid 128
{
    .reg .b32 %r<8>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    shl.b32 %r2, %r1, 2;
    mov.b32 %r3, global_smem;
    add.s32 %r4, %r3, %r2;
    st.shared.b32 [%r4], %r1;
    bar.sync 0;
    ld.shared.b32 %r5, [%r4];
    ld.param.u64 %rd1, [tile_param_0];
    mad.wide.u32 %rd2, %r1, 4, %rd1;
    st.global.b32 [%rd2], %r5;
    ret;
}
`;
const METADATA = { name: 'tile', shared: 98304, num_warps: 4, num_stages: 3 };

let editor;
let page;
before(async () => {
  editor = await startEditor({
    settings: { ...ourServer(), 'files.autoSave': 'off', 'ptx.ptxas': 'off' }, // the figures are estimates
    files: { 'tile.ptx': KERNEL, 'tile.json': JSON.stringify(METADATA), 'typed.ptx': KERNEL },
  });
  page = editor.page;
});
after(() => editor?.close());

test('dynamic shared memory from the metadata of Triton is shown with the occupancy', async () => {
  await open('tile.ptx');
  const lens = page.locator('.codelens-decoration', { hasText: '98304 bytes of dynamic shared memory (metadata)' });
  await lens.first().waitFor();
  await untilVisible(() => editor.command('PTX: Show Occupancy'), editor.panel().locator('dd', { hasText: '96 KiB (metadata)' }), ANSWER);
  await editor.panel().locator('dd', { hasText: /^12\.5 %$/ }).waitFor(); // two blocks of 128 threads
  await editor.panel().locator('dd', { hasText: /^\d+ \(\d+ to \d+\)$/ }).waitFor(); // the interval of the estimate
  await editor.shot('occupancy-dynamic');
  await editor.command('View: Show PTX');
  const row = page.locator('.pane-body .monaco-list-row', { hasText: '12.5 % occupancy' }).first();
  await untilVisible(
    () => row.locator('.monaco-tl-twistie').click(),
    page.locator('.pane-body .monaco-list-row', { hasText: '96 KiB (metadata)' }).first(),
  );
  await editor.shot('kernels-dynamic');
});

test('without metadata it is unknown, and the occupancy an upper bound', async () => {
  await open('typed.ptx');
  await page.locator('.codelens-decoration', { hasText: 'dynamic shared memory unknown' }).first().waitFor();
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'at most' }).waitFor();
});

test('the suggested launch runs when it is accepted', async () => {
  await open('tile.ptx');
  await untilVisible(
    () => editor.command("PTX: Run the Kernel's Preview"),
    editor.panel().getByRole('button', { name: 'Insert it above' }),
    ANSWER,
  );
  const insert = editor.panel().getByRole('button', { name: 'Insert it above' });
  await untilVisible(() => insert.click(), editor.panel().locator('#page', { hasText: 'instructions executed' }), ANSWER);
  await page.locator('.view-line', { hasText: 'block=128 shared=98304' }).first().waitFor();
});

test('completion offers registers that fit, and snippets only where a statement begins', async () => {
  await open('typed.ptx');
  await page.keyboard.press('End');
  await page.keyboard.type('\n    mad.lo.s32 %r6, %r1, ');
  let operands;
  await until(async () => {
    operands = await offered();
    return operands.includes('%r2');
  }, () => `%r2 is not among ${operands.join(' ')}`);
  for (const wrong of ['%rd1', 'tile_param_0', 'kernel', 'loop', '.entry', '.func', 'func', 'if', '%clock64']) {
    assert.ok(!operands.includes(wrong), `${wrong} is among ${operands.join(' ')}`);
  }
  await page.keyboard.type('%r2, %r3;\n    loo');
  await becomes(async () => (await offered())[0], 'loop');
});

/** Opens a file, with the cursor in the kernel and the server running. */
async function open(file) {
  await editor.openFile(file);
  await page.locator('.view-line', { hasText: 'shl.b32' }).first().click();
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'registers' }).waitFor();
}

/** The labels in the list of suggestions. */
async function offered() {
  const rows = page.locator('.suggest-widget.visible .monaco-list-row .label-name');
  await until(async () => {
    await page.keyboard.press('Control+Space');
    await rows.first().waitFor({ timeout: TURN });
    return true;
  }, () => 'no suggestions');
  const labels = await rows.allInnerTexts();
  await page.keyboard.press('Escape');
  return labels.map((label) => label.trim());
}
