/** Installs the server in a terminal, visible to the user. */

import * as vscode from 'vscode';

import { onPath, programFolders } from './finding.js';
import { selectedPython } from './python.js';
import type { Server } from './server.js';

interface Way extends vscode.QuickPickItem {
  program: string;
  args: string[];
}

/** Asks for an installation method, runs it, and starts the server if it succeeds. */
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
    placeHolder: 'Choose an installation method',
  });
  if (!way) {
    return;
  }
  if ((await run(way)) === 0) {
    await server.restart();
  } else {
    await vscode.window.showErrorMessage(`\`${line(way)}\` failed. See its terminal for details.`);
  }
}

async function installers(): Promise<Way[]> {
  const here = { folders: programFolders(), windows: process.platform === 'win32' };
  const found: Way[] = [];
  const selected = await selectedPython();
  if (selected) {
    const args = ['-m', 'pip', 'install', '--upgrade', 'ptx-lsp'];
    found.push({ label: 'Into the selected Python environment', description: selected, program: selected, args });
  }
  for (const [program, ...args] of [
    ['uv', 'tool', 'install', '--upgrade', 'ptx-lsp'],
    ['pipx', 'install', '--force', 'ptx-lsp'],
    ['python3', '-m', 'pip', 'install', '--user', '--upgrade', 'ptx-lsp'],
    ['python', '-m', 'pip', 'install', '--user', '--upgrade', 'ptx-lsp'],
  ] as const) {
    if (await onPath(program, here)) {
      found.push({ label: `With ${program}`, description: line({ program, args }), program, args });
    }
  }
  return found;
}

const TASK = 'Install the language server';

/** Runs an installation method as a task. Returns its exit status, or undefined if its terminal was closed. */
function run({ program, args }: Way): Promise<number | undefined> {
  const scope = vscode.workspace.workspaceFolders ? vscode.TaskScope.Workspace : vscode.TaskScope.Global;
  const task = new vscode.Task({ type: 'shell' }, scope, TASK, 'PTX', new vscode.ShellExecution(program, args));
  return new Promise((resolve, reject) => {
    const ended = (execution: vscode.TaskExecution, status?: number): void => {
      if (execution.task.name === TASK) {
        watches.forEach((watch) => void watch.dispose());
        resolve(status);
      }
    };
    const watches = [
      vscode.tasks.onDidEndTaskProcess(({ execution, exitCode }) => ended(execution, exitCode)),
      vscode.tasks.onDidEndTask(({ execution }) => ended(execution)),
    ];
    vscode.tasks.executeTask(task).then(undefined, reject);
  });
}

function line({ program, args }: { program: string; args: readonly string[] }): string {
  return [program, ...args].join(' ');
}
