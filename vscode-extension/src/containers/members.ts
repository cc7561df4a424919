/** The file system of the scheme `ptx-member`: the PTX texts in containers, as read-only documents. */

import * as vscode from 'vscode';

import { CONTAINER_MEMBERS, MEMBER_TEXT, type Container, type MemberText } from '../protocol.js';
import type { Server } from '../server.js';

export const SCHEME = 'ptx-member';

/** The container of a member. */
export function containerOf(member: vscode.Uri): vscode.Uri {
  return vscode.Uri.file(member.path.slice(0, member.path.lastIndexOf('!')));
}

export function fileName(uri: vscode.Uri): string {
  return uri.path.split('/').at(-1) ?? uri.path;
}

/** What is in a container. Throws an error with a message for the user. */
export async function contents(server: Server, uri: vscode.Uri): Promise<Container> {
  await server.ready();
  const found = await server.ask<Container>(CONTAINER_MEMBERS, { textDocument: { uri: uri.toString() } });
  if (!found) {
    throw new Error(`${fileName(uri)}: no answer`);
  }
  return found;
}

/** The text of a member. Throws an error with a message for the user. */
export async function text(server: Server, uri: vscode.Uri): Promise<string> {
  await server.ready();
  const found = await server.ask<MemberText>(MEMBER_TEXT, { textDocument: { uri: uri.toString() } });
  return found?.text ?? '';
}

export class Members implements vscode.FileSystemProvider, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly onDidChangeFile = this.changed.event;

  constructor(private readonly server: Server) {}

  /** A member changes with its container. */
  watch(uri: vscode.Uri): vscode.Disposable {
    const container = containerOf(uri);
    const pattern = new vscode.RelativePattern(vscode.Uri.joinPath(container, '..'), fileName(container));
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const changed = (): void => this.changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
    watcher.onDidChange(changed);
    watcher.onDidCreate(changed);
    watcher.onDidDelete(() => this.changed.fire([{ type: vscode.FileChangeType.Deleted, uri }]));
    return watcher;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const container = containerOf(uri);
    const state = await vscode.workspace.fs.stat(container);
    const { members } = await unavailable(contents(this.server, container));
    const found = members.find(({ name }) => uri.path.endsWith(`!${name}`));
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const permissions = vscode.FilePermission.Readonly;
    return { type: vscode.FileType.File, ctime: state.ctime, mtime: state.mtime, size: found.size, permissions };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    return new TextEncoder().encode(await unavailable(text(this.server, uri)));
  }

  readDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  createDirectory(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  writeFile(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  delete(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  rename(): never {
    throw vscode.FileSystemError.NoPermissions();
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** What goes wrong, as an error that the editor shows in place of the text. */
async function unavailable<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer;
  } catch (error) {
    throw vscode.FileSystemError.Unavailable(error instanceof Error ? error.message : String(error));
  }
}
