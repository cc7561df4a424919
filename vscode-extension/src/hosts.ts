/** Files in other languages with inline PTX: which of them the server gets, and when they are a reason to start it. */

import * as vscode from 'vscode';

const LANGUAGES = ['cuda-cpp', 'cuda', 'cpp', 'c', 'python', 'rust', 'julia', 'llvm', 'mlir', 'mojo'];
/** A text without any of these has no inline PTX. */
const WORDS = /(?:\b|_)asm|InlineAsm|inline_ptx|inlined_assembly/;
/** Milliseconds after an edit before a text is searched. */
const PAUSE = 500;

const PTX = { language: 'ptx' };

/** The documents that the server gets. */
export function selector(): { language: string }[] {
  return isEnabled() ? [PTX, ...LANGUAGES.map((language) => ({ language }))] : [PTX];
}

/** For features of whole files: in other languages VS Code would ask us instead of another extension, or as well. */
export const ONLY_PTX = [PTX];
export const OF_WHOLE_FILES = [
  'textDocument/formatting',
  'textDocument/rangeFormatting',
  'textDocument/onTypeFormatting',
  'textDocument/documentSymbol',
  'textDocument/foldingRange',
  'textDocument/selectionRange',
  'textDocument/codeLens',
  'textDocument/inlayHint',
  'textDocument/semanticTokens',
  'textDocument/prepareCallHierarchy',
  'textDocument/linkedEditingRange',
  'textDocument/documentLink',
];

/**
 * Calls `start` as soon as there is something for the server to do. In a folder of Python or C++ without inline PTX that is
 * never; where something else than such a file has activated the extension, it is at once.
 */
export async function startWhenNeeded(start: () => void): Promise<vscode.Disposable | undefined> {
  const open = vscode.workspace.textDocuments;
  const byHost = open.some(isHost) && !open.some(isReason);
  if (!byHost || (await vscode.workspace.findFiles('**/*.ptx', undefined, 1)).length) {
    start();
    return undefined;
  }
  const pauses = new Map<vscode.TextDocument, NodeJS.Timeout>();
  const found = vscode.Disposable.from(
    vscode.workspace.onDidOpenTextDocument((document) => look(document)),
    vscode.workspace.onDidChangeTextDocument(({ document }) => {
      clearTimeout(pauses.get(document));
      pauses.set(document, setTimeout(() => look(document), PAUSE));
    }),
    { dispose: () => pauses.forEach((pause) => clearTimeout(pause)) },
  );
  const look = (document: vscode.TextDocument): void => {
    pauses.delete(document);
    if (isReason(document)) {
      found.dispose();
      start();
    }
  };
  vscode.workspace.textDocuments.forEach(look); // opened while files were looked for
  return found;
}

function isEnabled(): boolean {
  return vscode.workspace.getConfiguration('ptx').get('inline.enabled', true);
}

function isHost({ languageId, uri }: vscode.TextDocument): boolean {
  return LANGUAGES.includes(languageId) && uri.scheme !== 'output';
}

function isReason(document: vscode.TextDocument): boolean {
  return document.languageId === 'ptx' || (isEnabled() && isHost(document) && WORDS.test(document.getText()));
}
