/** The view *Triton Cache*: the kernels that Triton has compiled. Nothing is read while it is not visible. */

import { homedir } from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

import { expand } from '../finding.js';
import { FILE_REPORT, TRITON_CACHE, type CachedKernel, type KernelReport, type TritonCache as Found } from '../protocol.js';
import type { Server } from '../server.js';
import { counted } from '../wording.js';
import { GroupItem, grouped, MoreItem, StageItem, VersionItem } from './items.js';

type Item = GroupItem | VersionItem | StageItem | MoreItem | vscode.TreeItem;

const MORE = 100;

export class TritonCache implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<Item | undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly view: vscode.TreeView<Item>;
  private readonly subscriptions: vscode.Disposable;
  /** The reports by path and time of the PTX. */
  private readonly reports = new Map<string, KernelReport | Error>();
  /** What has to be reported on: the versions in expanded groups, in order. */
  private readonly waiting = new Map<string, VersionItem>();
  private listed: readonly CachedKernel[] = [];
  private running = new vscode.CancellationTokenSource();
  private working = false;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('ptx.tritonCache', { treeDataProvider: this, showCollapseAll: true, canSelectMany: true });
    this.subscriptions = vscode.Disposable.from(
      this.view,
      this.view.onDidChangeVisibility(({ visible }) => (visible ? this.refresh() : this.stop())),
      this.view.onDidCollapseElement(({ element }) => this.leave(element)),
      vscode.workspace.onDidChangeConfiguration((change) => {
        if (change.affectsConfiguration('ptx')) {
          this.forget(); // the figures depend on settings, too
        }
      }),
    );
  }

  /** Lists the cache again. Figures of kernels that are the same are kept. */
  refresh(): void {
    this.stop();
    this.changed.fire(undefined);
  }

  /** Lists the cache again, and computes all figures again. */
  forget(): void {
    this.reports.clear();
    this.refresh();
  }

  more(group: GroupItem): void {
    group.shown += MORE;
    this.changed.fire(group);
  }

  /** The versions of a kernel, the newest first. */
  versions(name: string): CachedKernel[] {
    return this.listed.filter((one) => one.name === name);
  }

  /** Lets the user choose the folder. */
  async choose(): Promise<void> {
    const options = { title: 'Triton Cache', openLabel: 'Select', canSelectFolders: true, canSelectFiles: false };
    const [folder] = (await vscode.window.showOpenDialog(options)) ?? [];
    if (folder) {
      const settings = vscode.workspace.getConfiguration('ptx');
      await settings.update('tritonCache.path', folder.fsPath, vscode.ConfigurationTarget.Global);
    }
  }

  getTreeItem(item: Item): vscode.TreeItem {
    return item;
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item instanceof GroupItem) {
      const shown = item.kernels.slice(0, item.shown).map((cached) => this.version(cached));
      void this.work();
      return item.kernels.length > item.shown ? [...shown, new MoreItem(item)] : shown;
    }
    if (item instanceof VersionItem) {
      return item.cached.files.map((uri) => new StageItem(vscode.Uri.parse(uri)));
    }
    return item ? [] : this.groups();
  }

  dispose(): void {
    this.stop();
    this.subscriptions.dispose();
    this.changed.dispose();
  }

  private async groups(): Promise<Item[]> {
    const folder = cacheFolder();
    this.view.description = undefined;
    this.view.message = undefined;
    try {
      await this.server.ready();
      const asked = { textDocument: { uri: folder.toString() } };
      const found = await this.server.ask<Found>(TRITON_CACHE, asked, this.running.token);
      const { kernels, omitted } = found ?? { kernels: [], omitted: 0 };
      this.view.description = kernels.length ? counted(kernels.length + omitted, 'kernel') : undefined;
      if (omitted) {
        this.view.message = `The newest ${kernels.length} kernels are shown.`;
      }
      this.listed = kernels;
      return grouped(kernels);
    } catch (error) {
      if (!(error instanceof vscode.CancellationError) && (await exists(folder))) {
        this.view.message = error instanceof Error ? error.message : String(error);
      }
      return [];
    }
  }

  private version(cached: CachedKernel): VersionItem {
    const item = new VersionItem(cached);
    const known = this.reports.get(key(cached));
    item.show(known);
    if (!known) {
      this.waiting.set(cached.uri, item);
    }
    return item;
  }

  /** Asks for one report after another, as long as the view is visible. */
  private async work(): Promise<void> {
    if (this.working) {
      return;
    }
    this.working = true;
    try {
      for (;;) {
        const [next] = this.waiting.values();
        if (!next || !this.view.visible) {
          return;
        }
        this.waiting.delete(next.cached.uri);
        await this.report(next);
      }
    } finally {
      this.working = false;
    }
  }

  private async report(item: VersionItem): Promise<void> {
    const { cached } = item;
    const { token } = this.running;
    let report: KernelReport | Error;
    try {
      const asked = { textDocument: { uri: cached.uri } };
      report = (await this.server.ask<KernelReport>(FILE_REPORT, asked, token)) ?? new Error('no answer');
    } catch (error) {
      if (token.isCancellationRequested) {
        return;
      }
      report = error instanceof Error ? error : new Error(String(error));
    }
    this.reports.set(key(cached), report);
    item.show(report);
    this.changed.fire(item);
  }

  private stop(): void {
    this.waiting.clear();
    this.running.cancel();
    this.running.dispose();
    this.running = new vscode.CancellationTokenSource();
  }

  /** A collapsed group needs no figures. */
  private leave(item: Item): void {
    if (item instanceof GroupItem) {
      item.kernels.forEach(({ uri }) => this.waiting.delete(uri));
    }
  }
}

function key({ uri, modified }: CachedKernel): string {
  return `${uri} ${modified}`;
}

/** The folder that the setting names, else the one that Triton uses. */
export function cacheFolder(): vscode.Uri {
  const setting = vscode.workspace.getConfiguration('ptx').get('tritonCache.path', '');
  if (setting) {
    return vscode.Uri.file(expand(setting, vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? ''));
  }
  const { TRITON_CACHE_DIR: own, TRITON_HOME: home } = process.env;
  return vscode.Uri.file(own ?? path.join(home ?? homedir(), '.triton', 'cache'));
}

async function exists(uri: vscode.Uri): Promise<boolean> {
  try {
    await vscode.workspace.fs.stat(uri);
    return true;
  } catch {
    return false;
  }
}
