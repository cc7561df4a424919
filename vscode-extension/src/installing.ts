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
  const source = await chosenPackage();
  if (!source) {
    return;
  }
  const ways = await installers(source);
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

/** The path of a wheel or a checkout. The package is not on an index, where others could take its name. */
async function chosenPackage(): Promise<string | undefined> {
  const kinds = [
    { label: 'From a wheel', description: 'ptx_lsp-*.whl', folders: false },
    { label: 'From a checkout', description: 'needs a C compiler', folders: true },
  ];
  const kind = await vscode.window.showQuickPick(kinds, { title: 'Install the PTX language server' });
  const chosen =
    kind &&
    (await vscode.window.showOpenDialog({
      title: kind.label,
      openLabel: 'Install',
      canSelectFolders: kind.folders,
      canSelectFiles: !kind.folders,
      ...(!kind.folders && { filters: { Wheel: ['whl'] } }),
    }));
  return chosen?.[0]?.fsPath;
}

async function installers(source: string): Promise<Way[]> {
  const here = { folders: programFolders(), windows: process.platform === 'win32' };
  const found: Way[] = [];
  const selected = await selectedPython();
  if (selected) {
    const args = ['-m', 'pip', 'install', '--upgrade', source];
    found.push({ label: 'Into the selected Python environment', description: selected, program: selected, args });
  }
  for (const [program, ...args] of [
    ['uv', 'tool', 'install', '--force', source],
    ['pipx', 'install', '--force', source],
    ['python3', '-m', 'pip', 'install', '--user', '--upgrade', source],
    ['python', '-m', 'pip', 'install', '--user', '--upgrade', source],
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
