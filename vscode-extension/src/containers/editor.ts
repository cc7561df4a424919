/** The page that VS Code shows for a binary: what PTX is in it. Its links are commands, and it needs no script. */

import * as vscode from 'vscode';

import type { Container, Member } from '../protocol.js';
import { fileSize } from '../wording.js';
import { besides, byTarget, contentsInShort } from './items.js';
import { fileName } from './members.js';
import type { Containers } from './tree.js';

const COMMANDS = ['vscode.open', 'ptx.containers.open'];

export class ContainerEditor implements vscode.CustomReadonlyEditorProvider {
  /** Its names: binaries that have nothing else to show, and those for which other editors may come first. */
  static readonly types = ['ptx.container', 'ptx.container.binary'];

  constructor(
    private readonly extension: vscode.Uri,
    private readonly containers: Containers,
  ) {}

  openCustomDocument(uri: vscode.Uri): vscode.CustomDocument {
    return { uri, dispose: () => undefined };
  }

  async resolveCustomEditor({ uri }: vscode.CustomDocument, { webview }: vscode.WebviewPanel): Promise<void> {
    const media = vscode.Uri.joinPath(this.extension, 'dist', 'media');
    webview.options = { enableCommandUris: COMMANDS, localResourceRoots: [media] };
    const style = webview.asWebviewUri(vscode.Uri.joinPath(media, 'container.css')).toString();
    const show = (body: string): void => {
      webview.html = html(uri, webview.cspSource, style, body);
    };
    show('<p>Reading…</p>'); // the server may have to start
    const found = await this.containers.contents(uri);
    show(found instanceof Error ? `<p class="problem">${escape(found.message.replace(`${fileName(uri)}: `, ''))}</p>` : page(uri, found));
  }
}

function html(uri: vscode.Uri, source: string, style: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${source}">
<title>${escape(fileName(uri))}</title>
<link rel="stylesheet" href="${style}">
</head>
<body>
<h1>${escape(fileName(uri))}</h1>
${body}
</body>
</html>`;
}

function page(uri: vscode.Uri, found: Container): string {
  const also = besides(found).map((text) => `<p>${found.members.length ? 'Also ' : ''}${escape(text)}</p>`);
  return [
    `<p>${escape(contentsInShort(found))}</p>`,
    ...found.notes.map((note) => `<p class="problem">${escape(note)}</p>`),
    ...(found.members.length ? [...also, table(found), `<p>${link('ptx.containers.open', [uri.toJSON()], 'Show in PTX Containers')}</p>`] : []),
  ].join('\n');
}

function table({ members }: Container): string {
  const parts = members.some(({ part, source }) => part ?? source);
  const rows = byTarget(members).flatMap(([, some]) => some.map((member) => row(member, parts)));
  return `<table>
<thead><tr><th>Member</th><th>Target</th><th>PTX</th><th class="number">Size</th>${parts ? '<th>From</th>' : ''}</tr></thead>
<tbody>
${rows.join('\n')}
</tbody>
</table>`;
}

function row({ name, uri, target, version, size, part, source }: Member, parts: boolean): string {
  const cells = [
    link('vscode.open', [vscode.Uri.parse(uri).toJSON()], name),
    escape(target),
    escape(version),
    escape(fileSize(size)),
    ...(parts ? [escape(part ?? source ?? '')] : []),
  ];
  return `<tr>${cells.map((cell, number) => `<td${number === 3 ? ' class="number"' : ''}>${cell}</td>`).join('')}</tr>`;
}

function link(command: string, given: unknown[], text: string): string {
  return `<a href="command:${command}?${encodeURIComponent(JSON.stringify(given))}">${escape(text)}</a>`;
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}
