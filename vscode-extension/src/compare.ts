/** The panel that compares two states of kernels: two files, a file and its revision, or two kernels. */

import * as vscode from 'vscode';

import { log, revisionOf, type Revision } from './git.js';
import type { Kernels } from './kernels.js';
import type { FromPage } from './messages.js';
import { Panel } from './panel.js';
import { COMPARE, type Comparison } from './protocol.js';
import type { Server } from './server.js';

/** Milliseconds to wait for the findings that were not yet known. */
const AGAIN = 500;

/** The sides of a comparison. `kernel` and `oldKernel` limit it to these two. */
interface Sides {
  old: vscode.Uri;
  uri: vscode.Uri;
  oldName: string;
  kernel?: string;
  oldKernel?: string;
}

export class ComparePanel extends Panel {
  private sides: Sides | undefined;
  private request = 0;
  private later: NodeJS.Timeout | undefined;

  constructor(
    extension: vscode.Uri,
    private readonly server: Server,
    private readonly kernels: Kernels,
  ) {
    super(extension, 'compare', 'Comparison');
  }

  override dispose(): void {
    clearTimeout(this.later);
    super.dispose();
  }

  /** Compares the file of the editor with another one, or the two that are selected in the explorer. */
  async withFile(chosen?: vscode.Uri, selected?: vscode.Uri[]): Promise<void> {
    const [first, second] = selected?.length === 2 ? selected : [undefined, undefined];
    const uri = second ?? chosen ?? current();
    if (!uri) {
      return;
    }
    const filters = { PTX: ['ptx'], 'All Files': ['*'] };
    const old = first ?? (await vscode.window.showOpenDialog({ title: `Compare ${fileName(uri)} with`, filters }))?.[0];
    if (old) {
      await this.open({ old, uri, oldName: fileName(old) });
    }
  }

  /** Compares the file of the editor with an earlier commit. */
  async withRevision(): Promise<void> {
    const uri = current();
    if (!uri) {
      return;
    }
    let revisions: Revision[];
    try {
      revisions = await log(uri);
    } catch (error) {
      void vscode.window.showInformationMessage(`No revisions of ${fileName(uri)}: ${text(error)}`);
      return;
    }
    const items = revisions.map(({ hash, message, date }) => ({
      label: message.split('\n')[0] ?? '',
      description: [hash.slice(0, 8), date?.toLocaleString()].filter(Boolean).join(' '),
      hash,
    }));
    const found = await vscode.window.showQuickPick(items, {
      title: `Compare ${fileName(uri)} with the state of a commit`,
      matchOnDescription: true,
    });
    if (found) {
      const oldName = `${fileName(uri)} (${found.hash.slice(0, 8)})`;
      await this.open({ old: await revisionOf(uri, found.hash), uri, oldName });
    }
  }

  /** Compares two kernels of the file of the editor. */
  async twoKernels(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    const uri = current();
    const report = document && uri && (await this.kernels.report(document));
    if (!report) {
      return;
    }
    const items = report.kernels.map(({ name, displayName = name }) => ({
      name,
      label: displayName,
      description: displayName === name ? '' : name,
    }));
    if (items.length < 2) {
      void vscode.window.showInformationMessage(`${fileName(uri)} has no two kernels.`);
      return;
    }
    const old = await vscode.window.showQuickPick(items, { title: 'Compare which kernel?', matchOnDescription: true });
    const others = items.filter(({ name }) => name !== old?.name);
    const title = `Compare ${old?.label ?? ''} with`;
    const found = old && (await vscode.window.showQuickPick(others, { title, matchOnDescription: true }));
    if (found) {
      await this.open({ old: uri, uri, oldName: fileName(uri), kernel: found.name, oldKernel: old.name });
    }
  }

  /** Refreshes the panel if it is visible and shows one of these documents. */
  async update(changed?: ReadonlySet<string>): Promise<void> {
    const { sides } = this;
    const shown = sides && [sides.uri, sides.old].some((uri) => changed?.has(uri.toString()) !== false);
    if (!sides || !this.isVisible || !shown) {
      return;
    }
    clearTimeout(this.later);
    const number = ++this.request;
    try {
      await vscode.workspace.openTextDocument(sides.uri); // so that the server has it
      const old = { name: sides.oldName, text: (await vscode.workspace.openTextDocument(sides.old)).getText() };
      const { kernel, oldKernel } = sides;
      const asked = { textDocument: { uri: sides.uri.toString() }, old, kernel, oldKernel };
      const found = await this.server.ask<Comparison>(COMPARE, asked);
      if (number !== this.request) {
        return; // superseded by a later request
      }
      if (!found) {
        this.note(`${fileName(sides.uri)} is closed. Open it to compare it.`);
        return;
      }
      const state = { ...sides, old: sides.old.toString(), uri: sides.uri.toString() };
      this.show(fileName(sides.uri), { ...found, oldName: sides.oldName, newName: fileName(sides.uri) }, state);
      if (!found.complete) {
        this.later = setTimeout(() => void this.update(), AGAIN);
      }
    } catch (error) {
      if (number === this.request) {
        this.note(text(error));
      }
    }
  }

  protected override seen(): void {
    void this.update();
  }

  protected override async restore(state: unknown): Promise<void> {
    const known = state as Partial<Record<keyof Sides, string>> | undefined;
    if (typeof known?.old !== 'string' || typeof known.uri !== 'string') {
      this.note('The files compared here no longer exist.');
      return;
    }
    const { oldName = '', kernel, oldKernel } = known;
    this.sides = { old: vscode.Uri.parse(known.old), uri: vscode.Uri.parse(known.uri), oldName, kernel, oldKernel };
    await this.update();
  }

  protected override received(message: FromPage): void {
    if (message.kind === 'diff' && this.sides) {
      void this.diff(this.sides, message.oldLine, message.newLine);
    }
  }

  private async open(sides: Sides): Promise<void> {
    this.sides = sides;
    this.front();
    await this.update();
  }

  /** Shows both texts at a kernel. Two kernels of one file are selected one after the other. */
  private async diff(sides: Sides, oldLine: number, newLine: number): Promise<void> {
    const title = `${sides.oldName} \u2194 ${fileName(sides.uri)}`;
    const at = (line: number): vscode.Range => new vscode.Range(line - 1, 0, line - 1, 0);
    if (sides.old.toString() === sides.uri.toString()) {
      await vscode.window.showTextDocument(sides.uri, { viewColumn: vscode.ViewColumn.One, selection: at(oldLine) });
      await vscode.window.showTextDocument(sides.uri, { viewColumn: vscode.ViewColumn.Two, selection: at(newLine) });
      return;
    }
    const options: vscode.TextDocumentShowOptions = { viewColumn: vscode.ViewColumn.One, selection: at(newLine) };
    await vscode.commands.executeCommand('vscode.diff', sides.old, sides.uri, title, options);
  }
}

/** The PTX file of the editor. */
function current(): vscode.Uri | undefined {
  const document = vscode.window.activeTextEditor?.document;
  if (document?.languageId === 'ptx') {
    return document.uri;
  }
  void vscode.window.showInformationMessage('Open a PTX file first.');
  return undefined;
}

function fileName(uri: vscode.Uri): string {
  return uri.path.split('/').at(-1) ?? uri.path;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
