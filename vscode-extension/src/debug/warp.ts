/** The view *Warp*: expressions in all lanes of the warp in focus, while a debugger has stopped its kernel. */

import * as vscode from 'vscode';

import type { FromPage } from '../messages.js';
import { Page } from '../page.js';
import { Changes, type WarpAnswer } from './changes.js';

const VIEW = 'ptx.warp';
/** Where the watched expressions and the notation are kept, for each workspace. */
const WATCHED = 'ptx.warp.watched';
const HEX = 'ptx.warp.hex';
const HINT = 'No kernel is being debugged.';
/** Requests after which the kernel runs. */
const MOVES = new Set(['continue', 'next', 'stepIn', 'stepOut', 'stepBack', 'reverseContinue', 'restart', 'configurationDone']);
/** Requests that change what is shown. */
const EDITS = new Set(['setVariable', 'setExpression', 'writeMemory']);

interface Message {
  type: string;
  event?: string;
  command?: string;
  body?: { reason?: string };
}

export class WarpView implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private readonly page: Page;
  private readonly subscriptions: vscode.Disposable[];
  private readonly changes = new Changes();
  private request = 0;
  private running = false;

  constructor(
    extension: vscode.Uri,
    private readonly memory: vscode.Memento,
  ) {
    this.page = new Page(extension, 'warp', 'Warp', (message) => void this.received(message));
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider(VIEW, this, { webviewOptions: { retainContextWhenHidden: true } }),
      vscode.debug.registerDebugAdapterTrackerFactory('ptx', {
        createDebugAdapterTracker: (session) => ({
          onWillReceiveMessage: (message: Message) => this.sent(session, message),
          onDidSendMessage: (message: Message) => this.answered(session, message),
        }),
      }),
      vscode.debug.onDidChangeActiveDebugSession(() => void this.update()),
      vscode.debug.onDidTerminateDebugSession(() => void this.update()),
      vscode.debug.onDidChangeActiveStackItem((item) => item instanceof vscode.DebugStackFrame && void this.update(item)),
      vscode.commands.registerCommand('ptx.warp.show', () => vscode.commands.executeCommand(`${VIEW}.focus`)),
      vscode.commands.registerCommand('ptx.warp.watch', (chosen?: unknown) => this.watchChosen(chosen)),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.page.fill(view.webview);
    view.onDidChangeVisibility(() => void this.update());
    view.onDidDispose(() => {
      this.view = undefined;
      this.page.empty();
    });
    void this.update();
  }

  dispose(): void {
    this.subscriptions.forEach((one) => one.dispose());
  }

  private get session(): vscode.DebugSession | undefined {
    const session = vscode.debug.activeDebugSession;
    return session?.type === 'ptx' ? session : undefined;
  }

  private get watched(): string[] {
    return this.memory.get<string[]>(WATCHED, []);
  }

  private get isHex(): boolean {
    return this.memory.get<boolean>(HEX, false);
  }

  private sent(session: vscode.DebugSession, { type, command }: Message): void {
    if (type === 'request' && MOVES.has(command ?? '') && session === (this.session ?? session)) {
      this.running = true;
      void this.update();
    }
  }

  private answered(session: vscode.DebugSession, { type, event, command, body }: Message): void {
    if (session !== (this.session ?? session)) {
      return;
    }
    if (type === 'event' && event === 'stopped') {
      this.running = false;
      if (body?.reason !== 'focus') {
        this.changes.stopped();
      }
      void this.update();
    } else if (type === 'response' && EDITS.has(command ?? '')) {
      void this.update();
    }
  }

  /** Shows the warp of a frame, or of the thread in focus. */
  private async update(frame?: vscode.DebugStackFrame): Promise<void> {
    const { session } = this;
    const number = ++this.request;
    if (!this.view?.visible && session) {
      return; // shown when it is visible
    }
    if (!session) {
      this.changes.forget();
      this.page.show({ hint: HINT }, {});
      return;
    }
    if (this.running) {
      this.page.note('The kernel is running.');
      return;
    }
    const { watched, isHex } = this;
    let answer: WarpAnswer;
    try {
      answer = (await session.customRequest('ptx/warpWatch', {
        expressions: [...watched, ...this.changes.earlier(watched)],
        ofInstruction: true,
        format: { hex: isHex },
        ...(frame?.session === session && { frameId: frame.frameId }),
      })) as WarpAnswer;
    } catch (error) {
      if (number === this.request) {
        this.page.note(error instanceof Error ? error.message : String(error));
      }
      return;
    }
    if (number === this.request && !this.running) {
      this.page.show({ ...answer, rows: this.changes.marked(answer, watched, isHex), isHex }, {});
    }
  }

  private async received(message: FromPage): Promise<void> {
    switch (message.kind) {
      case 'focus':
        await this.focus(message.block, message.thread);
        break;
      case 'watch':
        await this.watch(message.expression);
        break;
      case 'unwatch':
        await this.memory.update(WATCHED, this.watched.filter((one) => one !== message.expression));
        await this.update();
        break;
      case 'hex':
        await this.memory.update(HEX, message.on);
        await this.update();
        break;
      case 'debug':
        await vscode.commands.executeCommand('ptx.debug');
        break;
    }
  }

  /** Puts a thread in focus; the adapter announces it, and the editor shows it. */
  private async focus(block: number[], thread: number[]): Promise<void> {
    try {
      await this.session?.customRequest('ptx/focus', { block, thread, announce: true });
    } catch (error) {
      void vscode.window.showWarningMessage(error instanceof Error ? error.message : String(error));
    }
  }

  private async watch(given: string): Promise<void> {
    const expression = given.trim();
    if (expression && !this.watched.includes(expression)) {
      await this.memory.update(WATCHED, [...this.watched, expression]);
    }
    await this.update();
  }

  /** Watches a variable of the debugger's views, the selection, or the register at the cursor. */
  private async watchChosen(chosen: unknown): Promise<void> {
    const variable = (chosen as { variable?: { name?: string } } | undefined)?.variable?.name;
    const editor = vscode.window.activeTextEditor;
    let name = variable;
    if (!name && editor) {
      const word = editor.selection.isEmpty
        ? editor.document.getWordRangeAtPosition(editor.selection.active, /[%$\w]+(?:\.[xyzw]\b)?/)
        : editor.selection;
      name = word && editor.document.getText(word);
    }
    if (name) {
      await this.watch(name);
      await vscode.commands.executeCommand('ptx.warp.show');
    }
  }
}
