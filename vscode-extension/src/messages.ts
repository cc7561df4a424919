/** Messages exchanged between the extension and its webviews. */

import type { Range } from 'vscode-languageclient';

/** To a page. */
export type ToPage =
  | { kind: 'data'; data: object; state: object }
  | { kind: 'note'; text: string }
  /** The line of the cursor in the subject's document, or null. */
  | { kind: 'cursor'; line: number | null }
  /** The cursor is in this line of a source, or of the PTX if `source` is null. */
  | { kind: 'place'; source: number | null; line: number }
  /** The lines of the subject's document that contain `query`. */
  | { kind: 'found'; query: string; lines: number[] };

/** From a page. */
export type FromPage =
  | { kind: 'ready' }
  | { kind: 'reveal'; range: Range }
  | { kind: 'revealLine'; line: number }
  | { kind: 'revealSource'; source: number; line: number }
  | { kind: 'ask'; what: What }
  | { kind: 'find'; query: string }
  | { kind: 'insert'; text: string }
  | { kind: 'diff'; oldLine: number; newLine: number }
  | { kind: 'debug' }
  | { kind: 'focus'; block: number[]; thread: number[] }
  | { kind: 'watch'; expression: string }
  | { kind: 'unwatch'; expression: string }
  | { kind: 'hex'; on: boolean };

/** Values that override a kernel's own. */
export type What = Record<string, number | string | string[]>;
