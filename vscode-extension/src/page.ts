/** The page of a webview without network access: it exchanges messages with the extension. */

import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';

import type { ToPage, FromPage } from './messages.js';

export class Page {
  private webview: vscode.Webview | undefined;
  private ready = false;
  /** The data and the note to show once the page is ready. */
  private latest: ToPage[] = [];

  constructor(
    private readonly extension: vscode.Uri,
    /** The name of the page's script in media/. */
    private readonly name: string,
    private readonly title: string,
    private readonly received: (message: FromPage) => void,
    /** The page is loaded and has the latest data. */
    private readonly loaded: () => void = () => undefined,
  ) {}

  /** Loads the page into a webview. */
  fill(webview: vscode.Webview): void {
    const media = vscode.Uri.joinPath(this.extension, 'dist', 'media');
    this.webview = webview;
    webview.options = { enableScripts: true, localResourceRoots: [media] };
    webview.onDidReceiveMessage((message: FromPage) => {
      if (message.kind === 'ready') {
        this.ready = true;
        this.send(this.latest);
        this.loaded();
      } else {
        this.received(message);
      }
    });
    webview.html = this.html(webview, media);
  }

  /** The webview is gone. */
  empty(): void {
    this.webview = undefined;
    this.ready = false;
    this.latest = [];
  }

  /** Shows `data`; `state` restores the page when the window is reloaded. */
  show(data: object, state: object): void {
    this.send([{ kind: 'data', data, state }]);
  }

  /** Explains why there is no data, or why the data shown is outdated. */
  note(text: string): void {
    this.send([...this.latest.filter(({ kind }) => kind === 'data'), { kind: 'note', text }]);
  }

  /** Sends what need not be sent again when the page is loaded again. */
  tell(message: ToPage): void {
    if (this.ready) {
      void this.webview?.postMessage(message);
    }
  }

  private send(messages: ToPage[]): void {
    this.latest = messages;
    messages.forEach((message) => this.tell(message));
  }

  private html(webview: vscode.Webview, media: vscode.Uri): string {
    const nonce = randomBytes(16).toString('base64');
    const script = webview.asWebviewUri(vscode.Uri.joinPath(media, `${this.name}.js`)).toString();
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
