/** The commands on the view *Triton Cache*. */

import * as vscode from 'vscode';

import type { ComparePanel } from '../compare.js';
import type { CachedKernel } from '../protocol.js';
import type { TritonCache } from './cache.js';
import { options, type GroupItem, type VersionItem } from './items.js';

export function registerTriton(cache: TritonCache, comparison: ComparePanel): vscode.Disposable {
  const table: Record<string, (...given: never[]) => unknown> = {
    'ptx.tritonCache.refresh': () => cache.forget(),
    'ptx.tritonCache.choose': () => cache.choose(),
    'ptx.tritonCache.more': (group: GroupItem) => cache.more(group),
    'ptx.tritonCache.compare': (chosen: VersionItem, selected?: VersionItem[]) => compare(cache, comparison, chosen, selected),
    'ptx.triton.reveal': open,
  };
  return vscode.Disposable.from(...Object.entries(table).map(([name, run]) => vscode.commands.registerCommand(name, run)));
}

/** Opens the PTX at its kernel. */
async function open(uri: vscode.Uri, kernel: string): Promise<void> {
  const document = await vscode.workspace.openTextDocument(uri);
  const at = document.getText().search(new RegExp(`\\.entry\\s+${kernel.replaceAll(/[$.]/g, '\\$&')}\\b`));
  const place = document.positionAt(Math.max(0, at));
  await vscode.window.showTextDocument(document, { selection: new vscode.Range(place, place) });
}

/** Compares two versions: those that are selected, or one with another of the same kernel. */
async function compare(cache: TritonCache, comparison: ComparePanel, chosen: VersionItem, selected?: VersionItem[]): Promise<void> {
  if (selected?.length === 2) {
    await comparison.withFile(undefined, selected.map(({ uri }) => uri));
    return;
  }
  const others = cache.versions(chosen.cached.name).filter(({ uri }) => uri !== chosen.cached.uri);
  if (!others.length) {
    void vscode.window.showInformationMessage(`The cache has no other version of ${chosen.cached.name}.`);
    return;
  }
  const items = others.map((cached) => ({
    label: inWords(cached),
    description: new Date(cached.modified).toLocaleString(),
    detail: vscode.Uri.parse(cached.uri).fsPath,
    uri: vscode.Uri.parse(cached.uri),
  }));
  const title = `Compare ${chosen.cached.name} (${inWords(chosen.cached)}) with`;
  const found = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
  if (found) {
    await comparison.withFile(undefined, [found.uri, chosen.uri]);
  }
}

function inWords(cached: CachedKernel): string {
  return [cached.target ?? '', options(cached)].filter(Boolean).join(', ');
}
