/** The panels: occupancy, control flow, machine code, and the result of a run. */

import * as vscode from 'vscode';

import type { Kernels } from './kernels.js';
import type { FromPage, What } from './messages.js';
import { Panel } from './panel.js';
import {
  CONTROL_FLOW,
  MACHINE_CODE,
  OCCUPANCY_CURVE,
  PREVIEW,
  type Asked,
  type ControlFlow,
  type MachineCode,
  type MachineCodeView,
  type OccupancyCurve,
  type Preview,
} from './protocol.js';
import type { Server } from './server.js';
import { reveal, toRange } from './text.js';
import { measuredRegisters, short } from './wording.js';

/** A kernel of a document, by name or by position. */
export interface Subject {
  uri: vscode.Uri;
  kernel?: string;
  position?: vscode.Position;
}

/** A panel about one kernel, recomputed when its document changes. */
abstract class KernelPanel<Answer extends { kernel: string; displayName?: string }> extends Panel {
  protected subject: Subject | undefined;
  protected what: What = {};
  private request = 0;

  constructor(
    extension: vscode.Uri,
    page: string,
    title: string,
    private readonly server: Server,
    private readonly method: string,
  ) {
    super(extension, page, title);
  }

  /** Shows the panel for a kernel, or reports that there is none. */
  async open(subject: Subject): Promise<void> {
    this.subject = subject;
    this.what = this.initially(subject);
    this.front();
    await this.update();
  }

  /** Refreshes the panel if it is visible and shows one of these documents. */
  async update(changed?: ReadonlySet<string>): Promise<void> {
    const { subject, what } = this;
    if (!subject || !this.isVisible || changed?.has(subject.uri.toString()) === false) {
      return;
    }
    const number = ++this.request;
    let answer: Answer | null | undefined;
    let shown: object = {};
    let failure = '';
    try {
      answer = await this.server.ask<Answer>(this.method, asked(subject, what));
      shown = answer ? await this.complete(answer, subject.uri) : {};
    } catch (error) {
      failure = error instanceof Error ? error.message : String(error);
    }
    if (number !== this.request) {
      return; // superseded by a later request
    }
    if (answer) {
      this.subject = { uri: subject.uri, kernel: answer.kernel };
      const title = short(answer.displayName ?? answer.kernel);
      this.show(title, shown, { uri: subject.uri.toString(), kernel: answer.kernel, what });
    } else {
      this.note(failure || nothing(subject));
    }
  }

  /** The answer with what the page needs besides. */
  protected complete(answer: Answer, _: vscode.Uri): Promise<object> {
    return Promise.resolve(answer);
  }

  /** What is asked for when the panel is opened. */
  protected initially(_: Subject): What {
    return {};
  }

  protected override seen(): void {
    void this.update();
  }

  protected override async restore(state: unknown): Promise<void> {
    const known = state as { uri?: unknown; kernel?: unknown; what?: What } | undefined;
    if (typeof known?.uri !== 'string' || typeof known.kernel !== 'string') {
      this.note('The kernel shown here no longer exists.');
      return;
    }
    this.subject = { uri: vscode.Uri.parse(known.uri), kernel: known.kernel };
    this.what = known.what ?? {};
    await this.update();
  }

  protected override received(message: FromPage): void {
    const uri = this.subject?.uri;
    if (!uri) {
      return;
    }
    switch (message.kind) {
      case 'reveal':
        void reveal(uri, toRange(message.range));
        break;
      case 'revealLine':
        void reveal(uri, new vscode.Range(message.line, 0, message.line, 0));
        break;
      case 'ask':
        this.what = message.what;
        void this.update();
        break;
    }
  }
}

function asked({ uri, kernel, position }: Subject, what: What): Asked {
  const textDocument = { uri: uri.toString() };
  if (kernel !== undefined) {
    return { textDocument, kernel, ...what };
  }
  return position
    ? { textDocument, position: { line: position.line, character: position.character }, ...what }
    : { textDocument, ...what };
}

/** Explains why there is no answer. */
function nothing({ uri, kernel }: Subject): string {
  const file = uri.path.split('/').at(-1) ?? uri.path;
  if (!vscode.workspace.textDocuments.some((document) => document.uri.toString() === uri.toString())) {
    return `${file} is closed. Open it to see current metrics.`;
  }
  return kernel === undefined ? `There is no kernel at the cursor in ${file}.` : `${file} no longer contains a kernel ${kernel}.`;
}

export class OccupancyPanel extends KernelPanel<OccupancyCurve> {
  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'occupancy', 'Occupancy', server, OCCUPANCY_CURVE);
  }
}

export class ControlFlowPanel extends KernelPanel<ControlFlow> {
  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'controlflow', 'Control flow', server, CONTROL_FLOW);
  }

  /** A large graph is collapsed, except around the cursor. */
  protected override initially({ uri, position }: Subject): What {
    const line = (position ?? cursor(uri))?.line;
    return { collapse: 'auto', toggled: [], ...(line !== undefined && { line }) };
  }

  override async update(changed?: ReadonlySet<string>): Promise<void> {
    await super.update(changed);
    this.follow();
  }

  protected override loaded(): void {
    this.follow();
  }

  /** Shows the block at the cursor. */
  follow(): void {
    if (this.subject && this.isVisible) {
      this.tell({ kind: 'cursor', line: cursor(this.subject.uri)?.line ?? null });
    }
  }

  protected override received(message: FromPage): void {
    if (message.kind === 'find') {
      this.tell({ kind: 'found', query: message.query, lines: this.linesWith(message.query.toLowerCase()) });
    } else {
      super.received(message);
    }
  }

  private linesWith(query: string): number[] {
    const uri = this.subject?.uri.toString();
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri);
    const lines = document && query ? document.getText().split('\n') : [];
    return lines.flatMap((line, number) => (line.toLowerCase().includes(query) ? [number] : []));
  }
}

/** The part of the window's width that the text keeps beside the three columns. */
const TEXT_SHARE = 0.35;

/** Source, PTX and machine code, side by side. */
export class MachineCodePanel extends KernelPanel<MachineCode> {
  private sources: (string | null)[] = [];

  constructor(extension: vscode.Uri, server: Server) {
    super(extension, 'machinecode', 'Machine code', server, MACHINE_CODE);
  }

  /** Gives three columns more room than the text beside them, if there is nothing else beside it yet. */
  override async open(subject: Subject): Promise<void> {
    const direction = vscode.workspace.getConfiguration('workbench.editor').get('openSideBySideDirection');
    if (vscode.window.tabGroups.all.length === 1 && direction !== 'down') {
      const groups = [{ size: TEXT_SHARE }, { size: 1 - TEXT_SHARE }];
      await vscode.commands.executeCommand('vscode.setEditorLayout', { orientation: 0, groups });
    }
    await super.open(subject);
  }

  protected override async complete(answer: MachineCode, uri: vscode.Uri): Promise<MachineCodeView> {
    const document = await vscode.workspace.openTextDocument(uri);
    this.sources = answer.sources.map((source) => source.uri && vscode.Uri.parse(source.uri).toString());
    const first = answer.range.start.line;
    return {
      ...answer,
      first,
      ptx: document.getText(toRange(answer.range)).split(/\r?\n/),
      texts: await Promise.all(answer.sources.map((source) => linesOf(source.uri))),
      figures: answer.measured ? measuredRegisters(answer.measured) : '',
    };
  }

  /** Selects what belongs to the line of the cursor, in the PTX or in a source. */
  follow({ document, selection }: vscode.TextEditor): void {
    if (!this.subject || !this.isVisible) {
      return;
    }
    const uri = document.uri.toString();
    const source = this.sources.indexOf(uri);
    if (uri === this.subject.uri.toString() || source >= 0) {
      this.tell({ kind: 'place', source: source >= 0 ? source : null, line: selection.active.line });
    }
  }

  protected override received(message: FromPage): void {
    if (message.kind === 'revealSource') {
      const uri = this.sources[message.source];
      if (uri) {
        void reveal(vscode.Uri.parse(uri), new vscode.Range(message.line, 0, message.line, 0));
      }
    } else {
      super.received(message);
    }
  }
}

/** The lines of a source as in the editor, else as on disk; null if it cannot be read. */
async function linesOf(uri: string | null): Promise<string[] | null> {
  if (!uri) {
    return null;
  }
  const wanted = vscode.Uri.parse(uri);
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === wanted.toString());
  if (document) {
    return document.getText().split(/\r?\n/);
  }
  try {
    if ((await vscode.workspace.fs.stat(wanted)).size > MOST_BYTES) {
      return null;
    }
    return new TextDecoder().decode(await vscode.workspace.fs.readFile(wanted)).split(/\r?\n/);
  } catch {
    return null;
  }
}
const MOST_BYTES = 4 << 20;

/** Where the cursor is in a document that is visible. */
function cursor(uri: vscode.Uri): vscode.Position | undefined {
  const editors = [vscode.window.activeTextEditor, ...vscode.window.visibleTextEditors];
  return editors.find((editor) => editor?.document.uri.toString() === uri.toString())?.selection.active;
}

export class PreviewPanel extends KernelPanel<Preview> {
  constructor(extension: vscode.Uri, server: Server, private readonly kernels: Kernels) {
    super(extension, 'preview', 'Run', server, PREVIEW);
  }

  protected override received(message: FromPage): void {
    if (message.kind === 'insert') {
      void this.insert(message.text);
    } else {
      super.received(message);
    }
  }

  /** Inserts the launch comment above the kernel. */
  private async insert(comment: string): Promise<void> {
    const { uri, kernel } = this.subject ?? {};
    const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri?.toString());
    const report = document && (await this.kernels.report(document));
    const found = report?.kernels.find(({ name }) => name === kernel);
    if (document && found) {
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, new vscode.Position(found.range.start.line, 0), `${comment}\n`);
      if (!(await vscode.workspace.applyEdit(edit))) {
        void vscode.window.showWarningMessage(`${document.uri.path.split('/').at(-1) ?? ''} is read-only.`);
      }
    }
  }
}
