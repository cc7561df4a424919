/** Revisions of files, from the editor's Git extension. */

import * as vscode from 'vscode';

/** A commit that changed a file. */
export interface Revision {
  readonly hash: string;
  readonly message: string;
  readonly date?: Date;
}

/** The part of the Git extension's interface, version 1, that is used here. */
interface Git {
  readonly enabled: boolean;
  getAPI(version: 1): {
    toGitUri(uri: vscode.Uri, ref: string): vscode.Uri;
    getRepository(uri: vscode.Uri): Repository | null;
    openRepository?(root: vscode.Uri): Promise<Repository | null>;
  };
}
interface Repository {
  log(options: { path?: string; maxEntries?: number }): Promise<Revision[]>;
}

const MOST = 100;

/** The commits that changed a file, the latest first. Throws an error with a message for the user. */
export async function log(uri: vscode.Uri): Promise<Revision[]> {
  const api = (await git()).getAPI(1);
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  const repository = api.getRepository(uri) ?? (folder && (await api.openRepository?.(folder.uri)));
  if (!repository) {
    throw new Error('it is not in a Git repository.');
  }
  const found = await repository.log({ path: uri.fsPath, maxEntries: MOST });
  if (!found.length) {
    throw new Error('no commit has it.');
  }
  return found;
}

/** A file as a commit has it. */
export async function revisionOf(uri: vscode.Uri, hash: string): Promise<vscode.Uri> {
  return (await git()).getAPI(1).toGitUri(uri, hash);
}

async function git(): Promise<Git> {
  const extension = vscode.extensions.getExtension<Git>('vscode.git');
  const found = extension && (extension.isActive ? extension.exports : await extension.activate());
  if (!found?.enabled) {
    throw new Error('the Git extension is disabled.');
  }
  return found;
}
