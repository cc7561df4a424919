/** The Python extension: which interpreter is selected there. */

import * as vscode from 'vscode';

interface Environments {
  getActiveEnvironmentPath(): { path: string };
  onDidChangeActiveEnvironmentPath?: vscode.Event<{ path: string }>;
}

/** The interpreter that is selected in the Python extension, else the one its setting names. */
export async function selectedPython(): Promise<string | undefined> {
  const selected = (await environments())?.getActiveEnvironmentPath().path;
  if (selected) {
    return selected;
  }
  const named = vscode.workspace.getConfiguration('python').get<string>('defaultInterpreterPath');
  return named && named !== 'python' ? named : undefined;
}

/** Calls `run` when another interpreter is selected. */
export async function onSelection(run: () => void): Promise<vscode.Disposable | undefined> {
  return (await environments())?.onDidChangeActiveEnvironmentPath?.(run);
}

async function environments(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<{ environments?: Environments }>('ms-python.python');
  try {
    return (await extension?.activate())?.environments;
  } catch {
    return undefined; // an extension that does not start must not keep this one from starting
  }
}
