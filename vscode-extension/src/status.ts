/** The status bar: the kernel at the cursor, or the server's state. */

import * as vscode from 'vscode';

import type { Kernels } from './kernels.js';
import type { Server, State } from './server.js';
import { toRange } from './text.js';
import { dynamicShared, findings, occupancy, registers, registersInShort, short } from './wording.js';

const WORDS: Record<State, [text: string, tooltip: string, command: string]> = {
  starting: ['$(sync~spin) PTX', 'The PTX language server is starting', 'ptx.server.log'],
  running: ['$(check) PTX', 'The PTX language server is running', 'ptx.server.version'],
  absent: ['$(warning) PTX: not installed', 'Install the PTX language server', 'ptx.server.install'],
  failed: ['$(error) PTX: not running', 'Restart the PTX language server', 'ptx.server.restart'],
  untrusted: ['$(shield) PTX', 'Workspace not trusted: no language server', 'workbench.trust.manage'],
  stopped: ['$(circle-slash) PTX', 'The PTX language server is stopped', 'ptx.server.restart'],
};

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('ptx.status', vscode.StatusBarAlignment.Right, 100);
  private turn = 0;

  constructor(
    private readonly server: Server,
    private readonly kernels: Kernels,
  ) {
    this.item.name = 'PTX';
  }

  /** Updates the item for the cursor's position; `moved` means that nothing else changed, so no request is made. */
  async update(moved = false): Promise<void> {
    const turn = ++this.turn;
    const editor = vscode.window.activeTextEditor;
    if (editor?.document.languageId !== 'ptx') {
      this.item.hide();
      return;
    }
    const [text, tooltip, command] = WORDS[this.server.state];
    const kernel = this.server.state === 'running' ? await this.kernelAt(editor, moved) : undefined;
    if (turn !== this.turn) {
      return;
    }
    this.item.text = kernel ? `$(chip) ${short(kernel.displayName ?? kernel.name)}: ${kernel.measured ? registers(kernel) : registersInShort(kernel)}, ${occupancy(kernel)}` : text;
    this.item.tooltip = kernel ? `${kernel.displayName ?? kernel.name}\n${registers(kernel)}, dynamic shared memory: ${dynamicShared(kernel.dynamicShared)}, ${findings(kernel)}; click to show occupancy` : tooltip;
    this.item.command = kernel ? 'ptx.occupancy' : command;
    this.item.show();
  }

  dispose(): void {
    this.item.dispose();
  }

  private async kernelAt({ document, selection }: vscode.TextEditor, moved: boolean) {
    const report = await (moved ? this.kernels.latest(document) : this.kernels.report(document));
    return report?.kernels.find(({ range }) => toRange(range).contains(selection.active));
  }
}
