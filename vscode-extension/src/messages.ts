/** What the extension and the pages of its panels tell each other. */

import type { Range } from 'vscode-languageclient';

/** To a page. */
export type Shown = { kind: 'data'; data: object; state: object } | { kind: 'note'; text: string };

/** From a page. */
export type Told =
  | { kind: 'ready' }
  | { kind: 'reveal'; range: Range }
  | { kind: 'revealLine'; line: number }
  | { kind: 'ask'; what: What }
  | { kind: 'insert'; text: string };

/** What replaces a kernel's own figures. */
export type What = Record<string, number | string>;
