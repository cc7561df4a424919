import assert from 'node:assert/strict';
import { chmod, mkdtemp, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import * as path from 'node:path';
import test from 'node:test';

import { adapterOf, expand, find, NotThere, type Places } from '../../src/finding.js';
import { isOlder } from '../../src/version.js';

const NOWHERE: Places = { path: '', python: '', selectedPython: undefined, folders: [], windows: false };

async function folderWith(programs: Record<string, string>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'ptx-finding-'));
  for (const [name, script] of Object.entries(programs)) {
    const file = path.join(folder, name);
    await writeFile(file, `#!/bin/sh\n${script}\n`);
    await chmod(file, 0o755);
  }
  return folder;
}

test('nothing is found where nothing is', async () => {
  assert.equal(await find(NOWHERE), undefined);
});

test('a setting may name the home and the workspace', () => {
  assert.equal(expand('~/bin/ptx-lsp', '/w'), path.join(homedir(), 'bin/ptx-lsp'));
  assert.equal(expand('${workspaceFolder}/.venv/bin/python', '/w'), '/w/.venv/bin/python');
  assert.equal(expand('/opt/~x', '/w'), '/opt/~x');
});

test('the setting comes first', async () => {
  const folder = await folderWith({ mine: 'exit 0', 'ptx-lsp': 'exit 0' });
  const found = await find({ ...NOWHERE, path: path.join(folder, 'mine'), folders: [folder] });
  assert.equal(found?.command, path.join(folder, 'mine'));
});

test('a setting that names nothing is told, and nothing else is tried', async () => {
  const folder = await folderWith({ 'ptx-lsp': 'exit 0' });
  await assert.rejects(find({ ...NOWHERE, path: path.join(folder, 'absent'), folders: [folder] }), NotThere);
  await assert.rejects(find({ ...NOWHERE, python: path.join(folder, 'absent'), folders: [folder] }), NotThere);
});

test('an interpreter counts only if it has the package', async () => {
  const folder = await folderWith({ with: 'exit 0', without: 'exit 1', 'ptx-lsp': 'exit 0' });
  const selected = { ...NOWHERE, folders: [folder], selectedPython: path.join(folder, 'with') };
  assert.deepEqual((await find(selected))?.args, ['-m', 'ptx_lsp.server']);
  const other = { ...selected, selectedPython: path.join(folder, 'without') };
  assert.equal((await find(other))?.command, path.join(folder, 'ptx-lsp'));
});

test('nothing is fetched by its name, which others could take', async () => {
  const folder = await folderWith({ uvx: 'exit 0', pipx: 'exit 0' });
  assert.equal(await find({ ...NOWHERE, folders: [folder] }), undefined);
});

test('versions are compared by number', () => {
  assert.ok(isOlder('0.9.1', '0.10.0'));
  assert.ok(!isOlder('1.0', '1.0.0'));
  assert.ok(!isOlder('2.0.0', '1.9.9'));
});

test('the debug adapter is started as the server is', () => {
  const from = '';
  const module = adapterOf({ command: '/env/bin/python', args: ['-m', 'ptx_lsp.server'], from }, false);
  assert.deepEqual(module, { command: '/env/bin/python', args: ['-m', 'ptx_lsp.debug.command'] });
  assert.deepEqual(adapterOf({ command: '/usr/bin/ptx-lsp', args: [], from }, false), { command: '/usr/bin/ptx-dap', args: [] });
});
