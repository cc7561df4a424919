// The panel that compares kernels: with a file, with a commit, with each other.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { answerFileDialog, example, ourServer, startEditor } from './editor.mjs';
import { ANSWER, TURN, until, untilVisible } from './waiting.mjs';

const SAXPY = example('saxpy.ptx');
/** With one multiplication more, in a register that is never written. */
const CHANGED = SAXPY.replace('fma.rn.f32', 'mul.f32 \t%f9, %f8, %f8;\n\tfma.rn.f32').replace('.reg .f32', '.reg .f32 %f8, %f9;\n\t.reg .f32');

let editor;
let page;
before(async () => {
  assert.notEqual(CHANGED, SAXPY);
  editor = await startEditor({
    settings: { ...ourServer(), 'files.autoSave': 'off', 'git.openRepositoryInParentFolders': 'always' },
    files: { 'saxpy.ptx': SAXPY, 'changed.ptx': CHANGED, 'two.ptx': SAXPY + CHANGED.slice(CHANGED.indexOf('.visible')).replace('saxpy(', 'another(') },
  });
  page = editor.page;
  git('init', '--quiet');
  git('add', 'saxpy.ptx');
  git('-c', 'user.name=Test', '-c', 'user.email=test@example.org', 'commit', '--quiet', '-m', 'The first saxpy');
  fs.writeFileSync(path.join(editor.workspace, 'saxpy.ptx'), CHANGED);
});
after(() => editor?.close());

test('with another file: what changed, and what is worse', async () => {
  await open('changed.ptx');
  const title = page.locator('.quick-input-title', { hasText: 'Compare changed.ptx with' });
  await untilVisible(async () => {
    if (!(await title.isVisible())) {
      await editor.command('PTX: Compare Kernels with Another File');
      await title.waitFor(); // until then, the input is that of the palette
    }
    await answerFileDialog(page, path.join(editor.workspace, 'two.ptx'));
  }, editor.panel().locator('h1', { hasText: 'two.ptx → changed.ptx' }));
  await editor.panel().locator('p', { hasText: '1 gone' }).waitFor();
  await editor.panel().locator('li.worse', { hasText: '+1 uninitialised-read' }).waitFor();
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
});

test('registers and occupancy are what ptxas measured on both sides, and say so', async () => {
  await setAll(true);
  for (const figure of ['registers', 'occupancy', 'spills']) {
    const row = editor.panel().locator('tr', { has: page.locator('th', { hasText: new RegExp(`^${figure}$`) }) });
    await row.locator('td', { hasText: /^measured$/ }).waitFor();
  }
  await editor.panel().locator('#unmeasured').waitFor({ state: 'detached' });
  await setAll(false);
});

test('the comparison follows edits, and a click shows both texts', async () => {
  await page.locator('.view-line', { hasText: 'mul.f32' }).first().click();
  await page.keyboard.press('Home');
  await page.keyboard.type('//');
  await editor.panel().locator('li', { hasText: 'mul.f32' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Control+z');
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
  await editor.shot('compare');
  await untilVisible(() => editor.panel().getByRole('button', { name: 'saxpy' }).first().click(), page.locator('.diff-editor, .monaco-diff-editor').first());
});

test('with a commit', async () => {
  await open('saxpy.ptx');
  const commit = page.locator('.quick-input-list .monaco-list-row', { hasText: 'The first saxpy' });
  await untilVisible(async () => {
    if (!(await commit.isVisible())) {
      await editor.command('PTX: Compare Kernels with a Revision'); // the Git extension may still be starting
      await commit.waitFor({ timeout: 20_000 });
    }
    await commit.click();
  }, editor.panel().locator('h1', { hasText: /saxpy.ptx \([0-9a-f]{8}\) → saxpy.ptx/ }), ANSWER);
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
});

test('two kernels of a file', async () => {
  await open('two.ptx');
  const rows = page.locator('.quick-input-list .monaco-list-row');
  await untilVisible(() => editor.command('PTX: Compare Two Kernels'), rows.filter({ hasText: 'another' }), ANSWER);
  await rows.filter({ hasText: 'saxpy' }).click();
  await until(async () => (await rows.count()) === 1);
  await rows.filter({ hasText: 'another' }).click();
  await editor.panel().locator('h2', { hasText: 'another (was saxpy' }).waitFor();
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
});

function git(...words) {
  execFileSync('git', words, { cwd: editor.workspace, stdio: 'ignore' });
}

/** Shows all figures, or those that differ. */
async function setAll(isSet) {
  await until(async () => {
    const box = editor.panel().locator('#all');
    await box.setChecked(isSet, { timeout: TURN });
    return (await box.isChecked({ timeout: TURN })) === isSet;
  });
}

async function open(name) {
  await editor.openFile(name);
  await page.locator('.view-line', { hasText: 'cvta' }).first().click();
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'registers' }).waitFor();
}
