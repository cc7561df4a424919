/** A panel beside the editor: a page of our own, with no access to the network, that talks by messages. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

/** What a page tells. */
export type Told =
  | { kind: 'ready' }
  | { kind: 'reveal'; range: import('vscode-languageclient').Range }
  | { kind: 'revealLine'; line: number }
  | { kind: 'ask'; what: Record<string, number | string> };

export abstract class Panel implements vscode.Disposable {
  private view: vscode.WebviewPanel | undefined;
  private ready = false;
  private latest: object | undefined;

  protected constructor(
    private readonly extension: vscode.Uri,
    /** Name of the page's script and style in media/. */
    private readonly page: string,
    private readonly title: string,
  ) {}

  get isOpen(): boolean {
    return this.view !== undefined;
  }

  /** Shows `data`, in the panel that is there or a new one. */
  protected show(title: string, data: object, focus: boolean): void {
    this.latest = data;
    if (!this.view) {
      this.view = this.create();
    } else if (focus) {
      this.view.reveal(undefined, true);
    }
    this.view.title = `${this.title}: ${title}`;
    this.send();
  }

  protected abstract told(message: Told): void;

  dispose(): void {
    this.view?.dispose();
  }

  private create(): vscode.WebviewPanel {
    const media = vscode.Uri.joinPath(this.extension, 'dist', 'media');
    const view = vscode.window.createWebviewPanel(
      `ptx.${this.page}`,
      this.title,
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, localResourceRoots: [media], retainContextWhenHidden: true },
    );
    view.webview.onDidReceiveMessage((message: Told) => {
      if (message.kind === 'ready') {
        this.ready = true;
        this.send();
      } else {
        this.told(message);
      }
    });
    view.onDidDispose(() => {
      this.view = undefined;
      this.ready = false;
      this.latest = undefined;
    });
    view.webview.html = this.html(view.webview, media);
    return view;
  }

  private send(): void {
    if (this.ready && this.latest) {
      void this.view?.webview.postMessage(this.latest);
    }
  }

  private html(webview: vscode.Webview, media: vscode.Uri): string {
    const nonce = randomBytes(16).toString('base64');
    const script = webview.asWebviewUri(vscode.Uri.joinPath(media, `${this.page}.js`)).toString();
    const style = webview.asWebviewUri(vscode.Uri.joinPath(media, 'panel.css')).toString();
    const policy = `default-src 'none'; script-src 'nonce-${nonce}'; style-src ${webview.cspSource} 'nonce-${nonce}'`;
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${this.title}</title>
<link rel="stylesheet" href="${style}" nonce="${nonce}">
</head>
<body>
<main id="page"></main>
<script nonce="${nonce}" src="${script}"></script>
</body>
</html>`;
  }
}
