// What a user sees when there is no server, an old one, one that dies, or no trust: a message, and a usable editor.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

import { answerFileDialog, chooseFromList, example, EXTENSION, ourServer, startEditor } from './editor.mjs';
import { TURN, until, untilVisible } from './waiting.mjs';

const FILES = { 'saxpy.ptx': example('saxpy.ptx') };

/** Colours are there, and one can type. */
async function isUsable({ page }) {
  const lines = page.locator('.view-line');
  await untilVisible(async () => {
    await lines.filter({ hasText: '.version' }).first().click();
    await page.keyboard.type('// typed ');
  }, lines.filter({ hasText: 'typed' }).first());
  await until(async () => {
    const classes = await page.$$eval('.view-line span span', (spans) => spans.map((span) => span.className));
    return new Set(classes).size >= 4;
  });
}

/** A program that is a server of the given behaviour; its path. */
function fakeServer(behaviour) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-fake-')), 'ptx-lsp');
  const script = path.join(EXTENSION, 'test/e2e/fake-server.mjs');
  fs.writeFileSync(file, `#!/bin/sh\nexec "${process.execPath}" "${script}" ${behaviour} "${file}.ended"\n`);
  fs.chmodSync(file, 0o755);
  return file;
}

const notification = (page, text) => page.locator('.notifications-toasts .notification-list-item', { hasText: text });

describe('a machine without the server', () => {
  let editor;
  let page;
  before(async () => {
    editor = await startEditor({ settings: { 'files.autoSave': 'off' }, files: FILES, PATH: '/usr/bin:/bin' });
    page = editor.page;
    await editor.openFile('saxpy.ptx');
  });
  after(() => editor?.close());

  /** Another server is set, with what else is set; what was said before, and typed, is gone. */
  async function set(settings) {
    await editor.ready();
    await editor.openFile('saxpy.ptx');
    await editor.configure(settings);
  }

  test('no server anywhere: the editor works, and offers to install it', async () => {
    await notification(page, 'is not installed').getByRole('button', { name: 'Install' }).waitFor();
    await editor.shot('situation-no-server');
    await isUsable(editor);
  });

  test('the server is installed from a wheel that the user chooses', async () => {
    const wheel = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-wheel-')), 'ptx_lsp-0-py3-none-any.whl');
    fs.writeFileSync(wheel, 'damaged');
    const choice = (text) => page.locator('.quick-input-list .monaco-list-row', { hasText: text }).first();
    const install = notification(page, 'is not installed').getByRole('button', { name: 'Install' });
    await untilVisible(async () => {
      if (!(await install.isVisible())) {
        await editor.command('PTX: Restart the Language Server'); // a warning leaves after some seconds
      }
      await install.click();
    }, choice('From a wheel'));
    await untilVisible(async () => {
      if (!(await choice('From a wheel').isVisible())) {
        await page.keyboard.press('Escape'); // a dialog that took no answer
        await editor.command('PTX: Install the Language Server');
      }
      await chooseFromList(page, 'From a wheel');
      await answerFileDialog(page, wheel);
    }, choice('With python3'));
    await chooseFromList(page, 'With python3');
    // it is damaged, so pip fails, and the command can be read
    await notification(page, wheel).waitFor();
    await editor.shot('situation-install');
    await isUsable(editor);
  });

  test('a setting that names no program', async () => {
    await set({ 'ptx.server.path': '/nowhere/ptx-lsp' });
    await notification(page, 'which is not a program').waitFor();
    await editor.shot('situation-wrong-setting');
    await page.locator('.statusbar-item', { hasText: 'not running' }).waitFor();
    await isUsable(editor);
  });

  test('an old server is used, and the user is told', async () => {
    await set({ 'ptx.server.path': fakeServer('old') });
    await notification(page, 'is version 0.0.1').waitFor();
    await editor.shot('situation-old-server');
    await isUsable(editor);
  });

  test('a server that dies is started again, but not for ever', async () => {
    await set({ 'ptx.server.path': fakeServer('dies') });
    await notification(page, 'will not be restarted').waitFor();
    await editor.shot('situation-dying-server');
    await isUsable(editor);
  });

  test('a server that does not start', async () => {
    await set({ 'ptx.server.path': fakeServer('broken') });
    await notification(page, 'did not start').waitFor();
    await page.waitForTimeout(1_500); // nothing else is said
    assert.equal(await page.locator('.notifications-toasts .notification-list-item').count(), 1);
    await editor.shot('situation-broken-server');
    await isUsable(editor);
  });

  test('a server that ends in the middle of a request is started again', async () => {
    const server = fakeServer('midway');
    await set({ 'ptx.server.path': server });
    await until(() => fs.existsSync(`${server}.ended`), () => 'it has not ended');
    await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'PTX' }).locator('.codicon-check').waitFor();
    assert.equal(await page.locator('.notifications-toasts .notification-list-item').count(), 0);
    await isUsable(editor);
  });

  test('a code lens is that of the newest answer, and a click on it works', async () => {
    await set({ 'ptx.server.path': fakeServer('slow') });
    const lens = page.locator('.codelens-decoration a', { hasText: /^lens (?!1$)/ }).first();
    await untilVisible(() => lens.click(), page.locator('.quick-input-widget:visible'));
    await page.keyboard.press('Escape');
    await isUsable(editor);
  });

  test('a question about a code lens that is never answered does not keep newer ones away', async () => {
    await set({ 'ptx.server.path': fakeServer('silent') });
    await page.locator('.codelens-decoration a', { hasText: /^lens (?!1$)/ }).first().waitFor();
    await isUsable(editor);
  });

  test('a server that hangs while it is asked for a code lens keeps none from the next server', async () => {
    const server = fakeServer('hangs');
    await set({ 'ptx.server.path': server });
    await until(() => fs.existsSync(`${server}.ended`), () => 'it was not asked');
    await set({ 'ptx.server.path': fakeServer('slow') });
    await page.locator('.codelens-decoration a', { hasText: /^lens / }).first().waitFor();
    await isUsable(editor);
  });

  test('a server that never answers', async () => {
    await set({ 'ptx.server.startTimeout': 5, 'ptx.server.path': fakeServer('mute') });
    // restarting does not wait for the start that hangs
    await editor.command('PTX: Restart the Language Server');
    await notification(page, 'no answer within 5 seconds').waitFor();
    assert.equal(await page.locator('.notifications-toasts .notification-list-item').count(), 1);
    await editor.shot('situation-mute-server');
    await isUsable(editor);
  });
});

test('a workspace that is not trusted starts nothing', async () => {
  const settings = { ...ourServer(), 'security.workspace.trust.startupPrompt': 'never' };
  const editor = await startEditor({ settings, files: FILES, trusted: false });
  const { page } = editor;
  try {
    await editor.openFile('saxpy.ptx');
    await page.locator('.statusbar-item[id*="ptx"]').waitFor();
    const manage = page.locator('.pane-body', { hasText: 'not trusted' }).getByRole('button', { name: 'Manage trust' });
    await untilVisible(() => page.locator('.activitybar [aria-label="PTX"]').first().click(), manage);
    await editor.shot('situation-untrusted');
    // once it is trusted, the server runs
    await untilVisible(() => manage.click(), page.locator('.workspace-trust-editor'));
    const trust = page.locator('.workspace-trust-editor').getByRole('button', { name: 'Trust', exact: true });
    const row = page.locator('.pane-body .monaco-list-row', { hasText: 'registers' });
    await untilVisible(async () => {
      if (await trust.count()) {
        await trust.click();
      }
    }, row);
    const modal = page.locator('.monaco-modal-editor-block');
    await until(async () => {
      if (await modal.count()) {
        await modal.locator('.codicon-close').last().click({ timeout: TURN });
      }
      return (await modal.count()) === 0;
    });
    await isUsable(editor);
  } finally {
    await editor.close();
  }
});
