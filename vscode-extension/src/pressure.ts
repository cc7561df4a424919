/** A heat map of register pressure, in the gutter and in the overview ruler. */

import * as vscode from 'vscode';

import { PRESSURE_PROFILE, type PressureProfile } from './protocol.js';
import type { Kernels } from './kernels.js';
import type { Server } from './server.js';
import { reveal } from './text.js';

/** From cool to hot; the last marks the peak. */
const LEVELS = ['ptx.pressure1', 'ptx.pressure2', 'ptx.pressure3', 'ptx.pressure4', 'ptx.pressure5'] as const;

export class Pressure implements vscode.Disposable {
  private readonly levels = LEVELS.map((colour, level) => decoration(colour, level));
  private known = new WeakMap<vscode.TextDocument, { version: number; profiles: Promise<PressureProfile[]> }>();
  private readonly peak = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: new vscode.ThemeColor('ptx.pressurePeak'),
    overviewRulerColor: new vscode.ThemeColor('ptx.pressure5'),
    overviewRulerLane: vscode.OverviewRulerLane.Full,
  });

  constructor(
    private readonly server: Server,
    private readonly kernels: Kernels,
  ) {}

  get enabled(): boolean {
    return vscode.workspace.getConfiguration('ptx').get('pressure.enabled', false);
  }

  async toggle(): Promise<void> {
    await vscode.workspace
      .getConfiguration('ptx')
      .update('pressure.enabled', !this.enabled, vscode.ConfigurationTarget.Global);
  }

  /** Colours the visible editors, or clears them; `all` also requests unchanged documents again. */
  async showAll(all: boolean): Promise<void> {
    if (all) {
      this.known = new WeakMap();
    }
    await Promise.all(vscode.window.visibleTextEditors.map((editor) => this.show(editor)));
  }

  private async show(editor: vscode.TextEditor): Promise<void> {
    const { document } = editor;
    if (document.languageId !== 'ptx') {
      return;
    }
    const version = document.version;
    const profiles = this.enabled ? await this.profiles(document) : [];
    if (document.version !== version) {
      return; // shown again once the edit has been analysed
    }
    const lines: vscode.DecorationOptions[][] = LEVELS.map(() => []);
    const peaks: vscode.DecorationOptions[] = [];
    for (const { lines: live, peak } of profiles) {
      const most = Math.max(1, peak?.live ?? 1);
      for (const { first, last, count } of runs(live)) {
        const level = Math.min(LEVELS.length - 1, Math.floor((count / most) * LEVELS.length));
        lines[level]?.push({
          range: new vscode.Range(first, 0, last, 0),
          hoverMessage: `${count} live registers; the maximum is ${most}`,
        });
      }
      if (peak) {
        peaks.push({ range: new vscode.Range(peak.line, 0, peak.line, 0), hoverMessage: peakText(peak) });
      }
    }
    this.levels.forEach((level, index) => editor.setDecorations(level, lines[index] ?? []));
    editor.setDecorations(this.peak, peaks);
  }

  /** Moves the cursor to the instruction where its kernel has the most live registers. */
  async goToPeak(editor: vscode.TextEditor): Promise<void> {
    const { line, character } = editor.selection.active;
    const profile = await this.server.request<PressureProfile>(PRESSURE_PROFILE, {
      textDocument: { uri: editor.document.uri.toString() },
      position: { line, character },
    });
    if (!profile?.peak) {
      void vscode.window.showInformationMessage('There is no kernel at the cursor whose registers can be counted.');
      return;
    }
    await reveal(editor.document.uri, new vscode.Range(profile.peak.line, 0, profile.peak.line, 0));
    void vscode.window.setStatusBarMessage(`${profile.kernel}: ${peakText(profile.peak)}`, 10_000);
  }

  dispose(): void {
    for (const one of [...this.levels, this.peak]) {
      one.dispose();
    }
  }

  /** The profile of each kernel, requested once per version of a document. */
  private profiles(document: vscode.TextDocument): Promise<PressureProfile[]> {
    const known = this.known.get(document);
    if (known?.version === document.version) {
      return known.profiles;
    }
    const profiles = this.ask(document);
    this.known.set(document, { version: document.version, profiles });
    return profiles;
  }

  private async ask(document: vscode.TextDocument): Promise<PressureProfile[]> {
    const report = await this.kernels.report(document);
    const found = await Promise.all(
      (report?.kernels ?? []).map(({ name }) =>
        this.server.request<PressureProfile>(PRESSURE_PROFILE, {
          textDocument: { uri: document.uri.toString() },
          kernel: name,
        }),
      ),
    );
    return found.filter((profile) => profile !== undefined);
  }
}

/** Merges adjacent lines with the same count: fewer decorations make large files faster to draw. */
function runs(lines: PressureProfile['lines']): { first: number; last: number; count: number }[] {
  const found: { first: number; last: number; count: number }[] = [];
  for (const [line, count] of lines) {
    const before = found.at(-1);
    if (before?.count === count && before.last === line - 1) {
      before.last = line;
    } else {
      found.push({ first: line, last: line, count });
    }
  }
  return found;
}

function peakText({ live, registers }: NonNullable<PressureProfile['peak']>): string {
  const names = registers.map(({ name }) => name);
  const shown = names.slice(0, 24).join(' ') + (names.length > 24 ? ` and ${names.length - 24} more` : '');
  return `peak: ${live} live registers: ${shown}`;
}

function decoration(colour: string, level: number): vscode.TextEditorDecorationType {
  const width = 2 + level;
  return vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    borderColor: new vscode.ThemeColor(colour),
    borderStyle: 'solid',
    borderWidth: `0 0 0 ${width}px`,
    overviewRulerColor: new vscode.ThemeColor(colour),
    overviewRulerLane: vscode.OverviewRulerLane.Left,
  });
}
