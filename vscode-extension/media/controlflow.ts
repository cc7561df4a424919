/** The control flow graph, laid out by the server; clicking a block reveals its code. */

import type { What } from '../src/messages.js';
import type { ControlFlow, FlowBlock, FlowGroup } from '../src/protocol.js';
import { draw, MARGIN } from './flow/drawing.js';
import { Minimap, type Marks } from './flow/minimap.js';
import { element, onData, onTheme, post } from './page.js';

const ZOOM_STEP = 1.25;
const LEAST_ZOOM = 0.05;
const MOST_ZOOM = 3;
/** Milliseconds to wait after a key before searching. */
const PAUSE = 150;

let zoom = 1;
let follows = true;
let query = '';
let line: number | null = null;
/** The numbers of the boxes that the search found, in the order of the text, and which of them is shown. */
let hits: number[] = [];
let hit = -1;
let shown: { data: ControlFlow; what: What; flow: HTMLElement; picture: SVGElement; minimap: Minimap } | undefined;
/** The box that stays where it is when a group is collapsed or expanded. */
let anchor: number | undefined;

onData<ControlFlow>(
  (page, data, state) => {
    const before = shown;
    const place = before && anchor !== undefined ? placeOf(before.data, anchor, before.flow) : undefined;
    const [left, top] = [before?.flow.scrollLeft ?? 0, before?.flow.scrollTop ?? 0];
    const picture = draw(data, toggle);
    const flow = element('div', { class: 'flow' }, picture);
    const minimap = new Minimap(flow, data, marks);
    shown = { data, what: (state as { what?: What }).what ?? {}, flow, picture, minimap };
    page.replaceChildren(toolbar(data), element('div', { class: 'stage' }, flow, minimap.canvas));
    moveByKeys(flow);
    resize(zoom);
    if (before?.data.kernel !== data.kernel) {
      query = '';
      hits = [];
      line = null;
      flow.scrollTo(centre(data.blocks[0]) - flow.clientWidth / 2, 0);
    } else if (place && anchor !== undefined) {
      const [x, y] = placeOf(data, anchor, flow) ?? [left + place[0], top + place[1]];
      flow.scrollTo(x - place[0], y - place[1]);
    } else {
      flow.scrollTo(left, top);
    }
    anchor = undefined;
    search();
    mark();
  },
  (message) => {
    if (message.kind === 'cursor') {
      const isNew = message.line !== line;
      line = message.line;
      mark();
      if (isNew && follows) {
        goTo(here());
      }
    } else if (message.kind === 'found' && message.query === query) {
      found(message.lines);
    }
  },
);
onTheme(() => shown?.minimap.draw());
new ResizeObserver(() => shown?.minimap.draw()).observe(document.body);

function toolbar(data: ControlFlow): HTMLElement {
  const { divergent, unknown, uniform } = data.branches;
  const button = (id: string, text: string, says: string, act: () => void): HTMLElement => {
    const created = element('button', { type: 'button', id, title: says, 'aria-label': says }, text);
    created.addEventListener('click', act);
    return created;
  };
  const fit = (): number => {
    const { clientWidth, clientHeight } = shown?.flow ?? document.body;
    return Math.min(1, clientWidth / (data.width + 2 * MARGIN), clientHeight / (data.height + 2 * MARGIN));
  };
  const boxes = data.blocks.length - 1;
  const follow = element('input', { type: 'checkbox', id: 'follow', checked: follows });
  follow.addEventListener('change', () => {
    follows = follow.checked;
    if (follows) {
      goTo(here());
    }
  });
  return element(
    'div',
    { class: 'legend' },
    element(
      'span',
      { class: 'buttons' },
      button('smaller', '\u2212', 'Smaller', () => resize(zoom / ZOOM_STEP)),
      button('larger', '+', 'Larger', () => resize(zoom * ZOOM_STEP)),
      button('fit', 'Fit', 'Show the whole graph', () => resize(fit())),
      button('real', '100 %', 'Real size', () => resize(1)),
      ...(data.groups.length
        ? [
            button('collapse', 'Collapse', 'Draw runs, short branches and loops as one box each', () => ask('all', [])),
            button('expand', 'Expand', 'Draw every block', () => ask('none', [])),
          ]
        : []),
    ),
    finder(),
    element('label', { title: 'Show the block at the cursor' }, follow, 'Follow the cursor'),
    element('span', {}, `${data.count} block${data.count === 1 ? '' : 's'}${boxes < data.count ? ` in ${boxes} boxes` : ''}`),
    element('span', { class: divergent ? 'divergent' : '' }, `${divergent} divergent branch${divergent === 1 ? '' : 'es'}`),
    element('span', { class: unknown ? 'unknown' : '' }, `${unknown} unknown`),
    element('span', {}, `${uniform} uniform`),
    element('span', { class: 'taken' }, 'green: taken'),
  );
}

// -- search ---------------------------------------------------------------------------------------

function finder(): HTMLElement {
  const input = element('input', {
    type: 'search',
    id: 'find',
    placeholder: 'Find in the kernel',
    'aria-label': 'Find blocks by their code',
    value: query,
  });
  let pause = 0;
  input.addEventListener('input', () => {
    query = input.value;
    hit = -1;
    window.clearTimeout(pause);
    pause = window.setTimeout(search, PAUSE);
  });
  input.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && hits.length) {
      event.preventDefault();
      hit = (Math.max(hit, event.shiftKey ? 0 : -1) + (event.shiftKey ? hits.length - 1 : 1)) % hits.length;
      mark();
      goTo(hits[hit]);
    }
  });
  return element('span', { class: 'find' }, input, element('output', { for: 'find', id: 'hits' }));
}

/** The extension finds the lines: a box shows only some of its code. */
function search(): void {
  if (query) {
    post({ kind: 'find', query });
  } else {
    found([]);
  }
}

/** Whether one of the rising numbers `lines` lies between both, inclusively. */
function hasBetween(lines: readonly number[], first: number, last: number): boolean {
  let [low, high] = [0, lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((lines[middle] ?? 0) < first) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return (lines[low] ?? Infinity) <= last;
}

function found(lines: readonly number[]): void {
  const wanted = query.toLowerCase();
  const has = ({ lineRanges, label }: FlowBlock): boolean =>
    label.toLowerCase().includes(wanted) || lineRanges.some(([first, last]) => hasBetween(lines, first, last));
  const before = hits[hit];
  hits = query ? (shown?.data.blocks.filter(has).map(({ id }) => id) ?? []) : [];
  hit = before === undefined ? -1 : hits.indexOf(before);
  if (query && hit < 0 && hits.length) {
    hit = 0;
    goTo(hits[0]);
  }
  mark();
}

// -- groups ---------------------------------------------------------------------------------------

function toggle(group: FlowGroup): void {
  const { collapse, toggled } = shown?.what ?? {};
  const keys = Array.isArray(toggled) ? toggled : [];
  anchor = group.block;
  const changed = keys.includes(group.key) ? keys.filter((key) => key !== group.key) : [...keys, group.key];
  ask(String(collapse ?? 'none'), changed);
}

function ask(collapse: string, toggled: string[]): void {
  post({ kind: 'ask', what: { ...shown?.what, collapse, toggled } });
}

// -- what is marked and where it is ---------------------------------------------------------------

/** The box at the cursor: that of its line, or of the next line with code. */
function here(): number | undefined {
  const at = line;
  if (at === null) {
    return undefined;
  }
  let best: { id: number; first: number; last: number } | undefined;
  let start = Infinity;
  for (const { id, lineRanges } of shown?.data.blocks ?? []) {
    for (const [first, last] of lineRanges) {
      start = Math.min(start, first);
      if (last >= at && (!best || last < best.last)) {
        best = { id, first, last };
      }
    }
  }
  return start <= at ? best?.id : undefined;
}

function marks(): Marks {
  const found: Marks = new Map(hits.map((id) => [id, 'hit']));
  const current = here();
  return current === undefined ? found : found.set(current, 'here');
}

function mark(): void {
  if (!shown) {
    return;
  }
  const [current, chosen] = [here(), hits[hit]];
  const set = new Set(hits);
  for (const { id } of shown.data.blocks) {
    const { classList } = document.getElementById(`block-${id}`) ?? document.body;
    classList.toggle('here', id === current);
    classList.toggle('hit', set.has(id));
    classList.toggle('chosen', id === chosen);
  }
  for (const edge of shown.picture.querySelectorAll<SVGElement>('.edge')) {
    const { from, to } = edge.dataset;
    edge.classList.toggle('near', current !== undefined && (from === String(current) || to === String(current)));
  }
  const count = document.getElementById('hits');
  if (count) {
    count.textContent = query ? (hits.length ? `${hit + 1} of ${hits.length}` : 'none') : '';
  }
  shown.minimap.draw();
}

function resize(to: number): void {
  if (!shown) {
    return;
  }
  const { flow, picture, data } = shown;
  const wanted = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, to));
  const factor = wanted / zoom;
  const [x, y] = [flow.scrollLeft + flow.clientWidth / 2, flow.scrollTop + flow.clientHeight / 2];
  zoom = wanted;
  picture.setAttribute('width', String((data.width + 2 * MARGIN) * zoom));
  picture.setAttribute('height', String((data.height + 2 * MARGIN) * zoom));
  if (factor !== 1) {
    flow.scrollTo(x * factor - flow.clientWidth / 2, y * factor - flow.clientHeight / 2);
  }
  shown.minimap.draw();
}

/** Brings a box into view, in the middle if it was not visible. */
function goTo(id: number | undefined): void {
  const block = shown?.data.blocks.find((one) => one.id === id);
  if (!shown || !block) {
    return;
  }
  const { flow } = shown;
  const top = (block.y + MARGIN) * zoom;
  const [left, width, height] = [centre(block) - (block.width * zoom) / 2, block.width * zoom, block.height * zoom];
  const isVisible =
    top >= flow.scrollTop &&
    top + Math.min(height, flow.clientHeight) <= flow.scrollTop + flow.clientHeight &&
    left >= flow.scrollLeft &&
    left + Math.min(width, flow.clientWidth) <= flow.scrollLeft + flow.clientWidth;
  if (!isVisible) {
    const y = height > flow.clientHeight ? top - MARGIN : top + height / 2 - flow.clientHeight / 2;
    flow.scrollTo(centre(block) - flow.clientWidth / 2, y);
  }
}

function centre(block: FlowBlock | undefined): number {
  return ((block?.x ?? 0) + (block?.width ?? 0) / 2 + MARGIN) * zoom;
}

/** Where a box begins on the screen. */
function placeOf(data: ControlFlow, id: number, flow: HTMLElement): [number, number] | undefined {
  const block = data.blocks.find((one) => one.id === id);
  return block && [centre(block) - flow.scrollLeft, (block.y + MARGIN) * zoom - flow.scrollTop];
}

/** Tab focuses the graph once; arrow keys move between blocks. */
function moveByKeys(flow: HTMLElement): void {
  const blocks = [...flow.querySelectorAll<SVGElement>('.block')];
  blocks[0]?.setAttribute('tabindex', '0');
  flow.addEventListener('focusin', ({ target }) => {
    for (const block of blocks) {
      block.setAttribute('tabindex', block === target ? '0' : '-1');
    }
  });
  flow.addEventListener('keydown', (event) => {
    const at = blocks.findIndex((block) => block === document.activeElement);
    const to = { ArrowDown: at + 1, ArrowRight: at + 1, ArrowUp: at - 1, ArrowLeft: at - 1, Home: 0, End: blocks.length - 1 }[
      event.key
    ];
    if (at >= 0 && to !== undefined) {
      event.preventDefault();
      blocks[to]?.focus({ preventScroll: true });
      blocks[to]?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    }
  });
}
