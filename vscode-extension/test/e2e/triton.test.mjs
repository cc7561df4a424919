// The view of Triton's cache: what was compiled, with figures, and nothing before it is visible.
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { chooseFromMenu, example, ourServer, startEditor } from './editor.mjs';
import { untilVisible } from './waiting.mjs';

const SAXPY = example('saxpy.ptx');
const WRONG = SAXPY.replace('fma.rn.f32', 'mul.f32 \t%f9, %f8, %f8;\n\tfma.rn.f32').replace('.reg .f32', '.reg .f32 %f8, %f9;\n\t.reg .f32');

let editor;
let page;
let cache;
before(async () => {
  delete process.env.TRITON_CACHE_DIR;
  delete process.env.TRITON_HOME;
  editor = await startEditor({ settings: { ...ourServer(), 'files.autoSave': 'off' }, files: { 'saxpy.ptx': SAXPY } });
  page = editor.page;
  cache = path.join(editor.folder, '.triton', 'cache');
  compiled('A', 'saxpy', SAXPY, 4, 1);
  compiled('B', 'saxpy', WRONG, 8, 2);
  compiled('C', 'softmax', SAXPY.replaceAll('saxpy', 'softmax'), 4, 3);
  await editor.openFile('saxpy.ptx');
});
after(() => editor?.close());

test('kernels are grouped, the newest first, and have figures when their group is expanded', async () => {
  await untilVisible(() => editor.command('View: Show PTX'), header());
  await untilVisible(() => header().click(), row('softmax'));
  await view().locator('.monaco-list-row').first().filter({ hasText: 'softmax' }).waitFor();
  await row('saxpy').filter({ hasText: '2 versions · sm_80' }).waitFor();
  await untilVisible(() => row('saxpy').locator('.monaco-tl-twistie').click(), row('8 warps'));
  await row('8 warps').filter({ hasText: /\d+ registers · 100 % · 1 warning · 8 warps, 3 stages/ }).waitFor();
  await row('4 warps, 3').filter({ hasText: /\d+ registers · 100 % · 4 warps/ }).waitFor();
  await untilVisible(async () => {
    await page.mouse.move(5, 5);
    await row('8 warps').hover();
  }, page.locator('.monaco-hover:visible', { hasText: 'num_warps: 8, num_stages: 3' }).first());
  await editor.shot('triton-cache');
  await page.mouse.move(5, 5);
});

test('a click opens the PTX at its kernel; the earlier stages are below it', async () => {
  await untilVisible(() => row('8 warps').click(), page.locator('.statusbar', { hasText: 'Ln 6' }));
  await page.locator('.view-line', { hasText: 'mul.f32' }).first().waitFor();
  await untilVisible(() => row('8 warps').locator('.monaco-tl-twistie').click(), row('saxpy.ttgir'));
  await untilVisible(() => row('saxpy.ttgir').click(), page.locator('.view-line', { hasText: 'ttg.num-warps' }).first());
});

test('a version is compared with another one', async () => {
  const rows = page.locator('.quick-input-list .monaco-list-row');
  await untilVisible(async () => {
    await page.keyboard.press('Escape');
    await row('8 warps').click({ button: 'right' });
    await chooseFromMenu(page, 'Compare Versions');
  }, rows.filter({ hasText: '4 warps' }));
  await rows.filter({ hasText: '4 warps' }).click();
  await editor.panel().locator('li', { hasText: '+1 mul.f32' }).waitFor();
});

test('what is compiled later is there after a refresh; without kernels the view says so', async () => {
  compiled('D', 'later', SAXPY.replaceAll('saxpy', 'later'), 2, 4);
  await untilVisible(() => editor.command('PTX: Refresh the Triton Cache'), row('later'));
  fs.rmSync(cache, { recursive: true });
  await untilVisible(() => editor.command('PTX: Refresh the Triton Cache'), view().locator('a', { hasText: 'Choose the Folder' }));
});

/** Writes what Triton does. */
function compiled(hash, name, text, warps, time) {
  const folder = path.join(cache, hash);
  fs.mkdirSync(folder, { recursive: true });
  const write = (ending, content) => fs.writeFileSync(path.join(folder, `${name}.${ending}`), content);
  write('ptx', text);
  write('ttir', 'module {}\n');
  write('ttgir', `module attributes {"ttg.num-warps" = ${warps} : i32} {}\n`);
  write('llir', '; ModuleID\n');
  const target = { backend: 'cuda', arch: 80, warp_size: 32 };
  write('json', JSON.stringify({ name, num_warps: warps, num_stages: 3, num_ctas: 1, shared: 0, target }));
  fs.utimesSync(path.join(folder, `${name}.ptx`), time, time);
}

function header() {
  return page.locator('.pane-header', { hasText: 'Triton Cache' });
}

function view() {
  return page.locator('.pane', { has: header() });
}

/** The first row with this in its text. */
function row(text) {
  return view().locator('.monaco-list-row', { hasText: text }).first();
}
