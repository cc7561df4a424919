/** Pairs of kernels: figures that changed, instructions and findings. */

import type { Change, Compared, Comparison, Pair } from '../src/protocol.js';
import { ptxasState } from '../src/wording.js';
import { element, onData, post } from './page.js';

type Shown = Comparison & { oldName: string; newName: string };

const MOST_SPELLINGS = 12;
const MINUS = '\u2212';
const ARROW = '\u2192';
let all = false;

onData<Shown>(function draw(page, data) {
  const toggle = element('input', { type: 'checkbox', id: 'all', checked: all });
  toggle.addEventListener('change', () => {
    all = toggle.checked;
    draw(page, data);
    document.getElementById('all')?.focus();
  });
  const same = data.pairs.filter((pair) => pair.same).length;
  const worse = data.pairs.filter((pair) => pair.worse).length;
  const counts = [`${data.pairs.length} compared`, `${same} the same`, `${worse} worse`, `${data.new.length} new`, `${data.gone.length} gone`];
  page.replaceChildren(
    element('h1', {}, `${data.oldName} ${ARROW} ${data.newName}`),
    element('p', { class: 'legend' }, `Kernels: ${counts.join(', ')}.`, element('label', {}, toggle, ' Show all')),
    ...(data.complete ? [] : [element('p', { class: 'note' }, 'Findings are still being computed.')]),
    ...unmeasured(data),
    ...data.pairs.filter((pair) => all || !pair.same).flatMap((pair) => section(pair, `by ${versions(data)}`)),
    ...names('New', data.new),
    ...names('Gone', data.gone),
  );
});

/** Why figures are estimates, if ptxas was to measure them. */
function unmeasured({ ptxas, oldName, newName }: Shown): HTMLElement[] {
  if (!ptxas || ptxas.new.state === 'off' || ptxas.new.state === 'absent') {
    return [];
  }
  const missing = [...new Map([[oldName, ptxas.old], [newName, ptxas.new]])].filter(([, { state }]) => state !== 'measured');
  const words = missing.map(([name, state]) => `${name}: ${ptxasState(state)}`);
  return words.length ? [element('p', { class: 'note', id: 'unmeasured' }, `Registers and occupancy are estimates. ${words.join('; ')}`)] : [];
}

/** The release of ptxas, or both if they differ. */
function versions({ ptxas }: Shown): string {
  const known = new Set([ptxas?.old.version, ptxas?.new.version].filter(Boolean));
  return known.size ? `ptxas ${[...known].join(', ')}` : 'ptxas';
}

function nameOf({ kernel, displayName }: Compared): string {
  return displayName ?? kernel;
}

function section(pair: Pair, ptxas: string): HTMLElement[] {
  const title = element('button', { type: 'button', class: 'link', title: `${pair.new.kernel}: show both texts` }, nameOf(pair.new));
  title.addEventListener('click', () => post({ kind: 'diff', oldLine: pair.old.line, newLine: pair.new.line }));
  const was = pair.old.kernel === pair.new.kernel ? '' : ` (was ${nameOf(pair.old)}, ${Math.round(100 * pair.likeness)} % alike)`;
  const figures = Object.entries(pair.figures).filter(([, change]) => all || change.old !== change.new);
  return [
    element('h2', {}, title, was),
    ...(pair.same ? [element('p', { class: 'note' }, 'No change.')] : []),
    ...(figures.length ? [element('div', { class: 'scroll' }, element('table', {}, ...figures.map(([name, change]) => row(name, change, ptxas))))] : []),
    ...differences('Instructions', pair.instructions, ''),
    ...differences('Findings', pair.findings, 'worse'),
  ];
}

function row(name: string, change: Change, ptxas: string): HTMLElement {
  const verdict = change.worse ? 'worse' : change.better ? 'better' : '';
  const known = change.old !== null && change.new !== null && change.old !== change.new;
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, name),
    element('td', {}, shown(change.old, change, 0)),
    element('td', {}, ARROW),
    element('td', {}, shown(change.new, change, 1)),
    element('td', { class: verdict }, known ? signed(change.new! - change.old!) : ''),
    element('td', { class: verdict }, verdict),
    element('td', { class: 'note', title: change.says === 'measured' ? ptxas : '' }, change.says),
  );
}

/** A value before (0) or after (1), an estimate with its interval. */
function shown(value: number | null, { says, unit, intervals }: Change, side: 0 | 1): string {
  const interval = intervals?.[side];
  const ends = interval ? ` (${interval[0]} to ${interval[1]})` : '';
  return value === null ? '?' : `${says === 'estimated' ? '~' : ''}${Number(value.toFixed(1))}${unit && ` ${unit}`}${ends}`;
}

function signed(value: number): string {
  return value < 0 ? `${MINUS}${Number((-value).toFixed(1))}` : `+${Number(value.toFixed(1))}`;
}

/** Counts that changed; more is marked with `worse`. */
function differences(title: string, found: Record<string, number>, worse: string): HTMLElement[] {
  const rows = Object.entries(found);
  if (!rows.length) {
    return [];
  }
  const cells = rows.slice(0, all ? rows.length : MOST_SPELLINGS).map(([name, number]) =>
    element('li', { class: worse && (number > 0 ? worse : 'better') }, `${signed(number)} `, element('code', {}, name)),
  );
  const rest = rows.length - cells.length;
  return [
    element('h3', {}, title),
    element('ul', { class: 'differences' }, ...cells, ...(rest ? [element('li', {}, `and ${rest} more`)] : [])),
  ];
}

function names(title: string, found: Compared[]): HTMLElement[] {
  return found.length ? [element('h2', {}, title), element('ul', {}, ...found.map((one) => element('li', { title: one.kernel }, element('code', {}, nameOf(one)))))] : [];
}
