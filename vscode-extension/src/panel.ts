/** A panel beside the editor: a webview without network access that exchanges messages with the extension. */

import * as vscode from 'vscode';

import type { ToPage, FromPage } from './messages.js';
import { Page } from './page.js';

export abstract class Panel implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private view: vscode.WebviewPanel | undefined;
  private readonly page: Page;
  private readonly serializer: vscode.Disposable;

  protected constructor(
    extension: vscode.Uri,
    /** The name of the page's script in media/. */
    private readonly name: string,
    private readonly title: string,
  ) {
    this.page = new Page(extension, name, title, (message) => this.received(message), () => this.loaded());
    this.serializer = vscode.window.registerWebviewPanelSerializer(this.type, this);
  }

  get isVisible(): boolean {
    return this.view?.visible ?? false;
  }

  /** Shows `data`; `state` restores the panel when the window is reloaded. */
  protected show(title: string, data: object, state: object): void {
    this.page.show(data, state);
    if (this.view) {
      this.view.title = `${this.title}: ${title}`;
    }
  }

  /** Explains why there is no data, or why the data shown is outdated. */
  protected note(text: string): void {
    this.page.note(text);
  }

  /** Sends what need not be sent again when the page is loaded again. */
  protected tell(message: ToPage): void {
    this.page.tell(message);
  }

  /** Opens the panel or brings it to the front. */
  protected front(): void {
    if (this.view) {
      this.view.reveal(undefined, true);
    } else {
      const place = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
      const options = { retainContextWhenHidden: true };
      this.fill(vscode.window.createWebviewPanel(this.type, this.title, place, options));
    }
  }

  /** The page is loaded and has the latest data. */
  protected loaded(): void {
    // most panels show nothing else
  }

  protected abstract received(message: FromPage): void;
  /** The panel is visible again. */
  protected abstract seen(): void;
  /** The window was reloaded, and the panel had this state. */
  protected abstract restore(state: unknown): Promise<void>;

  async deserializeWebviewPanel(view: vscode.WebviewPanel, state: unknown): Promise<void> {
    this.fill(view);
    await this.restore(state);
  }

  dispose(): void {
    this.serializer.dispose();
    this.view?.dispose();
  }

  private get type(): string {
    return `ptx.${this.name}`;
  }

  private fill(view: vscode.WebviewPanel): void {
    this.view = view;
    this.page.fill(view.webview);
    view.onDidChangeViewState(() => {
      if (view.visible) {
        this.seen();
      }
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.page.empty();
    });
  }
}
