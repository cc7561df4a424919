/** Snippets for statements. They are offered only where a statement may begin, which a contributed snippet cannot say. */

import * as vscode from 'vscode';

import SNIPPETS from '../snippets/ptx.json';
import { statementAt } from './statement.js';

/** The snippets that stand outside functions; the others stand inside. */
const OUTSIDE = new Set(['File header', 'Kernel', 'Function']);
const ANYWHERE = new Set(['Preview', 'Suppress a finding']);
const MOST_CHARACTERS = 1 << 20;

export class Snippets implements vscode.CompletionItemProvider {
  provideCompletionItems(document: vscode.TextDocument, position: vscode.Position): vscode.CompletionItem[] {
    if (document.offsetAt(position) > MOST_CHARACTERS) {
      return [];
    }
    const where = statementAt(document.getText(new vscode.Range(0, 0, position.line, position.character)));
    if (where === undefined) {
      return [];
    }
    const line = document.lineAt(position).text.slice(0, position.character);
    const word = /[.]?[\w-]*$/.exec(line)?.[0] ?? '';
    const range = new vscode.Range(position.translate(0, -word.length), position);
    return Object.entries(SNIPPETS)
      .filter(([name]) => ANYWHERE.has(name) || OUTSIDE.has(name) === (where === 'file'))
      .flatMap(([name, { prefix, description, body }]) =>
        [prefix].flat().map((label) => {
          const item = new vscode.CompletionItem({ label, description: name }, vscode.CompletionItemKind.Snippet);
          item.insertText = new vscode.SnippetString(body.join('\n'));
          item.documentation = description;
          item.range = range;
          return item;
        }),
      );
  }
}
