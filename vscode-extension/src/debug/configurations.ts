/** Debug configurations: one for each launch comment and each launch file of the workspace. */

import * as path from 'node:path';
import * as vscode from 'vscode';

import { firstLine, launchComments } from './launches.js';

export const TYPE = 'ptx';
/** Files that are looked into for launches, and the largest of them, in bytes. */
const MOST_FILES = 500;
const MOST_BYTES = 1 << 20;
const LONGEST = 60;

/** What a configuration launches. */
export interface Launch {
  uri: vscode.Uri;
  kernel?: string;
  /** The line of the launch comment, from 1. */
  comment?: number;
}

export function registerConfigurations(): vscode.Disposable {
  const initial = { provideDebugConfigurations, resolveDebugConfiguration };
  const { Initial, Dynamic } = vscode.DebugConfigurationProviderTriggerKind;
  return vscode.Disposable.from(
    vscode.debug.registerDebugConfigurationProvider(TYPE, initial, Initial),
    vscode.debug.registerDebugConfigurationProvider(TYPE, { provideDebugConfigurations }, Dynamic),
    vscode.languages.registerCodeLensProvider({ pattern: '**/*.toml' }, { provideCodeLenses }),
  );
}

/** The configuration of the first launch comment of a file, of one of a kernel, or of a launch file. */
export function configurationOf({ uri, kernel, comment }: Launch): vscode.DebugConfiguration {
  const common = { type: TYPE, request: 'launch', check: true };
  if (uri.path.endsWith('.toml')) {
    return { ...common, name: `Debug ${path.basename(uri.fsPath)}`, launchFile: uri.fsPath };
  }
  return {
    ...common,
    name: kernel ? `Debug ${kernel}` : 'Debug PTX',
    program: uri.fsPath,
    ...(kernel && { entry: kernel }),
    ...(comment !== undefined && { launchComment: comment }),
  };
}

/** All launches of the workspace, those of the file in the editor first. */
async function provideDebugConfigurations(
  folder: vscode.WorkspaceFolder | undefined,
  token?: vscode.CancellationToken,
): Promise<vscode.DebugConfiguration[]> {
  if (!folder && vscode.workspace.workspaceFolders?.length) {
    return []; // asked for each folder, too
  }
  const inFolder = (pattern: string) => (folder ? new vscode.RelativePattern(folder, pattern) : pattern);
  const [texts, files] = await Promise.all(
    ['**/*.ptx', '**/*.toml'].map((pattern) => vscode.workspace.findFiles(inFolder(pattern), undefined, MOST_FILES, token)),
  );
  const current = vscode.window.activeTextEditor?.document.uri.toString();
  const sorted = [...(texts ?? []), ...(files ?? [])].sort(
    (one, other) => Number(other.toString() === current) - Number(one.toString() === current) || one.path.localeCompare(other.path),
  );
  const found = await Promise.all(sorted.map(launchesOf));
  return found.flat();
}

async function launchesOf(uri: vscode.Uri): Promise<vscode.DebugConfiguration[]> {
  const text = await textOf(uri);
  const file = vscode.workspace.asRelativePath(uri);
  if (uri.path.endsWith('.toml')) {
    return text !== undefined && firstLine(text) !== undefined ? [{ ...configurationOf({ uri }), name: file }] : [];
  }
  return launchComments(text ?? '').map(({ line, words }) => {
    const shown = words.length > LONGEST ? `${words.slice(0, LONGEST)}\u2026` : words;
    return { ...configurationOf({ uri, comment: line }), name: `${file}:${line} ${shown}` };
  });
}

/** The text as in the editor, else as on disk. */
async function textOf(uri: vscode.Uri): Promise<string | undefined> {
  const open = vscode.workspace.textDocuments.find((one) => one.uri.toString() === uri.toString());
  if (open) {
    return open.getText();
  }
  try {
    const { size } = await vscode.workspace.fs.stat(uri);
    return size > MOST_BYTES ? undefined : new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
  } catch {
    return undefined;
  }
}

/** Without a launch configuration, the file in the editor is debugged as its launch comment says. */
function resolveDebugConfiguration(
  _: vscode.WorkspaceFolder | undefined,
  given: vscode.DebugConfiguration,
): vscode.DebugConfiguration | undefined {
  if (given.type || given.request || given.name) {
    return given;
  }
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'ptx' ? configurationOf({ uri: document.uri }) : undefined;
}

/** *Debug* at the first line of a launch file. */
function provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
  const line = firstLine(document.getText());
  const command = { title: 'Debug', command: 'ptx.debug', arguments: [{ uri: document.uri.toString(), kernel: '' }] };
  return line === undefined ? [] : [new vscode.CodeLens(new vscode.Range(line, 0, line, 0), command)];
}
