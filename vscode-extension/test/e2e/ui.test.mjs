// What a person sees: the squiggle, its quick fix, hover, completion, rename, the tree and the panels.
// Screenshots go to out/vscode; the README's are among them.
import { after, before, test } from 'node:test';

import { example, ourServer, startEditor } from './editor.mjs';
import { ANSWER, styleOf, until, untilVisible } from './waiting.mjs';

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
  await squiggle.first().waitFor({ state: 'attached' });
  await running(); // the lines have moved for the code lens
  await page.waitForTimeout(1_000);
  await editor.shot('squiggle');
  await page.locator('.view-line', { hasText: 'fmaa.rn' }).click({ position: { x: 200, y: 8 } }); // not on the opcode itself
  const menu = page.locator('.action-widget .monaco-list-row');
  await untilVisible(async () => {
    await page.keyboard.press('Escape'); // in the menu the same key accepts what is selected
    await page.keyboard.press('Control+.');
  }, menu.filter({ hasText: 'fma' }).first());
  await editor.shot('quick-fix');
  await menu.filter({ hasText: 'fma' }).first().click();
  await squiggle.first().waitFor({ state: 'detached' });
  await page.locator('.view-line', { hasText: /fma\.rn\.f32/ }).waitFor();
});

test('hover tells what an instruction does', async () => {
  await editor.openFile('saxpy.ptx');
  await page.locator('.codelens-decoration').first().waitFor();
  await untilVisible(async () => {
    await page.mouse.move(0, 0);
    await hover('mad');
  }, page.locator('.monaco-hover:visible', { hasText: 'mad' }).first());
  await page.waitForTimeout(800); // it fades in
  await editor.shot('hover');
  await page.keyboard.press('Escape');
});

test('the line above a kernel has its figures', async () => {
  await page.locator('.codelens-decoration').filter({ hasText: /registers.*occupancy/ }).first().waitFor();
});

test('the tree shows the kernels', async () => {
  await editor.command('View: Show PTX');
  const row = page.locator('.pane-body .monaco-list-row', { hasText: 'saxpy' }).nth(1);
  await row.waitFor();
  await page.locator('.pane-body .monaco-list-row', { hasText: 'registers' }).first().click();
  await editor.shot('kernels');
});

for (const [command, name, shows] of [
  ['PTX: Show Occupancy', 'occupancy', 'Blocks per SM'],
  ['PTX: Show Control Flow', 'control-flow', '1 divergent branch'],
  ["PTX: Run the Kernel's Preview", 'preview', 'instructions executed'],
]) {
  test(`the panel ${name} has data`, async () => {
    await editor.openFile('saxpy.ptx');
    await running();
    await page.locator('.view-line', { hasText: 'cvta' }).first().click();
    await untilVisible(() => editor.palette(command), editor.panel().locator('#page', { hasText: shows }), ANSWER);
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
  await untilVisible(() => editor.command("PTX: Go to the Register Pressure's Peak"), page.locator('.statusbar', { hasText: 'peak:' }));
  await editor.shot('pressure');
});

test('PTX in the strings of CUDA C++ has its colours', async () => {
  await editor.openFile('inline.cu');
  const colour = async (word) => (await styleOf(page.locator('.view-line span span', { hasText: word }).first(), 'color'))[0];
  const words = ['plain', 'mov', '.u32'];
  let colours;
  await until(async () => { // a grammar is loaded late, and VS Code gives up a line that takes half a second
    colours = await Promise.all(words.map(colour));
    return new Set(colours).size === words.length || editor.command('Developer: Force Retokenize');
  }, () => `${words} have ${colours}`);
  await editor.shot('inline');
});

test('the walkthrough opens', async () => {
  await editor.command('PTX: Open the Walkthrough');
  await page.locator('.gettingStartedContainer', { hasText: 'Get started with PTX' }).first().waitFor();
  await page.locator('.gettingStartedContainer', { hasText: 'Run it without a GPU' }).first().waitFor();
});

/** Waits until the server tells of the kernel. */
async function running() {
  await page.locator('.codelens-decoration').first().waitFor();
}

async function hover(word) {
  const box = await page.locator('.view-line span span', { hasText: word }).first().boundingBox();
  if (!box) return; // the line is being drawn anew
  await page.mouse.move(box.x + box.width - 14, box.y + box.height / 2, { steps: 8 });
}
