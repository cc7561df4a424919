/** Shared by the pages: messages to the extension, and creation of elements. */

import type { ToPage, FromPage } from '../src/messages.js';

interface Editor {
  postMessage(message: FromPage): void;
  setState(state: object): void;
}
declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();

export function post(message: FromPage): void {
  editor.postMessage(message);
}

/** What the extension sends besides data and notes. */
type Other = Exclude<ToPage, { kind: 'data' } | { kind: 'note' }>;

/** Calls `draw` with each update from the extension; keeps focus and scroll position. */
export function onData<Data>(
  draw: (page: HTMLElement, data: Data, state: object) => void,
  other: (message: Other) => void = () => undefined,
): void {
  const page = found('page');
  window.addEventListener('message', ({ data: message }: MessageEvent<ToPage>) => {
    if (message.kind !== 'data' && message.kind !== 'note') {
      other(message);
      return;
    }
    found('note').textContent = message.kind === 'note' ? message.text : '';
    page.classList.toggle('stale', message.kind === 'note');
    if (message.kind === 'note') {
      return;
    }
    editor.setState(message.state);
    const { scrollX, scrollY } = window;
    const focused = document.activeElement?.id;
    draw(page, message.data as Data, message.state);
    window.scrollTo(scrollX, scrollY);
    if (focused) {
      document.getElementById(focused)?.focus({ preventScroll: true });
    }
  });
  post({ kind: 'ready' });
}

function found(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (!element) {
    throw new Error(`the page has no element ${id}`);
  }
  return element;
}

type Attributes = Record<string, string | number | boolean>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const created = document.createElement(tag);
  set(created, attributes);
  created.append(...children);
  return created;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const created = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(created, attributes);
  created.append(...children);
  return created;
}

/** A color of the editor's theme. */
export function themed(name: string, otherwise: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--vscode-${name}`).trim() || otherwise;
}

/** Calls `run` when the theme changes. */
export function onTheme(run: () => void): void {
  new MutationObserver(run).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}

function set(created: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      created.setAttribute(name, '');
    } else if (value !== false) {
      created.setAttribute(name, String(value));
    }
  }
}
