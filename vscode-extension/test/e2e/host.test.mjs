// The tests that run inside the extension host: what the editor's own commands get from our providers.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { example, EXTENSION, ourServer, startEditor } from './editor.mjs';

const PATIENCE = 900_000;

test('features in the extension host', async (context) => {
  const editor = await startEditor({
    settings: { 'ptx.trace.server': 'messages', 'ptx.inlayHints.liveRegisters': true },
    files: { 'saxpy.ptx': example('saxpy.ptx') },
    inHost: true,
    others: { 'ms-python.python-1.0.0': path.join(EXTENSION, 'test/e2e/python-extension') },
  });
  // two interpreters that have the package
  for (const name of ['one', 'two']) {
    const python = path.join(editor.workspace, name);
    fs.writeFileSync(python, `#!/bin/sh\nexec "${ourServer()['ptx.server.python']}" "$@"\n`);
    fs.chmodSync(python, 0o755);
  }
  try {
    await editor.open([
      ['extensionDevelopmentPath', editor.remote(EXTENSION)],
      ['extensionTestsPath', editor.remote(path.join(EXTENSION, 'test/e2e/host/index.js'))],
    ]);
    const file = path.join(editor.workspace, 'results.json');
    for (const end = Date.now() + PATIENCE; !fs.existsSync(file) && Date.now() < end; ) {
      await editor.page.waitForTimeout(200);
    }
    assert.ok(fs.existsSync(file), 'the tests in the extension host did not end');
    const results = JSON.parse(fs.readFileSync(file, 'utf8'));
    assert.ok(results.length > 0);
    for (const { name, error } of results) {
      await context.test(name, () => assert.equal(error, undefined));
    }
    await context.test('the trace is written where the setting asks for it', () => {
      const logs = path.join(editor.folder, 'user/logs');
      const trace = fs.readdirSync(logs, { recursive: true }).filter((file) => file.endsWith('(trace).log'));
      const text = trace.map((file) => fs.readFileSync(path.join(logs, file), 'utf8')).join('');
      assert.match(text, /textDocument\/hover/);
    });
  } finally {
    await editor.close();
  }
});
