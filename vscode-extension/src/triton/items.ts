/** The nodes of the view *Triton Cache*. */

import * as vscode from 'vscode';

import type { CachedKernel, Kernel, KernelReport } from '../protocol.js';
import { bytes, counted, findings, percent, ptxasState, registers, registersInShort, short } from '../wording.js';

/** All versions of a kernel, the newest first. */
export class GroupItem extends vscode.TreeItem {
  override readonly contextValue = 'group';
  /** The versions that are shown; the others follow on demand. */
  shown = 100;

  constructor(
    name: string,
    readonly kernels: readonly CachedKernel[],
  ) {
    super(short(name), vscode.TreeItemCollapsibleState.Collapsed);
    this.id = name;
    const targets = [...new Set(kernels.map(({ target }) => target ?? '?'))];
    this.description = `${counted(kernels.length, 'version')} · ${targets.join(', ')}`;
    this.tooltip = name;
    this.iconPath = new vscode.ThemeIcon('symbol-function');
  }
}

/** One version of a kernel. */
export class VersionItem extends vscode.TreeItem {
  override readonly contextValue = 'version';
  readonly uri: vscode.Uri;

  constructor(readonly cached: CachedKernel) {
    const { name, target, files } = cached;
    const stages = files.length ? vscode.TreeItemCollapsibleState.Collapsed : vscode.TreeItemCollapsibleState.None;
    super(target ?? 'unknown target', stages);
    this.uri = vscode.Uri.parse(cached.uri);
    this.id = cached.uri;
    this.description = options(cached);
    this.iconPath = new vscode.ThemeIcon('chip');
    this.tooltip = tooltip(cached, ['Figures: not yet computed']);
    this.command = { command: 'ptx.triton.reveal', title: 'Open the PTX', arguments: [this.uri, name] };
  }

  /** Shows what is known about the kernel, or why nothing is. */
  show(report: KernelReport | Error | undefined): void {
    if (!report) {
      return;
    }
    if (report instanceof Error) {
      this.description = report.message;
      this.iconPath = new vscode.ThemeIcon('error', new vscode.ThemeColor('list.errorForeground'));
      this.tooltip = tooltip(this.cached, [report.message]);
      return;
    }
    const kernel = report.kernels.find(({ name }) => name === this.cached.name) ?? report.kernels[0];
    if (!kernel) {
      this.description = 'no kernel';
      return;
    }
    const parts = [registersInShort(kernel), occupancyInShort(kernel), ...findingsInShort(kernel), options(this.cached)];
    this.description = parts.filter(Boolean).join(' · ');
    const worst = kernel.findings.error ? 'error' : kernel.findings.warning ? 'warning' : undefined;
    this.iconPath = worst
      ? new vscode.ThemeIcon(worst, new vscode.ThemeColor(`list.${worst}Foreground`))
      : new vscode.ThemeIcon('chip');
    this.tooltip = tooltip(this.cached, figures(kernel, report));
  }
}

/** An earlier stage of compilation. */
export class StageItem extends vscode.TreeItem {
  override readonly contextValue = 'stage';

  constructor(readonly uri: vscode.Uri) {
    super(uri, vscode.TreeItemCollapsibleState.None);
    this.id = uri.toString();
    this.description = STAGES[uri.path.split('.').at(-1) ?? ''];
    this.iconPath = vscode.ThemeIcon.File;
    this.command = { command: 'vscode.open', title: 'Open', arguments: [uri] };
  }
}
const STAGES: Record<string, string> = { ttir: 'Triton IR', ttgir: 'Triton GPU IR', llir: 'LLVM IR' };

/** Shows more versions of a kernel. */
export class MoreItem extends vscode.TreeItem {
  constructor(group: GroupItem) {
    super(`${counted(group.kernels.length - group.shown, 'older version')}`);
    this.id = `${group.id ?? ''}#more`;
    this.iconPath = new vscode.ThemeIcon('ellipsis');
    this.tooltip = 'Show more';
    this.command = { command: 'ptx.tritonCache.more', title: 'Show More', arguments: [group] };
  }
}

/** The versions of each kernel; the kernel that was compiled last comes first. */
export function grouped(kernels: readonly CachedKernel[]): GroupItem[] {
  const found = new Map<string, CachedKernel[]>();
  for (const kernel of kernels) {
    const same = found.get(kernel.name);
    if (same) {
      same.push(kernel);
    } else {
      found.set(kernel.name, [kernel]);
    }
  }
  return [...found].map(([name, versions]) => new GroupItem(name, versions));
}

/** `8 warps, 3 stages`: what distinguishes versions, as far as Triton says it. */
export function options({ warps, stages }: CachedKernel): string {
  return [warps === null ? '' : counted(warps, 'warp'), stages === null ? '' : counted(stages, 'stage')].filter(Boolean).join(', ');
}

function occupancyInShort(kernel: Kernel): string {
  const bound = kernel.occupancy.percent !== null && kernel.dynamicShared?.bytes === null ? 'at most ' : '';
  return `${bound}${percent(kernel.occupancy.percent)}`;
}

function findingsInShort(kernel: Kernel): string[] {
  const counts = { ...kernel.findings, hint: 0 };
  return counts.error || counts.warning || counts.info ? [findings({ ...kernel, findings: counts })] : [];
}

function figures(kernel: Kernel, report: KernelReport): string[] {
  return [
    `Registers: ${registers(kernel).replace(' registers', '')}`,
    `Occupancy: ${occupancyInShort(kernel)}${kernel.occupancy.limiters?.length ? `, limited by ${kernel.occupancy.limiters.join(', ')}` : ''}`,
    `Findings: ${findings(kernel)}`,
    ...(kernel.measured ? [] : [`(${ptxasState(report.ptxas)})`]),
  ];
}

function tooltip(cached: CachedKernel, more: string[]): string {
  const { name, target, warps, stages, clusterSize, sharedBytes, modified, uri } = cached;
  const known = (value: number | null): string => (value === null ? '?' : `${value}`);
  return [
    name,
    `Target: ${target ?? '?'}`,
    `num_warps: ${known(warps)}, num_stages: ${known(stages)}, num_ctas: ${known(clusterSize)}`,
    `Shared memory: ${bytes(sharedBytes)}`,
    ...more,
    `Compiled: ${new Date(modified).toLocaleString()}`,
    vscode.Uri.parse(uri).fsPath,
  ].join('\n');
}
