/** The nodes of the view *PTX Containers*. */

import * as vscode from 'vscode';

import type { Container, Member, MemberKernels } from '../protocol.js';
import { toRange } from '../text.js';
import { counted, fileSize, short } from '../wording.js';
import { fileName } from './members.js';

export class ContainerItem extends vscode.TreeItem {
  override readonly contextValue = 'container';

  constructor(
    readonly uri: vscode.Uri,
    /** What is in it, or why that is unknown. */
    readonly found: Container | Error,
  ) {
    super(fileName(uri), vscode.TreeItemCollapsibleState.Expanded);
    this.id = uri.toString();
    this.resourceUri = uri;
    this.iconPath = new vscode.ThemeIcon('package');
    this.description = found instanceof Error ? '' : contentsInShort(found);
    this.tooltip = [uri.fsPath, ...(found instanceof Error ? [found.message] : [contentsInShort(found), ...found.notes])].join('\n');
  }
}

export class TargetItem extends vscode.TreeItem {
  override readonly contextValue = 'target';

  constructor(
    container: vscode.Uri,
    target: string,
    readonly members: readonly Member[],
  ) {
    super(target, vscode.TreeItemCollapsibleState.Expanded);
    this.id = `${container.toString()}#${target}`;
    this.description = counted(members.length, 'member');
    this.iconPath = new vscode.ThemeIcon('circuit-board');
  }
}

export class MemberItem extends vscode.TreeItem {
  override readonly contextValue = 'member';
  readonly uri: vscode.Uri;

  constructor(readonly member: Member) {
    super(member.name, vscode.TreeItemCollapsibleState.Collapsed);
    const { part, source, version, size, target, compression } = member;
    this.uri = vscode.Uri.parse(member.uri);
    this.id = this.uri.toString();
    this.description = [part ?? source, `PTX ${version}`, fileSize(size)].filter(Boolean).join(' · ');
    const rows: [string, string | null][] = [
      ['Target', target],
      ['PTX version', version],
      ['Size', fileSize(size)],
      ['Compression', compression],
      ['Source', source],
      ['In', part],
    ];
    this.tooltip = [fileName(this.uri), ...rows.flatMap(([name, value]) => (value ? [`${name}: ${value}`] : []))].join('\n');
    this.iconPath = new vscode.ThemeIcon('file-code');
    this.command = { command: 'vscode.open', title: 'Open', arguments: [this.uri] };
  }
}

export class MemberKernelItem extends vscode.TreeItem {
  constructor(uri: vscode.Uri, { name, displayName, selectionRange }: MemberKernels['kernels'][number], number: number) {
    super(short(displayName));
    this.id = `${uri.toString()}#${number}`;
    this.tooltip = displayName === name ? name : `${displayName}\n${name}`;
    this.iconPath = new vscode.ThemeIcon('symbol-function');
    this.command = { command: 'ptx.kernel.reveal', title: 'Go to the Kernel', arguments: [uri, toRange(selectionRange)] };
  }
}

/** A line that says why there is nothing else, or what else there is. */
export class NoteItem extends vscode.TreeItem {
  constructor(parent: string, text: string, icon: 'info' | 'warning' | 'error') {
    super(text);
    this.id = `${parent}#${text}`;
    this.tooltip = text;
    const color = icon === 'info' ? undefined : new vscode.ThemeColor(`list.${icon}Foreground`);
    this.iconPath = new vscode.ThemeIcon(icon, color);
  }
}

/** Targets in the order of their numbers, each with its members. */
export function byTarget(members: readonly Member[]): [string, Member[]][] {
  const found = new Map<string, Member[]>();
  for (const member of members) {
    found.set(member.target, [...(found.get(member.target) ?? []), member]);
  }
  return [...found].sort(([one], [other]) => one.localeCompare(other, undefined, { numeric: true }));
}

/** `ELF file · 12 members`. */
export function contentsInShort({ format, members }: Container): string {
  return `${format} · ${members.length ? counted(members.length, 'member') : 'no PTX'}`;
}

/** `machine code for sm_80, sm_90 (2)`, for each kind; empty if there is only PTX. */
export function besides({ others }: Container): string[] {
  const kinds = new Map<string, string[]>();
  for (const { kind, target, count } of others) {
    kinds.set(kind, [...(kinds.get(kind) ?? []), count > 1 ? `${target} (${count})` : target]);
  }
  return [...kinds].map(([kind, targets]) => `${kind} for ${targets.join(', ')}`);
}
