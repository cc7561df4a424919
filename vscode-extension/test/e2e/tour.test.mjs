// A tour of the editor, for the README: `python docs/animation.py` makes docs/editor.gif of its frames.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { SHOTS, example, ourServer, startEditor } from './editor.mjs';
import { ANSWER, untilVisible } from './waiting.mjs';

const KERNEL = `// ptx-run: grid=1 block=32 saxpy_n=u32:32 saxpy_a=f32:2 saxpy_x=f32:arange(32) saxpy_y=f32:ones(32)\n${example('saxpy.ptx')}`;

let editor;
let page;
const frames = [];
before(async () => {
  editor = await startEditor({
    settings: { ...ourServer(), 'workbench.activityBar.location': 'hidden', 'breadcrumbs.enabled': false, 'editor.cursorBlinking': 'solid', 'editor.fontSize': 13, 'editor.lineHeight': 17 },
    files: { 'saxpy.ptx': KERNEL.replace('fma.rn.f32', 'fmaa.rn.f32') },
  });
  page = editor.page;
  await page.setViewportSize({ width: 1100, height: 900 });
});
after(() => editor?.close());

/** A picture that the animation shows for so many milliseconds. */
async function frame(milliseconds) {
  const name = `tour-${String(frames.length).padStart(2, '0')}`;
  await editor.shot(name);
  frames.push({ file: `${name}.png`, milliseconds });
}

test('a mistake is marked, explained and mended', async () => {
  await editor.openFile('saxpy.ptx');
  await page.locator('.codelens-decoration').first().waitFor();
  await page.keyboard.press('Control+B'); // the files leave
  await page.locator('.squiggly-error').first().waitFor({ state: 'attached' });
  await page.waitForTimeout(1_000); // the lines have moved for the code lens
  await frame(1_800);
  const line = page.locator('.view-line', { hasText: 'fmaa.rn' });
  const mistake = page.locator('.monaco-hover:visible', { hasText: 'fmaa' }).first();
  await untilVisible(() => pointAt('fmaa'), mistake);
  await page.waitForTimeout(800); // it fades in
  await frame(2_200);
  await page.keyboard.press('Escape');
  await line.click({ position: { x: 200, y: 8 } });
  const menu = page.locator('.action-widget .monaco-list-row').filter({ hasText: 'fma' }).first();
  await untilVisible(async () => {
    await page.keyboard.press('Escape'); // in the menu the same key accepts what is selected
    await page.keyboard.press('Control+.');
  }, menu);
  await frame(1_800);
  await menu.click();
  await page.locator('.squiggly-error').first().waitFor({ state: 'detached' });
  await frame(1_500);
});

test('hover explains an instruction', async () => {
  await untilVisible(() => pointAt('mad'), page.locator('.monaco-hover:visible', { hasText: 'mad' }).first());
  await page.waitForTimeout(800);
  await frame(2_400);
  await page.keyboard.press('Escape');
  await page.mouse.move(0, 0);
});

test('completion offers the modifiers that fit', async () => {
  await page.locator('.view-line', { hasText: 'fma.rn' }).click();
  await page.keyboard.press('End');
  await page.keyboard.press('Enter');
  for (const [text, shown] of [['max', 'max'], ['.', '.f32']]) {
    await page.keyboard.type(text, { delay: 60 });
    await page.locator('.suggest-widget.visible .monaco-list-row', { hasText: shown }).first().waitFor();
    await page.waitForTimeout(400);
    await frame(1_500);
  }
  await page.keyboard.type('f32 %f4, %f4, 0f3F800000;', { delay: 20 });
  await page.keyboard.press('Escape');
  await page.waitForTimeout(400);
  await frame(1_200);
});

for (const [command, shows] of [
  ['PTX: Show Occupancy', 'Blocks per SM'],
  ["PTX: Run the Kernel's Preview", 'instructions executed'],
]) {
  test(`the panel of ${command} opens`, async () => {
    await page.locator('.view-line', { hasText: 'cvta' }).first().click();
    await untilVisible(() => editor.command(command), editor.panel().locator('#page', { hasText: shows }), ANSWER);
    await page.waitForTimeout(700); // the chart is drawn
    await frame(2_800);
  });
}

test('the frames take twenty seconds', () => {
  const total = frames.reduce((sum, one) => sum + one.milliseconds, 0);
  assert.ok(Math.abs(total - 20_000) <= 2_000, `${total} ms`);
  fs.writeFileSync(path.join(SHOTS, 'tour.json'), JSON.stringify(frames));
});

async function pointAt(word) {
  await page.mouse.move(0, 0);
  const box = await page.locator('.view-line span span', { hasText: word }).first().boundingBox();
  if (!box) return; // the line is drawn again
  await page.mouse.move(box.x + box.width - 14, box.y + box.height / 2, { steps: 8 });
}
