/** What the pages share: talking to the extension, and making elements. */

interface Editor {
  postMessage(message: object): void;
}
declare function acquireVsCodeApi(): Editor;

const editor = acquireVsCodeApi();

export function tell(message: object): void {
  editor.postMessage(message);
}

/** Calls `draw` with what the extension sends, first and whenever it changes. */
export function onData<Data>(draw: (page: HTMLElement, data: Data) => void): void {
  const page = document.getElementById('page');
  if (!page) {
    return;
  }
  window.addEventListener('message', ({ data }: MessageEvent<Data>) => draw(page, data));
  tell({ kind: 'ready' });
}

type Attributes = Record<string, string | number | boolean>;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  set(made, attributes);
  made.append(...children);
  return made;
}

export function svg(tag: string, attributes: Attributes = {}, ...children: (Node | string)[]): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  set(made, attributes);
  made.append(...children);
  return made;
}

/** A colour of the editor's theme. */
export function themed(name: string, otherwise: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--vscode-${name}`).trim() || otherwise;
}

/** Calls `run` when the theme changes. */
export function onTheme(run: () => void): void {
  new MutationObserver(run).observe(document.body, { attributes: true, attributeFilter: ['class'] });
}

function set(made: Element, attributes: Attributes): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) {
      made.setAttribute(name, '');
    } else if (value !== false) {
      made.setAttribute(name, String(value));
    }
  }
}
