/** Installs the server in a terminal, where the user sees what happens. */

import * as vscode from 'vscode';

import { onPath } from './finding.js';
import { selectedPython } from './python.js';
import type { Server } from './server.js';

interface Way extends vscode.QuickPickItem {
  command: string;
}

/** Asks how, runs the command, and starts the server when it has ended well. */
export async function install(server: Server): Promise<void> {
  const ways = await installers();
  if (ways.length === 0) {
    await vscode.window.showErrorMessage(
      'No Python was found. Install Python 3.11 or newer, then run "PTX: Install the Language Server" again.',
    );
    return;
  }
  const way = await vscode.window.showQuickPick(ways, {
    title: 'Install the PTX language server',
    placeHolder: 'How shall it be installed?',
  });
  if (!way) {
    return;
  }
  if ((await run(way.command)) === 0) {
    await server.restart();
  } else {
    await vscode.window.showErrorMessage(`\`${way.command}\` failed; its terminal says why.`);
  }
}

async function installers(): Promise<Way[]> {
  const windows = process.platform === 'win32';
  const folders = (process.env['PATH'] ?? '').split(windows ? ';' : ':').filter(Boolean);
  const here = { folders, windows };
  const found: Way[] = [];
  const selected = await selectedPython();
  if (selected) {
    const command = `"${selected}" -m pip install --upgrade ptx-lsp`;
    found.push({ label: 'Into the selected Python environment', description: selected, command });
  }
  for (const [name, command] of [
    ['uv', 'uv tool install --upgrade ptx-lsp'],
    ['pipx', 'pipx install --force ptx-lsp'],
    ['python3', 'python3 -m pip install --user --upgrade ptx-lsp'],
    ['python', 'python -m pip install --user --upgrade ptx-lsp'],
  ] as const) {
    if (await onPath(name, here)) {
      found.push({ label: `With ${name}`, description: command, command });
    }
  }
  return found;
}

/** Runs a command line as a task and gives its exit status. */
async function run(command: string): Promise<number | undefined> {
  const task = new vscode.Task(
    { type: 'shell' },
    vscode.TaskScope.Workspace,
    'Install the language server',
    'PTX',
    new vscode.ShellExecution(command),
  );
  const execution = await vscode.tasks.executeTask(task);
  return new Promise((resolve) => {
    const watch = vscode.tasks.onDidEndTaskProcess((event) => {
      if (event.execution === execution) {
        watch.dispose();
        resolve(event.exitCode);
      }
    });
  });
}
