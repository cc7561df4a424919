/** Messages exchanged between the extension and its webviews. */

import type { Range } from 'vscode-languageclient';

/** To a page. */
export type ToPage = { kind: 'data'; data: object; state: object } | { kind: 'note'; text: string };

/** From a page. */
export type FromPage =
  | { kind: 'ready' }
  | { kind: 'reveal'; range: Range }
  | { kind: 'revealLine'; line: number }
  | { kind: 'ask'; what: What }
  | { kind: 'insert'; text: string };

/** Values that override a kernel's own. */
export type What = Record<string, number | string>;
