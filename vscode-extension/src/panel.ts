/** A panel beside the editor: a webview without network access that exchanges messages with the extension. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import type { ToPage, FromPage } from './messages.js';

export abstract class Panel implements vscode.Disposable, vscode.WebviewPanelSerializer {
  private view: vscode.WebviewPanel | undefined;
  private ready = false;
  /** The data and the note to show once the page is ready. */
  private latest: ToPage[] = [];
  private readonly serializer: vscode.Disposable;

  protected constructor(
    private readonly extension: vscode.Uri,
    /** The name of the page's script in media/. */
    private readonly page: string,
    private readonly title: string,
  ) {
    this.serializer = vscode.window.registerWebviewPanelSerializer(this.type, this);
  }

  get isVisible(): boolean {
    return this.view?.visible ?? false;
  }

  /** Shows `data`; `state` restores the panel when the window is reloaded. */
  protected show(title: string, data: object, state: object): void {
    this.send([{ kind: 'data', data, state }]);
    if (this.view) {
      this.view.title = `${this.title}: ${title}`;
    }
  }

  /** Explains why there is no data, or why the data shown is outdated. */
  protected note(text: string): void {
    this.send([...this.latest.filter(({ kind }) => kind === 'data'), { kind: 'note', text }]);
  }

  /** Sends what need not be sent again when the page is loaded again. */
  protected tell(message: ToPage): void {
    if (this.ready) {
      void this.view?.webview.postMessage(message);
    }
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
    return `ptx.${this.page}`;
  }

  private fill(view: vscode.WebviewPanel): void {
    const media = vscode.Uri.joinPath(this.extension, 'dist', 'media');
    this.view = view;
    view.webview.options = { enableScripts: true, localResourceRoots: [media] };
    view.webview.onDidReceiveMessage((message: FromPage) => {
      if (message.kind === 'ready') {
        this.ready = true;
        this.send(this.latest);
        this.loaded();
      } else {
        this.received(message);
      }
    });
    view.onDidChangeViewState(() => {
      if (view.visible) {
        this.seen();
      }
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
      this.latest = [];
    });
    view.webview.html = this.html(view.webview, media);
  }

  private send(messages: ToPage[]): void {
    this.latest = messages;
    if (this.ready) {
      for (const message of messages) {
        void this.view?.webview.postMessage(message);
      }
    }
  }

  private html(webview: vscode.Webview, media: vscode.Uri): string {
    const nonce = randomBytes(16).toString('base64');
    const script = webview.asWebviewUri(vscode.Uri.joinPath(media, `${this.page}.js`)).toString();
    const style = webview.asWebviewUri(vscode.Uri.joinPath(media, 'panel.css')).toString();
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource}`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${this.title}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<div id="note" role="status"></div>
<main id="page"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
  }
}
