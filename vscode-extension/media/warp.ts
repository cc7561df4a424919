/** The lanes of a warp as columns, expressions as rows. */

import type { MarkedRow, WarpAnswer } from '../src/debug/changes.js';
import { element, onData, post } from './page.js';

type Warp = Omit<WarpAnswer, 'rows'> & { rows: MarkedRow[]; isHex: boolean };
type Shown = Warp | { hint: string };

/** Which cell of the table has the keyboard. */
let at = { row: 0, column: 1 };
/** The lane in focus when the table was last drawn. */
let shown = -1;
const input = element('input', {
  id: 'expression',
  'aria-label': 'Expression to watch in all lanes',
  placeholder: 'Watch: %r1 + 4, [%rd1]:f32, %p',
  spellcheck: 'false',
});

onData<Shown>((page, data) => {
  if ('hint' in data) {
    page.replaceChildren(hint(data.hint));
  } else {
    const left = page.querySelector('.scroll')?.scrollLeft ?? 0;
    const scroll = element('div', { class: 'scroll' }, table(data));
    page.replaceChildren(heading(data), scroll, controls(data));
    scroll.scrollLeft = left;
    if (data.lane !== shown) {
      shown = data.lane;
      scroll.querySelector('thead .focus')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  }
});

function hint(text: string): HTMLElement {
  const start = element('button', { type: 'button', id: 'debug' }, 'Debug the Kernel');
  start.addEventListener('click', () => post({ kind: 'debug' }));
  const how = element('p', {}, 'Open a PTX file with a launch comment, such as ', element('code', {}, '// ptx-run: grid=1 block=32'),
    ', and choose Debug above the kernel. When it stops, the lanes of a warp are shown here.');
  return element('section', { class: 'hint' }, element('p', {}, text), how, start);
}

/** Where the warp stands: a button for each of its groups. */
function heading(data: Warp): HTMLElement {
  const thread = data.threads[data.lane] ?? [];
  const title = `Block ${data.block.join(',')}, warp ${data.warp}; in focus: lane ${data.lane}, thread ${thread.join(',')}`;
  const box = element('div', { class: 'groups' }, element('span', { class: 'title' }, title));
  data.groups.forEach(({ lanes, line, waits, instruction, reconvergence: [point] }, group) => {
    const isShown = lanes.includes(data.lane);
    const count = `${lanes.length} lane${lanes.length === 1 ? '' : 's'}`;
    const button = element(
      'button',
      { type: 'button', id: `group-${group}`, class: `group ${colour(group)}`, 'aria-pressed': String(isShown), title: 'Put its first lane in focus' },
      element('b', {}, letter(group)),
      ` ${mask(lanes)} (${count}) at line ${line}: `,
      element('code', {}, instruction),
      ...(waits ? [` waits ${waits}`] : []),
      ...(point ? [` reconvergence with ${mask(point.lanes)} at line ${point.line}`] : []),
    );
    button.addEventListener('click', () => focusLane(data, lanes[0] ?? 0));
    box.append(button);
  });
  return box;
}

function table(data: Warp): HTMLElement {
  const head = element('tr', { role: 'row' }, cell('th', data, -1, 'Lane'));
  const groups = element('tr', { role: 'row' }, cell('th', data, -1, 'Group'));
  for (let lane = 0; lane < data.lanes; lane++) {
    head.append(cell('th', data, lane, String(lane)));
    const group = groupOf(data, lane);
    const names = group < 0 ? 'ended' : data.active[lane] ? `group ${letter(group)}, active` : `group ${letter(group)}`;
    const shown = cell('td', data, lane, group < 0 ? '\u2013' : letter(group));
    shown.setAttribute('aria-label', `lane ${lane}: ${names}`);
    groups.append(shown);
  }
  const body = element('tbody', {}, ...data.rows.map((row) => line(data, row)));
  const found = element('table', { class: 'lanes', role: 'grid', 'aria-label': 'Lanes of the warp' }, element('thead', {}, head, groups), body);
  found.addEventListener('keydown', (event) => move(event, found, data));
  found.addEventListener('click', ({ target }) => {
    const chosen = (target as Element).closest<HTMLElement>('[data-lane]');
    if (chosen) {
      focusLane(data, Number(chosen.dataset['lane']));
    }
  });
  const rows = [...found.rows];
  rows.forEach((row, index) => [...row.cells].forEach((one, column) => {
    one.id = `cell-${index}-${column}`;
    one.tabIndex = -1;
  }));
  const current = rows[Math.min(at.row, rows.length - 1)]?.cells[at.column] ?? rows[0]?.cells[0];
  if (current) {
    current.tabIndex = 0;
  }
  return found;
}

/** The values of an expression. */
function line(data: Warp, row: MarkedRow): HTMLElement {
  const name = element('th', { scope: 'row', role: 'rowheader' }, row.expression);
  if (row.type) {
    name.title = row.type;
  }
  if (row.isWatched) {
    const remove = element('button', { type: 'button', class: 'remove', tabindex: -1, 'aria-label': `Stop watching ${row.expression}`, title: 'Stop watching' }, '\u00d7');
    remove.addEventListener('click', () => post({ kind: 'unwatch', expression: row.expression }));
    name.append(remove);
    name.dataset['watched'] = row.expression;
  }
  const made = element('tr', { role: 'row', class: row.isWatched ? 'watched' : 'automatic' }, name);
  if (row.error) {
    made.append(element('td', { colspan: data.lanes, class: 'problem', role: 'gridcell' }, row.error));
  }
  row.values.forEach((value, lane) => {
    const shown = cell('td', data, lane, value);
    const before = row.before[lane];
    if (typeof before === 'string') {
      shown.classList.add('altered');
      shown.title = `was ${before} at the last stop`;
      shown.setAttribute('aria-label', `${value}, was ${before}`);
    }
    made.append(shown);
  });
  return made;
}

function cell(tag: 'th' | 'td', data: Warp, lane: number, text: string): HTMLElement {
  if (lane < 0) {
    return element('th', { scope: 'row', role: 'rowheader' }, text);
  }
  const group = groupOf(data, lane);
  const classes = [group < 0 ? 'ended' : colour(group), data.active[lane] ? 'active' : 'inactive', ...(lane === data.lane ? ['focus'] : [])];
  const made = element(tag, { class: classes.join(' '), role: tag === 'th' ? 'columnheader' : 'gridcell' }, text);
  if (lane === data.lane) {
    made.setAttribute('aria-current', 'true');
  }
  if (group >= 0) {
    made.dataset['lane'] = String(lane);
  }
  return made;
}

/** Arrow keys go from cell to cell, Enter puts a lane in focus, Delete stops watching a row. */
function move(event: KeyboardEvent, found: HTMLTableElement, data: Warp): void {
  const target = (event.target as Element).closest<HTMLTableCellElement>('th, td');
  if (!target || event.target !== target) {
    return;
  }
  const row = (target.parentElement as HTMLTableRowElement).rowIndex;
  const column = target.cellIndex;
  const last = (found.rows[row]?.cells.length ?? 1) - 1;
  const steps: Record<string, [number, number]> = {
    ArrowLeft: [row, Math.max(0, column - 1)],
    ArrowRight: [row, Math.min(last, column + 1)],
    ArrowUp: [Math.max(0, row - 1), column],
    ArrowDown: [Math.min(found.rows.length - 1, row + 1), column],
    Home: [row, 0],
    End: [row, last],
  };
  const to = steps[event.key];
  const lane = target.dataset['lane'];
  const watched = (found.rows[row]?.cells[0] as HTMLElement | undefined)?.dataset['watched'];
  if (to) {
    const next = found.rows[to[0]]?.cells[to[1]] ?? found.rows[to[0]]?.cells[0];
    target.tabIndex = -1;
    if (next) {
      at = { row: to[0], column: next.cellIndex };
      next.tabIndex = 0;
      next.focus();
    }
  } else if ((event.key === 'Enter' || event.key === ' ') && lane !== undefined) {
    focusLane(data, Number(lane));
  } else if (event.key === 'Delete' && watched !== undefined) {
    post({ kind: 'unwatch', expression: watched });
  } else {
    return;
  }
  event.preventDefault();
}

function controls(data: Warp): HTMLElement {
  const form = element('form', { class: 'watch' }, input, element('button', { type: 'submit', id: 'add' }, 'Watch'));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (input.value.trim()) {
      post({ kind: 'watch', expression: input.value });
      input.value = '';
    }
  });
  const hex = element('input', { type: 'checkbox', id: 'hex', checked: data.isHex });
  hex.addEventListener('change', () => post({ kind: 'hex', on: hex.checked }));
  form.append(element('label', {}, hex, 'Hexadecimal'));
  return form;
}

function focusLane({ block, threads }: Warp, lane: number): void {
  post({ kind: 'focus', block, thread: threads[lane] ?? [0] });
}

function groupOf({ groups }: Warp, lane: number): number {
  return groups.findIndex(({ lanes }) => lanes.includes(lane));
}

function letter(group: number): string {
  return LETTERS[group] ?? '?';
}

/** A warp has at most 32 groups. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef';

function colour(group: number): string {
  return `lane-${group % 6}`;
}

function mask(lanes: readonly number[]): string {
  const bits = lanes.reduce((sum, lane) => sum + 2 ** lane, 0);
  return `0x${bits.toString(16).padStart(8, '0')}`;
}
