// PTX in binaries: the view of containers, members as read-only documents, and the page of a binary.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { answerFileDialog, chooseFromMenu, example, ourServer, startEditor } from './editor.mjs';
import { fatBinary } from './fat-binary.mjs';
import { ANSWER, TURN, becomes, until, untilVisible } from './waiting.mjs';

const SAXPY = example('saxpy.ptx').replace(/sm_\w+/, 'sm_80');
/** With one multiplication more, in a register that is never written. */
const NEWER = SAXPY.replace('sm_80', 'sm_90')
  .replace('fma.rn.f32', 'mul.f32 \t%f9, %f8, %f8;\n\tfma.rn.f32')
  .replace('.reg .f32', '.reg .f32 %f8, %f9;\n\t.reg .f32');
const MACHINE_CODE = { sm: 90, code: Buffer.alloc(64) };

let editor;
let page;
before(async () => {
  editor = await startEditor({
    settings: { ...ourServer(), 'files.autoSave': 'off' },
    files: {
      'libfoo.fatbin': fatBinary({ sm: 80, text: SAXPY }, { sm: 90, text: NEWER }, MACHINE_CODE),
      'machine.cubin': fatBinary(MACHINE_CODE),
      'broken.fatbin': fatBinary({ sm: 80, text: SAXPY }).subarray(0, 40),
    },
  });
  page = editor.page;
  await editor.ready();
});
after(() => editor?.close());

test('a binary shows its members in place of its bytes', async () => {
  await untilVisible(async () => {
    await page.keyboard.press('Escape');
    await inExplorer('libfoo.fatbin').dblclick();
  }, page.locator('.breadcrumbs-control, .editor-actions, .tabs-container').getByText('PTX Container').first());
  await editor.panel().locator('td', { hasText: '2:sm_90' }).waitFor();
  await becomes(() => editor.panel().locator('tbody tr').count(), 2);
  await editor.panel().locator('p', { hasText: 'Also machine code for sm_90' }).waitFor();
  await editor.shot('container-page');
  await untilVisible(() => editor.panel().getByRole('link', { name: '2:sm_90' }).click(), tab('libfoo.fatbin!2:sm_90'));
});

test('a member is a read-only PTX document with findings, lenses and hover', async () => {
  await page.locator('.codelens-decoration', { hasText: 'registers' }).waitFor();
  await page.locator('.squiggly-warning').first().waitFor({ state: 'attached' });
  await page.locator('.view-line', { hasText: 'mul.f32' }).first().click();
  await page.keyboard.type('x');
  await page.locator('.monaco-editor-overlaymessage', { hasText: 'read-only' }).waitFor();
  await untilVisible(async () => {
    await page.mouse.move(5, 5);
    await page.locator('.view-line span', { hasText: /^fma$/ }).last().hover();
  }, page.locator('.monaco-hover:visible', { hasText: 'fma' }).first());
  await page.mouse.move(5, 5);
});

test('the explorer opens containers in the view: targets, members, kernels', async () => {
  await showExplorer();
  await untilVisible(async () => {
    await page.keyboard.press('Escape');
    await inExplorer('libfoo.fatbin').click({ button: 'right' });
    await chooseFromMenu(page, 'Open Container');
  }, row('1:sm_80'));
  await row('libfoo.fatbin').filter({ hasText: 'fat binary · 2 members' }).waitFor();
  await row('Also machine code for sm_90').waitFor();
  await row('2:sm_90').filter({ hasText: 'PTX 8.0' }).waitFor();
  await untilVisible(() => row('2:sm_90').locator('.monaco-tl-twistie').click(), row('saxpy'));
  await editor.shot('containers');
  await untilVisible(() => row('saxpy').click(), page.locator('.statusbar', { hasText: /Ln \d+, Col 17/ }));
});

test('what has no PTX or is damaged says so in one line, as a message and in the view', async () => {
  for (const [name, reason] of [['machine.cubin', 'holds no PTX, only machine code for sm_90'], ['broken.fatbin', 'is truncated']]) {
    await openContainer(name);
    await page.locator('.notification-toast', { hasText: `${name}: ${reason}` }).waitFor();
    await row(reason).waitFor();
  }
});

test('two members are compared', async () => {
  const rows = page.locator('.quick-input-list .monaco-list-row');
  await untilVisible(async () => {
    await page.keyboard.press('Escape');
    await row('2:sm_90').click({ button: 'right' });
    await chooseFromMenu(page, 'Compare Member');
  }, rows.filter({ hasText: '1:sm_80' }));
  await rows.filter({ hasText: '1:sm_80' }).click();
  await editor.panel().locator('h1', { hasText: 'libfoo.fatbin!1:sm_80 → libfoo.fatbin!2:sm_90' }).waitFor();
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
});

test('a member is saved as a file, and all of them are extracted', async () => {
  const saved = path.join(editor.workspace, 'libfoo.1.sm_80.ptx');
  await choose('1:sm_80', 'Save Member As', 'Save libfoo.fatbin!1:sm_80', saved, () => holds(saved, SAXPY));
  const folder = path.join(editor.workspace, 'all');
  fs.mkdirSync(folder);
  const names = ['libfoo.1.sm_80.ptx', 'libfoo.2.sm_90.ptx'];
  await choose('libfoo.fatbin', 'Extract All PTX', 'Extract the PTX of libfoo.fatbin', `${folder}/`, () =>
    names.every((name, number) => holds(path.join(folder, name), [SAXPY, NEWER][number])),
  );
  assert.deepEqual(fs.readdirSync(folder).sort(), names);
});

test('a container that is built again is read again, also where its member is open', async () => {
  await untilVisible(() => row('2:sm_90').click(), tab('libfoo.fatbin!2:sm_90'));
  fs.writeFileSync(path.join(editor.workspace, 'libfoo.fatbin'), fatBinary({ sm: 80, text: SAXPY }, { sm: 90, text: SAXPY.replace('sm_80', 'sm_90') }));
  await row('Also machine code').waitFor({ state: 'detached' });
  await page.locator('.view-line', { hasText: 'fma' }).first().waitFor();
  await page.locator('.view-line', { hasText: 'mul.f32' }).waitFor({ state: 'detached' });
});

test('a window that is loaded again has the containers and the open members', async () => {
  await editor.stored((layout) => layout.includes('libfoo.fatbin!2:sm_90'));
  await editor.open([]);
  await tab('libfoo.fatbin!2:sm_90').waitFor();
  await page.locator('.codelens-decoration', { hasText: 'registers' }).first().waitFor();
  await untilVisible(() => editor.command('View: Show PTX'), row('1:sm_80'));
});

/** Chooses an entry of an item's context menu, answers its dialog with a path, and waits for the effect. */
async function choose(item, entry, title, file, effect) {
  const dialog = page.locator('.quick-input-title', { hasText: title });
  await until(async () => {
    if (!(await dialog.isVisible())) {
      await page.keyboard.press('Escape');
      await row(item).click({ button: 'right', timeout: TURN });
      await chooseFromMenu(page, entry);
      await dialog.waitFor({ timeout: TURN });
    }
    await answerFileDialog(page, file);
    await dialog.waitFor({ state: 'hidden' }); // a second answer would ask whether to overwrite the file
    return true;
  }, () => `no dialog of ${entry}`);
  await until(effect, () => `no effect of ${entry}`);
}

function holds(file, text) {
  return fs.existsSync(file) && fs.readFileSync(file, 'utf8') === text;
}

async function openContainer(name) {
  const dialog = page.locator('.quick-input-title', { hasText: 'Open PTX Container' });
  await untilVisible(() => editor.command('PTX: Open Container'), dialog, ANSWER);
  await until(async () => {
    if (await dialog.isVisible()) {
      await answerFileDialog(page, path.join(editor.workspace, name));
    }
    await dialog.waitFor({ state: 'hidden', timeout: TURN });
    return true;
  });
}

async function showExplorer() {
  await untilVisible(() => editor.command('View: Show Explorer'), page.locator('.explorer-folders-view'));
}

function inExplorer(name) {
  return page.locator('.explorer-folders-view .monaco-list-row', { hasText: name }).first();
}

/** The first row of the view of containers with this in its text. */
function row(text) {
  const view = page.locator('.pane', { has: page.locator('.pane-header', { hasText: 'PTX Containers' }) });
  return view.locator('.monaco-list-row', { hasText: text }).first();
}

function tab(name) {
  return page.locator('.tab', { hasText: name }).first();
}
