/** The view *Kernels*: the kernels of all open PTX files, with their metrics and findings. */

import * as vscode from 'vscode';

import { KERNEL_REPORT, type Kernel, type KernelReport } from './protocol.js';
import type { Server } from './server.js';
import { toRange } from './text.js';
import { branches, bytes, dynamicShared, estimated, findings, occupancy, ptxasState, registers, registersInShort, short, spills } from './wording.js';

export class KernelItem extends vscode.TreeItem {
  override readonly contextValue = 'kernel';

  constructor(
    readonly uri: vscode.Uri,
    readonly kernel: Kernel,
    /** The number of earlier kernels with the same name: there are two while one is being copied. */
    earlier: number,
  ) {
    super(short(kernel.displayName ?? kernel.name), vscode.TreeItemCollapsibleState.Collapsed);
    this.id = `${uri.toString()}#${kernel.name}#${earlier}`;
    this.description = `${registersInShort(kernel)} · ${occupancy(kernel)}`;
    const worst = kernel.findings.error ? 'error' : kernel.findings.warning ? 'warning' : undefined;
    this.iconPath = worst
      ? new vscode.ThemeIcon(worst, new vscode.ThemeColor(`list.${worst}Foreground`))
      : new vscode.ThemeIcon('symbol-function');
    this.tooltip = `${kernel.displayName ?? kernel.name}\n${registers(kernel)}, ${occupancy(kernel)}, ${findings(kernel)}`;
    this.command = {
      command: 'ptx.kernel.reveal',
      title: 'Go to the Kernel',
      arguments: [uri, toRange(kernel.selectionRange)],
    };
  }

  /** One line per metric. */
  details(): vscode.TreeItem[] {
    const { kernel } = this;
    const { measured } = kernel;
    const estimate = estimated(kernel).replace(' registers', '');
    const rows: [string, string, string][] = [
      ...(measured
        ? ([
            ['Registers', `${measured.registers ?? '?'} (ptxas ${measured.ptxas})`, 'chip'],
            ['Spills', spills(measured).replace(/ ?spills ?/, ''), 'chip'],
            ['Estimate', estimate.replace(', estimated', ''), 'chip'],
          ] as [string, string, string][])
        : ([['Registers', estimate, 'chip']] as [string, string, string][])),
      ['Occupancy', occupancy(kernel).replace(' occupancy', ''), 'graph-line'],
      ['Limited by', kernel.occupancy.limiters?.join(', ') || 'nothing', 'arrow-down'],
      ['Block', kernel.threadsPerBlock === null ? 'not fixed' : `${kernel.threadsPerBlock} threads (${kernel.threadsSource ?? 'unknown'})`, 'layout'],
      ['Shared memory', bytes(kernel.sharedBytes), 'database'],
      ['Dynamic shared', dynamicShared(kernel.dynamicShared), 'database'],
      ['Local memory', bytes(kernel.localBytes), 'database'],
      ['Parameters', bytes(kernel.parameterBytes), 'symbol-parameter'],
      ['Branches', branches(kernel), 'git-branch'],
      ['Findings', findings(kernel), 'warning'],
    ];
    return rows.map(([label, description, icon]) => {
      const item = new vscode.TreeItem(label);
      item.id = `${this.id}/${label}`;
      item.description = description;
      item.tooltip = `${label}: ${description}`;
      item.iconPath = new vscode.ThemeIcon(icon);
      return item;
    });
  }
}

class FileItem extends vscode.TreeItem {
  override readonly contextValue = 'file';

  constructor(
    readonly uri: vscode.Uri,
    readonly report: KernelReport,
  ) {
    super(uri, vscode.TreeItemCollapsibleState.Expanded);
    this.id = uri.toString();
    this.description = `${report.target ?? 'no target'}, PTX ${report.ptxVersion ?? '?'}`;
    this.tooltip = `${uri.fsPath}\n${ptxasState(report.ptxas)}`;
    this.iconPath = vscode.ThemeIcon.File;
  }
}

type Item = FileItem | KernelItem | vscode.TreeItem;

export class Kernels implements vscode.TreeDataProvider<Item>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<undefined>();
  readonly onDidChangeTreeData = this.changed.event;
  private readonly reports = new Map<string, { version: number; report: Promise<KernelReport | undefined> }>();

  constructor(private readonly server: Server) {}

  /** Refreshes the kernels. Unchanged documents are not requested again unless `all` is set. */
  refresh(all: boolean): void {
    const open = new Set(vscode.workspace.textDocuments.map(({ uri }) => uri.toString()));
    for (const key of this.reports.keys()) {
      if (all || !open.has(key)) {
        this.reports.delete(key);
      }
    }
    this.changed.fire(undefined);
  }

  /** ptxas has finished with a document: its report is requested again. */
  forget(uri: string): void {
    this.reports.delete(uri);
  }

  /** Requested once per version of a document. */
  report(document: vscode.TextDocument): Promise<KernelReport | undefined> {
    const key = document.uri.toString();
    const known = this.reports.get(key);
    if (known?.version === document.version) {
      return known.report;
    }
    const report = this.server.request<KernelReport>(KERNEL_REPORT, { textDocument: { uri: key } });
    this.reports.set(key, { version: document.version, report });
    return report;
  }

  /** The latest report on a document; it may predate the last edit. */
  latest(document: vscode.TextDocument): Promise<KernelReport | undefined> {
    return this.reports.get(document.uri.toString())?.report ?? this.report(document);
  }

  getTreeItem(item: Item): vscode.TreeItem {
    return item;
  }

  async getChildren(item?: Item): Promise<Item[]> {
    if (item instanceof KernelItem) {
      return item.details();
    }
    if (item instanceof FileItem) {
      const seen = new Map<string, number>();
      return item.report.kernels.map((kernel) => {
        const earlier = seen.get(kernel.name) ?? 0;
        seen.set(kernel.name, earlier + 1);
        return new KernelItem(item.uri, kernel, earlier);
      });
    }
    if (item || this.server.state !== 'running') {
      return [];
    }
    const open = vscode.workspace.textDocuments.filter((document) => document.languageId === 'ptx');
    const files = await Promise.all(
      open.map(async (document) => {
        const report = await this.report(document);
        return report && new FileItem(document.uri, report);
      }),
    );
    return files.filter((file) => file !== undefined);
  }

  dispose(): void {
    this.changed.dispose();
  }
}
