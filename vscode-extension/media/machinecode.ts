/** Source, PTX and machine code of a kernel, side by side. Lines that belong together have a colour, and are selected and scrolled together. */

import type { MachineCodeView } from '../src/protocol.js';
import { element, onData, post } from './page.js';

type Column = 'source' | 'ptx' | 'code';
interface Row {
  element: HTMLElement;
  /** The line of the source that is shown, if there is one. */
  source: number | undefined;
  /** The line of PTX. */
  ptx: number | undefined;
}

const NAMES: Record<Column, string> = { source: 'Source', ptx: 'PTX', code: 'Machine code' };
const COLORS = 12;
/** Rows per part of a column; parts outside the window are not drawn. */
const PART = 100;
/** Milliseconds within which the scrolling of other columns follows from our own. */
const ECHO = 150;

let data: MachineCodeView | undefined;
let file = -1;
let together = true;
const hidden = new Set<Column>();
let scrolledByUs = 0;
let selected: { column: Column; index: number } | undefined;
const rows: Record<Column, Row[]> = { source: [], ptx: [], code: [] };
const boxes: Partial<Record<Column, HTMLElement>> = {};

onData<MachineCodeView>(
  (page, received) => {
    const before = data?.kernel === received.kernel ? positions() : undefined;
    if (data?.kernel !== received.kernel || file >= received.sources.length) {
      file = mostUsed(received);
      selected = undefined;
    }
    data = received;
    draw(page);
    if (before) {
      restore(before);
    }
  },
  (message) => {
    if (message.kind === 'place') {
      follow(message.source, message.line);
    }
  },
);

function draw(page: HTMLElement): void {
  const shown = data;
  if (!shown) {
    return;
  }
  const lines = new Map(shown.lines.map(({ line, source }) => [line, source]));
  const colors = new Map<number, number>();
  const color = (line: number | undefined): string => {
    if (line === undefined) {
      return '';
    }
    const known = colors.get(line) ?? colors.size % COLORS;
    colors.set(line, known);
    return ` tint tint-${known}`;
  };
  rows.ptx = shown.ptx.map((text, index) => {
    const ptx = shown.first + index;
    const source = lineIn(lines.get(ptx));
    return { ptx, source, element: row(`line${color(source)}`, [String(ptx + 1), text]) };
  });
  rows.code = (shown.instructions ?? []).map(({ address, text, labels, line, source: chain, live }) => {
    const source = lineIn(chain);
    const counts = live ? live.map((count) => count || '') : ['', '', '', ''];
    const cells = [address.toString(16).padStart(4, '0'), text, String(counts[0])];
    const created = row(`line${color(source)}`, cells);
    created.title = live
      ? `live: ${live[0]} registers, ${live[1]} predicates, ${live[2]} uniform registers, ${live[3]} uniform predicates`
      : '';
    for (const label of labels) {
      created.prepend(element('div', { class: 'label' }, `${label}:`));
    }
    return { ptx: line ?? undefined, source, element: created };
  });
  const text = shown.texts[file];
  rows.source = (text ?? []).map((content, source) => ({
    ptx: undefined,
    source,
    element: row(`line${colors.has(source) ? color(source) : ''}`, [String(source + 1), content]),
  }));
  const all: [Column, (Node | string)[], string | undefined][] = [
    ['source', sourceTitle(shown), text ? undefined : why(shown)],
    ['ptx', ['PTX'], undefined],
    ['code', [element('span', { title: 'address, live registers, instruction' }, NAMES.code)], undefined],
  ];
  const there = all.filter(([which]) => which !== 'code' || shown.instructions);
  for (const which of Object.keys(boxes) as Column[]) {
    delete boxes[which];
  }
  const columns = there.filter(([which]) => !hidden.has(which)).map((one) => column(...one));
  page.replaceChildren(
    toolbar(shown, there.map(([which]) => which)),
    element('div', { class: `columns columns-${columns.length}` }, ...columns),
  );
  if (selected) {
    select(selected.column, selected.index, false);
  }
}

function toolbar({ problem, figures }: MachineCodeView, there: Column[]): HTMLElement {
  const box = element('input', { type: 'checkbox', id: 'together', checked: together });
  box.addEventListener('change', () => (together = box.checked));
  const parts: HTMLElement[] = [element('label', {}, box, ' Scroll together'), ...there.map((which) => choice(which, there))];
  if (figures) {
    parts.push(element('strong', { id: 'figures' }, figures));
  }
  if (problem) {
    parts.push(element('span', { id: 'problem', role: 'status' }, `No machine code: ${problem}`));
  }
  return element('div', { class: 'legend' }, ...parts);
}

/** Shows or hides a column; the last one stays. */
function choice(which: Column, there: Column[]): HTMLElement {
  const box = element('input', { type: 'checkbox', id: `show-${which}`, checked: !hidden.has(which) });
  box.addEventListener('change', () => {
    if (box.checked) {
      hidden.delete(which);
    } else if (there.some((one) => one !== which && !hidden.has(one))) {
      hidden.add(which);
    }
    const page = document.getElementById('page');
    const before = positions();
    if (page) {
      draw(page);
      restore(before);
      document.getElementById(box.id)?.focus({ preventScroll: true });
    }
  });
  return element('label', { title: `Show the column ${NAMES[which]}` }, box, ` ${NAMES[which]}`);
}

/** The name of the source, or a choice if there are several. */
function sourceTitle({ sources }: MachineCodeView): (Node | string)[] {
  if (sources.length < 2) {
    return [name(sources[0]?.path ?? 'Source')];
  }
  const menu = element('select', { id: 'file', 'aria-label': 'source file' });
  for (const [index, { path }] of sources.entries()) {
    menu.append(element('option', { value: index, selected: index === file, title: path }, name(path)));
  }
  menu.addEventListener('change', () => {
    file = Number(menu.value);
    const page = document.getElementById('page');
    if (page) {
      draw(page);
    }
  });
  return [menu];
}

function why({ sources }: MachineCodeView): string {
  const source = sources[file];
  return source ? `${source.path} cannot be read.` : 'The PTX has no .loc: it was compiled without line information (-lineinfo).';
}

function column(which: Column, title: (Node | string)[], reason: string | undefined): HTMLElement {
  const list = element('div', { class: 'lines', id: which, tabindex: 0, role: 'listbox', 'aria-label': which });
  for (let start = 0; start < rows[which].length; start += PART) {
    list.append(element('div', { class: 'part' }, ...rows[which].slice(start, start + PART).map((one) => one.element)));
  }
  const last = rows[which].at(-1)?.element.querySelector('.number')?.textContent ?? '';
  list.style.setProperty('--digits', String(last.length));
  if (reason) {
    list.append(element('p', { class: 'note' }, reason));
  }
  const indices = new Map(rows[which].map((one, index) => [one.element, index]));
  const indexOf = (target: EventTarget | null): number | undefined => {
    const found = target instanceof Element ? target.closest<HTMLElement>('.line') : null;
    return found ? indices.get(found) : undefined;
  };
  list.addEventListener('click', ({ target }) => {
    const index = indexOf(target);
    if (index !== undefined) {
      select(which, index, true);
    }
  });
  list.addEventListener('dblclick', ({ target }) => open(which, indexOf(target)));
  list.addEventListener('keydown', (event) => {
    const index = selected?.column === which ? selected.index : -1;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      const next = index + (event.key === 'ArrowDown' ? 1 : -1);
      if (rows[which][next]) {
        select(which, next, true);
        show(which, next);
      }
    } else if (event.key === 'Enter') {
      open(which, index);
    }
  });
  list.addEventListener('scroll', () => scrolled(which));
  boxes[which] = list;
  return element('section', {}, element('h2', {}, ...title), list);
}

function row(kind: string, [number = '', text = '', live]: string[]): HTMLElement {
  const parts = [element('span', { class: 'number' }, number), element('span', { class: 'text' }, text)];
  if (live !== undefined) {
    parts.splice(1, 0, element('span', { class: 'live' }, live));
  }
  return element('div', { class: kind, role: 'option' }, ...parts);
}

/** Selects a row, the rows that belong to it, and scrolls to them. */
function select(column: Column, index: number, scroll: boolean): void {
  selected = { column, index };
  const chosen = rows[column][index];
  if (!chosen) {
    return;
  }
  for (const which of ['source', 'ptx', 'code'] as const) {
    const belonging = which === column ? [index] : related(chosen, column, which);
    const members = new Set(belonging);
    for (const [number, { element: one }] of rows[which].entries()) {
      one.classList.toggle('selected', members.has(number));
      one.setAttribute('aria-selected', String(members.has(number)));
    }
    const [first] = belonging;
    if (scroll && which !== column && first !== undefined && !belonging.some((one) => isVisible(which, one))) {
      show(which, first);
    }
  }
}

/** The rows of another column that belong to a row, in order. */
function related({ source, ptx }: Row, column: Column, other: Column): number[] {
  const bySource = column === 'source' || other === 'source';
  const key = bySource ? source : ptx;
  if (key === undefined) {
    return [];
  }
  return rows[other].flatMap((one, index) => ((bySource ? one.source : one.ptx) === key ? [index] : []));
}

/** The cursor in an editor has moved to a line of the PTX, or of a source. */
function follow(source: number | null, line: number): void {
  if (source === null) {
    const index = rows.ptx.findIndex(({ ptx }) => ptx === line);
    if (index >= 0) {
      select('ptx', index, true);
      show('ptx', index);
    }
    return;
  }
  const page = document.getElementById('page');
  if (source !== file && page) {
    file = source;
    draw(page);
  }
  if (rows.source[line]) {
    select('source', line, true);
    show('source', line);
  } else {
    const index = rows.ptx.findIndex((one) => one.source === line);
    if (index >= 0) {
      select('ptx', index, true);
    }
  }
}

/** Goes to a line in the editor. */
function open(column: Column, index: number | undefined): void {
  const chosen = index === undefined ? undefined : rows[column][index];
  if (column === 'source' && chosen?.source !== undefined) {
    post({ kind: 'revealSource', source: file, line: chosen.source });
  } else if (chosen?.ptx !== undefined) {
    post({ kind: 'revealLine', line: chosen.ptx });
  }
}

/** The other columns follow one that the user scrolls: they show what belongs to the row in its middle. */
function scrolled(column: Column): void {
  if (!together || performance.now() - scrolledByUs < ECHO) {
    return;
  }
  const box = boxes[column];
  if (!box) {
    return;
  }
  const { left, top, height } = box.getBoundingClientRect();
  const under = document.elementFromPoint(left + 20, top + height / 3)?.closest<HTMLElement>('.line');
  const start = rows[column].findIndex((one) => one.element === under);
  if (start < 0) {
    return;
  }
  for (const other of ['source', 'ptx', 'code'] as const) {
    if (other !== column && boxes[other]) {
      // The nearest row that has something in the other column.
      for (let index = start; index < Math.min(start + 30, rows[column].length); index++) {
        const chosen = rows[column][index];
        const [first] = chosen ? related(chosen, column, other) : [];
        if (first !== undefined) {
          show(other, first);
          break;
        }
      }
    }
  }
}

function show(column: Column, index: number): void {
  const box = boxes[column];
  const target = rows[column][index]?.element;
  if (box && target) {
    scrolledByUs = performance.now();
    box.scrollTop += target.getBoundingClientRect().top - box.getBoundingClientRect().top - box.clientHeight / 3;
  }
}

function isVisible(column: Column, index: number): boolean {
  const box = boxes[column]?.getBoundingClientRect();
  const target = rows[column][index]?.element.getBoundingClientRect();
  return Boolean(box && target && target.top >= box.top && target.bottom <= box.bottom);
}

function positions(): [Column, number][] {
  return (Object.entries(boxes) as [Column, HTMLElement][]).map(([which, box]) => [which, box.scrollTop]);
}

function restore(before: [Column, number][]): void {
  scrolledByUs = performance.now();
  for (const [which, top] of before) {
    boxes[which]?.scrollTo(0, top);
  }
}

/** The line of a chain that is in the file shown. */
function lineIn(chain: [number, number][] | undefined): number | undefined {
  return chain?.find(([source]) => source === file)?.[1];
}

/** The source that most lines were written in, before inlining. */
function mostUsed({ lines, sources }: MachineCodeView): number {
  const counts = sources.map(() => 0);
  for (const { source } of lines) {
    const [last] = source.at(-1) ?? [];
    if (last !== undefined) {
      counts[last] = (counts[last] ?? 0) + 1;
    }
  }
  return counts.indexOf(Math.max(...counts));
}

function name(path: string): string {
  return path.split(/[\\/]/).at(-1) ?? path;
}
