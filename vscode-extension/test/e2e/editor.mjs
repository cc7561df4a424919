// VS Code in a browser for tests, with the packaged extension.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after } from 'node:test';

import { chromium } from 'playwright-core';

import { ENTRY, EXTENSION, installed, NODE, PROJECT } from './installed.mjs';
import { PATIENCE, TURN, until } from './waiting.mjs';

export { EXTENSION, PROJECT };
/** Where screenshots go: build output, or `images` when the README's are made anew. */
export const SHOTS = path.resolve(process.env.PTX_SCREENSHOTS ?? path.join(PROJECT, 'out/vscode'));
/** How many times slower the browser is made, to try tests as a busy machine runs them. */
const SLOWNESS = Number(process.env.PTX_SLOWNESS ?? 1);
/** VS Code's own commands that tests give, by their titles. */
const COMMANDS = {
  'Add Data Breakpoint at Address': 'workbench.debug.viewlet.action.addDataBreakpointOnAddress',
  'Debug: Select and Start Debugging': 'workbench.action.debug.selectandstart',
  'Debug: Start Debugging': 'workbench.action.debug.start',
  'Developer: Force Retokenize': 'editor.action.forceRetokenize',
  'Open Disassembly View': 'debug.action.openDisassemblyView',
  'View: Focus First Editor Group': 'workbench.action.focusFirstEditorGroup',
  'View: Show Explorer': 'workbench.view.explorer',
  'View: Show PTX': 'workbench.view.extension.ptx',
  'View: Show Run and Debug': 'workbench.view.debug',
};
const { commands, configuration } = JSON.parse(fs.readFileSync(path.join(EXTENSION, 'package.json'), 'utf8')).contributes;
/** Our commands by their titles in the palette. */
const OURS = new Map(commands.map(({ category, title, command }) => [`${category}: ${title.replace(/\.\.\.$/, '')}`, command]));
/** Our settings that each machine has for itself. */
const OF_MACHINE = new Set(Object.entries(configuration.properties).flatMap(([name, { scope }]) => (/^machine/.test(scope) ? [name] : [])));
/** The size of the window. */
const SIZE = { width: 1400, height: 900 };
const PROFILE = fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-browser-'));
const THEME = 'workbench.colorTheme';
const SETTINGS = {
  'workbench.startupEditor': 'none',
  [THEME]: 'Default Dark Modern',
  'telemetry.telemetryLevel': 'off',
  'extensions.autoCheckUpdates': false,
  'extensions.autoUpdate': false,
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'editor.hover.delay': 100,
  'editor.minimap.enabled': false,
};

/** The editor that the tests of this process share, once there is one. */
let shared;
/** The browser of this process: its cache serves all windows. */
let browser;
after(async () => {
  await shared?.end();
  await browser?.close();
  fs.rmSync(PROFILE, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/**
 * A window with `files` in its workspace and the user's `settings`. Tests share one, which is emptied between them: to
 * start VS Code takes longer than most tests. `fresh` wants a window in which nothing has run. These have a code-server
 * of their own: `trusted` false leaves the workspace untrusted; `PATH` is where programs are looked for; `inHost` is for
 * tests in the extension host, where nothing is installed, as the extension comes from its folder, and VS Code shows no
 * notifications; `others` are folders of other extensions, by name.
 */
export async function startEditor({ settings = {}, files = {}, fresh = false, ...special } = {}) {
  if (Object.keys(special).length) {
    const alone = await startCodeServer(special);
    await alone.prepare(settings, files);
    return { ...alone.editor, close: alone.end };
  }
  if (shared && (fresh || !(await shared.clear()))) {
    await shared.end();
    shared = undefined;
  }
  shared ??= await startCodeServer({});
  await shared.prepare(settings, files);
  return { ...shared.editor, close: async () => undefined };
}

async function startCodeServer({ trusted = true, inHost = false, PATH, others = {} }) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-vscode-'));
  const workspace = path.join(folder, 'workspace');
  const user = path.join(folder, 'user');
  for (const part of ['User', 'Machine']) {
    fs.mkdirSync(path.join(user, part), { recursive: true });
  }
  fs.mkdirSync(workspace);
  const extensions = {
    'tests.driver-1.0.0': path.join(EXTENSION, 'test/e2e/driver'),
    'ms-vscode.hexeditor-1.0.0': path.join(EXTENSION, 'test/e2e/hex-editor'),
    ...(!inHost && { 'ptx-lsp': installed() }),
    ...others,
  };
  for (const [name, source] of Object.entries(extensions)) {
    fs.cpSync(source, path.join(folder, 'extensions', name), { recursive: true });
  }
  const port = await freePort();
  const config = path.join(folder, 'config.yaml');
  fs.writeFileSync(config, `bind-addr: 127.0.0.1:${port}\nauth: none\ncert: false\n`);
  const common = [ENTRY, '--user-data-dir', user, '--extensions-dir', path.join(folder, 'extensions'), '--config', config];
  const socket = path.join(folder, 'driver.sock');
  const env = { ...process.env, HOME: folder, XDG_CONFIG_HOME: folder, PTX_DRIVER: socket, ...(PATH && { PATH }) };
  const flags = ['--disable-telemetry', '--disable-update-check', '--disable-getting-started-override'];
  if (inHost) {
    flags.push('--vscode-option', 'enable-smoke-test-driver');
  }
  if (trusted) {
    flags.push('--disable-workspace-trust');
  }
  const server = spawn(NODE, [...common, ...flags, workspace], {
    env,
    stdio: 'ignore',
    detached: true,
  });
  const base = `127.0.0.1:${port}`;
  browser ??= await startBrowser();
  await answers(`http://${base}/healthz`);
  const page = await browser.newPage();
  await page.setViewportSize(SIZE);
  page.setDefaultTimeout(PATIENCE);
  if (SLOWNESS > 1) {
    const devtools = await page.context().newCDPSession(page);
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: SLOWNESS });
  }
  let opened = false;
  /** The settings of the tests that run. */
  let set = {};
  /** Asks the extension of `driver`, once it runs. */
  async function ask(what, given) {
    await until(() => fs.existsSync(socket), () => 'the extension of `driver` does not run');
    return askOver(socket, { what, ...given });
  }
  const editor = {
    folder,
    workspace,
    page,
    /** Changes the user's settings. */
    async configure(changed) {
      const theme = changed[THEME];
      const isNew = theme && theme !== (set[THEME] ?? SETTINGS[THEME]);
      Object.assign(set, changed);
      if (!opened) {
        writeSettings();
        return;
      }
      const colours = async () => /vscode-theme-\S+/.exec(await page.locator('.monaco-workbench').first().getAttribute('class'))[0];
      const before = await colours();
      await ask('settings', { values: changed });
      if (isNew) {
        await until(async () => (await colours()) !== before, () => `the theme is not ${theme} but ${before}`);
      }
    },
    /** Opens the workspace in the window, unless it is open. */
    async ready() {
      if (!opened) {
        await this.open([]);
      }
      await ask('clear');
    },
    /** Opens the workspace in the window, or loads the window again. `payload` is what VS Code calls so. */
    async open(payload) {
      const query = encodeURIComponent(JSON.stringify(payload));
      fs.rmSync(socket, { force: true }); // the driver of the window that ends
      await page.goto(`http://${base}/?folder=${workspace}&payload=${query}`, { waitUntil: 'domcontentloaded' });
      opened = true;
    },
    /** Saves all files, until VS Code has no backup that would take their place when the window is loaded again. */
    async save() {
      await ask('save');
      const backups = path.join(user, 'User/Backups');
      const names = () => fs.readdirSync(backups, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      await until(() => !fs.existsSync(backups) || names().length === 0, () => `a backup is left in ${backups}`);
    },
    /** Waits until what a window shows next is stored: VS Code stores its layout every few seconds, when it is idle. */
    async stored(isAsExpected) {
      let layout;
      await until(async () => {
        layout = await page.evaluate(storedLayout);
        return layout && isAsExpected(layout);
      }, () => `the stored layout is ${layout}`);
    },
    /** Opens a file, alone in the window. */
    async openFile(name) {
      const file = path.join(workspace, name);
      if (opened) {
        await ask('show', { file });
      } else {
        await this.open([['openFile', this.remote(file)]]);
      }
      await page.locator('.tab.active', { hasText: path.basename(name) }).waitFor();
      await page.waitForSelector('.editor-instance .view-line');
    },
    /** Places the cursor of the editor. Lines are counted from 1. */
    async goToLine(line) {
      await ask('cursor', { line });
      await page.locator('.statusbar', { hasText: `Ln ${line},` }).waitFor();
    },
    /** Places the cursor of a visible editor at a text. */
    find: (text) => ask('find', { text }),
    /** Sets a breakpoint at a line of the file that is open. */
    breakpoint: (line) => ask('breakpoint', { line }),
    remote: (file) => `vscode-remote://${base}${file}`,
    /** Runs a command, by its title in the palette. */
    command: (title) => ask('command', { id: COMMANDS[title] ?? OURS.get(title) }),
    /** Runs a command from the palette. The palette closes when something else takes the focus: it is opened again. */
    async palette(title) {
      const input = page.locator('.quick-input-widget input.input');
      const rows = page.locator('.quick-input-list .monaco-list-row');
      const choose = async () => {
        await page.keyboard.press('F1');
        await input.fill(`>${title}`, { timeout: TURN });
        await rows.filter({ hasText: title }).first().click({ timeout: TURN });
        return true;
      };
      await until(choose, async () => {
        const shown = (await rows.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '));
        return `no command ${title} in the palette, which shows: ${shown.join(' | ') || 'nothing'}`;
      });
    },
    /** The page of the newest panel. */
    panel: () => page.frameLocator('iframe.webview.ready').last().frameLocator('iframe#active-frame'),
    async shot(name) {
      fs.mkdirSync(SHOTS, { recursive: true });
      await page.screenshot({ path: path.join(SHOTS, `${name}.png`) });
    },
  };
  /** Settings of the machine's scope, such as the server's path, have a file of their own. */
  function writeSettings() {
    const users = { ...SETTINGS, 'security.workspace.trust.enabled': !trusted, ...set };
    const write = (part, isHere) => {
      const settings = Object.entries(users).filter(([name]) => isHere(name));
      fs.writeFileSync(path.join(user, part, 'settings.json'), JSON.stringify(Object.fromEntries(settings)));
    };
    write('User', (name) => !OF_MACHINE.has(name));
    write('Machine', (name) => OF_MACHINE.has(name));
  }
  return {
    editor,
    /** Leaves nothing of the tests before in the window. Whether that was possible. */
    async clear() {
      try {
        await page.setViewportSize(SIZE);
        await page.mouse.move(0, 0);
        await until(async () => {
          await page.keyboard.press('Escape'); // what is in front of the window
          return (await page.locator('.monaco-dialog-box').count()) === 0;
        });
        await ask('clear');
        await page.locator('.tab').first().waitFor({ state: 'detached' });
        return true;
      } catch (error) {
        console.error(`The window is not used any more: ${error.message}`);
        return false;
      }
    },
    /** Puts files into the workspace, in place of those that are there, and sets the user's settings. */
    async prepare(settings, files) {
      for (const name of fs.readdirSync(workspace)) {
        fs.rmSync(path.join(workspace, name), { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
      }
      for (const [name, text] of Object.entries(files)) {
        fs.mkdirSync(path.dirname(path.join(workspace, name)), { recursive: true });
        fs.writeFileSync(path.join(workspace, name), text);
      }
      const before = Object.keys(set);
      set = { ...settings };
      if (opened) {
        const gone = before.filter((name) => !(name in settings)).map((name) => [name, SETTINGS[name] ?? null]);
        await ask('settings', { values: { ...Object.fromEntries(gone), ...settings } });
      } else {
        writeSettings();
      }
    },
    async end() {
      await page.close();
      try {
        process.kill(-server.pid, 'SIGTERM');
      } catch {
        // it has ended already
      }
      fs.rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

function startBrowser() {
  return chromium.launchPersistentContext(PROFILE, {
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true,
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
  });
}

/**
 * Types a path into VS Code's own file dialog, and accepts it. The dialog writes its own path into the input when it
 * opens, and Enter chooses the folder that it lists: both are waited for. A folder ends with `/`.
 */
export async function answerFileDialog(page, file) {
  await page.locator('.quick-input-list .monaco-list-row').first().waitFor({ timeout: TURN });
  await page.locator('.quick-input-widget input.input').fill(file, { timeout: TURN });
  const folders = file.endsWith('/') && fs.readdirSync(file, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  await page.waitForFunction(
    ([typed, names]) => {
      const rows = [...document.querySelectorAll('.quick-input-list .monaco-list-row')];
      const listed = rows.map((row) => row.innerText.trim()).join();
      return document.querySelector('.quick-input-widget input.input').value === typed && (!names || listed === names.join());
    },
    [file, folders && ['..', ...folders.map((entry) => entry.name)]],
    { timeout: TURN },
  );
  await page.keyboard.press('Enter');
}

/** Chooses an entry of the open list of choices. */
export async function chooseFromList(page, entry) {
  await page.locator('.quick-input-list .monaco-list-row', { hasText: entry }).first().click({ timeout: TURN });
}

/** Chooses an entry of the open context menu. Menus ignore clicks in their first tenth of a second. */
export async function chooseFromMenu(page, entry) {
  const item = page.locator('.monaco-menu .action-item', { hasText: entry });
  await item.hover({ timeout: TURN });
  await page.waitForTimeout(300);
  await item.click({ timeout: TURN });
}

/** What tells VS Code where our server is. */
export function ourServer() {
  return { 'ptx.server.python': process.env.PTX_PYTHON ?? path.join(PROJECT, '.venv/bin/python'), 'ptx.server.startTimeout': PATIENCE / 1_000 };
}

export function example(name) {
  return fs.readFileSync(path.join(PROJECT, 'examples', name), 'utf8');
}

/** In the page: what VS Code has stored of the editors that are open in this workspace. */
async function storedLayout() {
  const result = (request) =>
    new Promise((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  for (const { name } of await indexedDB.databases()) {
    const database = await result(indexedDB.open(name));
    try {
      const table = /^vscode-web-state-db-(?!global)/.test(name) && database.transaction('ItemTable').objectStore('ItemTable');
      const layout = table && (await result(table.get('memento/workbench.parts.editor')));
      if (layout) {
        return layout;
      }
    } finally {
      database.close();
    }
  }
  return undefined;
}

function askOver(socketPath, question) {
  return new Promise((resolve, reject) => {
    const request = http.request({ socketPath, method: 'POST', timeout: PATIENCE }, async (response) => {
      let text = '';
      for await (const part of response) {
        text += part;
      }
      if (response.statusCode === 200) {
        resolve();
      } else {
        reject(new Error(`${question.what}: ${text}`));
      }
    });
    request.on('timeout', () => request.destroy(new Error(`no answer to ${JSON.stringify(question)}`)));
    request.on('error', reject);
    request.end(JSON.stringify(question));
  });
}

function freePort() {
  return new Promise((resolve) => {
    const probe = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

async function answers(url) {
  const isThere = () => fetch(url).then(({ ok }) => ok, () => false);
  await until(isThere, () => 'code-server did not start');
}
