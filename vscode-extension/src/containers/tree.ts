/** The view *PTX Containers*: the containers that the user opened, their targets, members and kernels. */

import * as vscode from 'vscode';

import { MEMBER_KERNELS, type Container, type MemberKernels } from '../protocol.js';
import type { Server } from '../server.js';
import { besides, byTarget, ContainerItem, MemberItem, MemberKernelItem, NoteItem, TargetItem } from './items.js';
import { contents, fileName } from './members.js';

type Item = ContainerItem | TargetItem | MemberItem | MemberKernelItem | NoteItem;

/** The paths are remembered for the workspace under this name. */
const OPENED = 'ptx.containers';

export class Containers implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly found = new Map<string, Promise<Container | Error>>();
  private readonly watchers = new Map<string, vscode.Disposable>();

  constructor(
    private readonly server: Server,
    private readonly memory: vscode.Memento,
  ) {}

  get opened(): vscode.Uri[] {
    return this.memory.get<string[]>(OPENED, []).map((uri) => vscode.Uri.parse(uri));
  }

  /** Shows a container, or why it cannot be read. */
  async open(uri: vscode.Uri): Promise<Container | Error> {
    const others = this.memory.get<string[]>(OPENED, []).filter((one) => one !== uri.toString());
    await this.memory.update(OPENED, [uri.toString(), ...others]);
    this.found.delete(uri.toString());
    const found = this.contents(uri);
    this.changed.fire(undefined);
    return found;
  }

  async close(uri: vscode.Uri): Promise<void> {
    await this.memory.update(OPENED, this.memory.get<string[]>(OPENED, []).filter((one) => one !== uri.toString()));
    this.forget(uri.toString());
    this.changed.fire(undefined);
  }

  /** Reads everything again. */
  refresh(): void {
    [...this.found.keys()].forEach((key) => this.forget(key));
    this.changed.fire(undefined);
  }

  /** What is in a container, or why that is unknown. */
  contents(uri: vscode.Uri): Promise<Container | Error> {
    const key = uri.toString();
    const known = this.found.get(key);
    if (known) {
      return known;
    }
    const found = contents(this.server, uri).catch((error: unknown) => (error instanceof Error ? error : new Error(String(error))));
    this.found.set(key, found);
    this.watch(uri);
    return found;
  }

  getTreeItem(item: Item): vscode.TreeItem {
    return item;
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item instanceof ContainerItem) {
      return this.inContainer(item);
    }
    if (item instanceof TargetItem) {
      return item.members.map((member) => new MemberItem(member));
    }
    if (item instanceof MemberItem) {
      return this.kernels(item);
    }
    if (item) {
      return [];
    }
    return Promise.all(this.opened.map(async (uri) => new ContainerItem(uri, await this.contents(uri))));
  }

  dispose(): void {
    this.watchers.forEach((watcher) => watcher.dispose());
    this.changed.dispose();
  }

  private inContainer({ uri, found }: ContainerItem): Item[] {
    if (found instanceof Error) {
      return [new NoteItem(uri.toString(), found.message.replace(`${fileName(uri)}: `, ''), 'error')];
    }
    const also = found.members.length ? besides(found).map((text) => new NoteItem(uri.toString(), `Also ${text}`, 'info')) : [];
    return [
      ...found.notes.map((note) => new NoteItem(uri.toString(), note, 'warning')),
      ...byTarget(found.members).map(([target, members]) => new TargetItem(uri, target, members)),
      ...also,
    ];
  }

  private async kernels({ uri }: MemberItem): Promise<Item[]> {
    try {
      await this.server.ready();
      const found = await this.server.ask<MemberKernels>(MEMBER_KERNELS, { textDocument: { uri: uri.toString() } });
      if (!found?.kernels.length) {
        return [new NoteItem(uri.toString(), 'no kernels', 'info')];
      }
      return found.kernels.map((kernel, number) => new MemberKernelItem(uri, kernel, number));
    } catch (error) {
      return [new NoteItem(uri.toString(), error instanceof Error ? error.message : String(error), 'error')];
    }
  }

  /** A container that is built again is read again. */
  private watch(uri: vscode.Uri): void {
    const key = uri.toString();
    if (this.watchers.has(key)) {
      return;
    }
    const folder = vscode.Uri.joinPath(uri, '..');
    const watcher = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, fileName(uri)));
    const again = (): void => {
      this.found.delete(key);
      this.changed.fire(undefined);
    };
    this.watchers.set(key, vscode.Disposable.from(watcher, watcher.onDidChange(again), watcher.onDidCreate(again), watcher.onDidDelete(again)));
  }

  private forget(key: string): void {
    this.found.delete(key);
    this.watchers.get(key)?.dispose();
    this.watchers.delete(key);
  }
}
