/** The interpreter selected in the Python extension. */

import * as vscode from 'vscode';

interface Environments {
  getActiveEnvironmentPath(): { path: string };
  onDidChangeActiveEnvironmentPath?: vscode.Event<{ path: string }>;
}

/** The interpreter selected in the Python extension, else the one from its setting. */
export async function selectedPython(): Promise<string | undefined> {
  const selected = (await environments())?.getActiveEnvironmentPath().path;
  if (selected) {
    return selected;
  }
  const named = vscode.workspace.getConfiguration('python').get<string>('defaultInterpreterPath');
  return named && named !== 'python' ? named : undefined;
}

/** Calls `run` when the user selects another interpreter. */
export async function onSelection(run: () => void): Promise<vscode.Disposable | undefined> {
  return (await environments())?.onDidChangeActiveEnvironmentPath?.(run);
}

async function environments(): Promise<Environments | undefined> {
  const extension = vscode.extensions.getExtension<{ environments?: Environments }>('ms-python.python');
  try {
    return (await extension?.activate())?.environments;
  } catch {
    return undefined; // an extension that fails to start must not stop this one
  }
}
