/** The trace of messages between editor and server, enabled by `ptx.trace.server`. */

import * as vscode from 'vscode';

/**
 * The client traces only what a log channel of level Trace would show, and a channel's level is set elsewhere than in
 * the settings. So this is a plain channel that takes its level from the setting.
 */
export class Trace implements vscode.LogOutputChannel {
  private readonly channel = vscode.window.createOutputChannel('PTX Language Server (trace)');
  private readonly levelChanged = new vscode.EventEmitter<vscode.LogLevel>();
  private readonly watch = vscode.workspace.onDidChangeConfiguration((change) => {
    if (change.affectsConfiguration('ptx.trace.server')) {
      this.levelChanged.fire(this.logLevel);
    }
  });
  readonly onDidChangeLogLevel = this.levelChanged.event;
  readonly name = this.channel.name;

  get logLevel(): vscode.LogLevel {
    const wanted = vscode.workspace.getConfiguration('ptx').get('trace.server', 'off');
    return wanted === 'off' ? vscode.LogLevel.Off : vscode.LogLevel.Trace;
  }

  trace = (message: string): void => this.appendLine(message);
  debug = this.trace;
  info = this.trace;
  warn = this.trace;
  error = (error: string | Error): void => this.appendLine(String(error));

  append(text: string): void {
    this.channel.append(text);
  }

  appendLine(text: string): void {
    this.channel.appendLine(`${new Date().toISOString()} ${text}`);
  }

  replace(text: string): void {
    this.channel.replace(text);
  }

  clear(): void {
    this.channel.clear();
  }

  show(): void {
    this.channel.show(true);
  }

  hide(): void {
    this.channel.hide();
  }

  dispose(): void {
    this.watch.dispose();
    this.levelChanged.dispose();
    this.channel.dispose();
  }
}
