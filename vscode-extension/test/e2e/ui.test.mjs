// What a person sees: the squiggle, its quick fix, hover, completion, rename, the tree and the panels.
// Screenshots go to out/vscode; the README's are among them.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { example, ourServer, startEditor, TRIES } from './editor.mjs';

const KERNEL = `// ptx-run: grid=1 block=32 saxpy_n=u32:32 saxpy_a=f32:2 saxpy_x=f32:arange(32) saxpy_y=f32:ones(32)\n${example('saxpy.ptx')}`;
const MISTAKE = KERNEL.replace('fma.rn.f32', 'fmaa.rn.f32');
const INLINE = 'const char *text = "plain";\n__device__ int lane() {\n  int x;\n  asm("mov.u32 %0, %%laneid;" : "=r"(x));\n  return x;\n}\n';

let editor;
let page;
before(async () => {
  editor = await startEditor({
    settings: { ...ourServer(), 'ptx.inlayHints.liveRegisters': true },
    files: { 'saxpy.ptx': KERNEL, 'mistake.ptx': MISTAKE, 'inline.cu': INLINE },
  });
  page = editor.page;
});
after(() => editor?.close());

test('a mistake has a squiggle, and its quick fix mends it', async () => {
  await editor.openFile('mistake.ptx');
  const squiggle = page.locator('.squiggly-error');
  await squiggle.first().waitFor({ state: 'attached', timeout: 60_000 });
  await running(); // the lines have moved for the code lens
  await page.waitForTimeout(1_000);
  await editor.shot('squiggle');
  await page.locator('.view-line', { hasText: 'fmaa.rn' }).click({ position: { x: 45, y: 8 } });
  const menu = page.locator('.action-widget .monaco-list-row');
  for (let tries = 0; tries < TRIES && (await menu.count()) === 0; tries++) {
    await page.keyboard.press('Control+.'); // on a slow machine the editor's first question may come to nothing
    await page.waitForTimeout(3_000);
  }
  await menu.filter({ hasText: 'fma' }).first().waitFor();
  await editor.shot('quick-fix');
  await menu.filter({ hasText: 'fma' }).first().click();
  await squiggle.first().waitFor({ state: 'detached' });
  assert.match(await text(), /fma\.rn\.f32/);
});

test('hover tells what an instruction does', async () => {
  await editor.openFile('saxpy.ptx');
  await page.locator('.codelens-decoration').first().waitFor({ timeout: 60_000 });
  const told = page.locator('.monaco-hover:visible', { hasText: 'mad' }).first();
  for (let tries = 0; tries < TRIES && !(await told.isVisible()); tries++) {
    await hover('mad');
    await told.waitFor({ timeout: 5_000 }).catch(() => page.mouse.move(0, 0)); // the first question may be lost
  }
  await told.waitFor();
  await page.waitForTimeout(800); // it fades in
  await editor.shot('hover');
  await page.keyboard.press('Escape');
});

test('the line above a kernel has its figures', async () => {
  const lens = page.locator('.codelens-decoration').filter({ hasText: /registers/ }).first();
  await lens.waitFor();
  assert.match(await lens.innerText(), /occupancy/);
});

test('the tree shows the kernels', async () => {
  await page.locator('.activitybar [aria-label="PTX"]').first().click();
  const row = page.locator('.pane-body .monaco-list-row', { hasText: 'saxpy' }).nth(1);
  await row.waitFor({ timeout: 30_000 });
  await page.locator('.pane-body .monaco-list-row', { hasText: 'registers' }).first().click();
  await editor.shot('kernels');
});

for (const [command, name, shows] of [
  ['PTX: Show Occupancy', 'occupancy', 'Blocks on an SM'],
  ['PTX: Show Control Flow', 'control-flow', '1 divergent branch'],
  ["PTX: Run the Kernel's Preview", 'preview', 'instructions were executed'],
]) {
  test(`the panel ${name} has data`, async () => {
    await editor.openFile('saxpy.ptx');
    await running();
    await page.locator('.view-line', { hasText: 'cvta' }).first().click();
    await editor.command(command);
    const inner = page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame');
    await inner.locator('#page', { hasText: shows }).waitFor({ timeout: 30_000 });
    await page.waitForTimeout(500); // the chart is drawn
    await editor.shot(name);
  });
}

test('register pressure is drawn, and its peak found', async () => {
  await editor.openFile('saxpy.ptx');
  await running();
  await page.locator('.view-line', { hasText: 'cvta' }).first().click();
  await editor.command('PTX: Toggle Register Pressure');
  await page.waitForTimeout(1_500);
  await editor.command("PTX: Go to the Register Pressure's Peak");
  await page.locator('.statusbar', { hasText: 'the peak:' }).waitFor();
  await editor.shot('pressure');
});

test('PTX in the strings of CUDA C++ has its colours', async () => {
  await editor.openFile('inline.cu');
  const colour = async (word) => {
    const span = page.locator('.view-line span span', { hasText: word }).first();
    await span.waitFor();
    return span.evaluate((element) => getComputedStyle(element).color);
  };
  const words = ['plain', 'mov', '.u32'];
  let colours = [];
  for (let turn = 0; turn < 100 && new Set(colours).size < words.length; turn++) { // a grammar is loaded late
    if (turn > 0) await page.waitForTimeout(300);
    colours = [];
    for (const word of words) colours.push(await colour(word));
  }
  assert.equal(new Set(colours).size, words.length, `${words} have ${colours}`);
  await editor.shot('inline');
});

test('the walkthrough opens', async () => {
  await editor.command('PTX: Open the Walkthrough');
  await page.locator('.gettingStartedContainer', { hasText: 'Get started with PTX' }).first().waitFor();
  await page.locator('.gettingStartedContainer', { hasText: 'Run it without a GPU' }).first().waitFor();
});

/** Waits until the server tells of the kernel. */
async function running() {
  await page.locator('.codelens-decoration').first().waitFor({ timeout: 60_000 });
}

async function text() {
  return (await page.locator('.view-line').allInnerTexts()).join('\n').replaceAll('\u00a0', ' ');
}

async function hover(word) {
  const box = await page.locator('.view-line span span', { hasText: word }).first().boundingBox();
  await page.mouse.move(box.x + box.width - 14, box.y + box.height / 2, { steps: 8 });
}
