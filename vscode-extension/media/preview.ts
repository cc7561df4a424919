/** The result of a run: buffers before and after, and the values written on each line by the lanes of the first warp. */

import type { Preview } from '../src/protocol.js';
import { element, onData, post } from './page.js';

onData<Preview>((page, data) => {
  if (data.missing !== undefined) {
    page.replaceChildren(...missing(data.kernel, data.missing));
    return;
  }
  page.replaceChildren(...summary(data), ...buffers(data), ...values(data));
});

function missing(kernel: string, comment: string): HTMLElement[] {
  const insert = element('button', { type: 'button', id: 'insert' }, 'Insert it above the kernel');
  insert.addEventListener('click', () => post({ kind: 'insert', text: comment }));
  return [
    element('p', {}, `A comment above ${kernel} describes the launch. For example:`),
    element('pre', {}, comment),
    insert,
  ];
}

function summary({ launch, instructions, error, findings }: Preview): HTMLElement[] {
  const parts: HTMLElement[] = [];
  if (launch) {
    const size = `grid ${launch.grid.join(' x ')}, block ${launch.block.join(' x ')}`;
    parts.push(element('p', {}, `${size}; ${instructions ?? 0} instructions executed.`));
  }
  if (error) {
    const box = element('div', { class: 'error', role: 'alert' }, `${error.kind}: ${error.message} `);
    if (error.line !== null) {
      box.append(link(`line ${error.line + 1}`, error.line));
    }
    if (error.lanes.length) {
      box.append(element('p', { class: 'note' }, error.lanes.slice(0, 8).join('; ')));
    }
    parts.push(box);
  }
  for (const { kind, message, line } of findings ?? []) {
    parts.push(element('div', { class: 'error' }, `${kind}: ${message} `, link(`line ${line + 1}`, line)));
  }
  return parts;
}

function buffers({ buffers: found }: Preview): HTMLElement[] {
  if (!found?.length) {
    return [];
  }
  return found.flatMap(({ name, displayName, type, count, before, after }) => {
    const row = (title: string, cells: string[], other: string[]): HTMLElement =>
      element(
        'tr',
        {},
        element('th', { scope: 'row' }, title),
        ...cells.map((cell, index) => element('td', { class: cell === other[index] ? '' : 'changed' }, cell)),
      );
    const head = element('tr', {}, element('th', {}, ''), ...after.map((_, index) => element('th', {}, String(index))));
    const more = count > after.length ? `, the first ${after.length}` : '';
    return [
      element('h2', { title: name }, `${displayName ?? name}: ${type}[${count}]${more}`),
      element('div', { class: 'scroll' }, element('table', {}, head, row('before', before, before), row('after', after, before))),
    ];
  });
}

function values({ values: found }: Preview): HTMLElement[] {
  if (!found?.length) {
    return [];
  }
  const lanes = Math.max(...found.map(({ lanes: given }) => given.length));
  const head = element(
    'tr',
    {},
    element('th', {}, 'line'),
    element('th', {}, 'register'),
    ...Array.from({ length: lanes }, (_, lane) => element('th', {}, String(lane))),
  );
  const rows = found.map(({ line, name, type, lanes: given }) =>
    element(
      'tr',
      { title: type },
      element('td', {}, link(String(line + 1), line)),
      element('td', {}, name),
      ...given.map((value) => element('td', {}, value ?? '·')),
    ),
  );
  return [
    element('h2', {}, 'Values last written by the lanes of the first warp'),
    element('div', { class: 'scroll' }, element('table', {}, head, ...rows)),
  ];
}

function link(text: string, line: number): HTMLElement {
  const created = element('button', { type: 'button', class: 'link' }, text);
  created.addEventListener('click', () => post({ kind: 'revealLine', line }));
  return created;
}
