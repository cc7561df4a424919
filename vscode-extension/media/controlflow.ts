/** The control flow graph, laid out by the server; clicking a block reveals its code. */

import type { ControlFlow, FlowBlock, FlowEdge } from '../src/protocol.js';
import { element, onData, svg, post } from './page.js';

const LINE = 15;
const MARGIN = 16;
const ZOOM_STEP = 1.25;
const LEAST_ZOOM = 0.05;
const MOST_ZOOM = 3;

let zoom = 1;
let kernel = '';

onData<ControlFlow>((page, data) => {
  const before = page.querySelector('.flow');
  const [left, top] = [before?.scrollLeft ?? 0, before?.scrollTop ?? 0];
  const picture = draw(data);
  const flow = element('div', { class: 'flow' }, picture);
  page.replaceChildren(toolbar(data, flow, picture), flow);
  moveByKeys(flow);
  resize(picture, data, zoom);
  if (kernel === data.kernel) {
    flow.scrollTo(left, top);
  } else {
    kernel = data.kernel;
    const [first] = data.blocks;
    flow.scrollTo(((first?.x ?? 0) + (first?.width ?? 0) / 2 + MARGIN) * zoom - flow.clientWidth / 2, 0);
  }
});

function draw(data: ControlFlow): SVGElement {
  const size = [data.width + 2 * MARGIN, data.height + 2 * MARGIN];
  return svg(
    'svg',
    { viewBox: `${-MARGIN} ${-MARGIN} ${size.join(' ')}`, role: 'group', 'aria-label': `Control flow of ${data.kernel}` },
    arrow(),
    ...data.edges.map(drawEdge),
    ...data.blocks.map(drawBlock),
  );
}

function toolbar(data: ControlFlow, flow: HTMLElement, picture: SVGElement): HTMLElement {
  const count = (verdict: string): number => data.blocks.filter(({ branch }) => branch === verdict).length;
  const divergent = count('divergent');
  const button = (id: string, text: string, says: string, to: () => number): HTMLElement => {
    const created = element('button', { type: 'button', id, title: says, 'aria-label': says }, text);
    created.addEventListener('click', () => resize(picture, data, to()));
    return created;
  };
  const fit = (): number =>
    Math.min(1, flow.clientWidth / (data.width + 2 * MARGIN), flow.clientHeight / (data.height + 2 * MARGIN));
  return element(
    'div',
    { class: 'legend' },
    button('smaller', '\u2212', 'Smaller', () => zoom / ZOOM_STEP),
    button('larger', '+', 'Larger', () => zoom * ZOOM_STEP),
    button('fit', 'Fit', 'Show the whole graph', fit),
    button('real', '100 %', 'Real size', () => 1),
    element('span', {}, `${data.blocks.length} blocks`),
    element('span', { class: 'divergent' }, `${divergent} divergent branch${divergent === 1 ? '' : 'es'}`),
    element('span', { class: 'unknown' }, `${count('unknown')} unknown`),
    element('span', {}, `${count('uniform')} uniform`),
    element('span', { class: 'taken' }, 'green: taken'),
  );
}

function resize(picture: SVGElement, data: ControlFlow, to: number): void {
  zoom = Math.min(MOST_ZOOM, Math.max(LEAST_ZOOM, to));
  picture.setAttribute('width', String((data.width + 2 * MARGIN) * zoom));
  picture.setAttribute('height', String((data.height + 2 * MARGIN) * zoom));
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

function arrow(): SVGElement {
  const tip = svg('path', { d: 'M0 0L8 4L0 8z', fill: 'context-stroke' });
  const marker = { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: 'auto' };
  return svg('defs', {}, svg('marker', marker, tip));
}

function drawEdge({ points, kind }: FlowEdge): SVGElement {
  const d = points.map(([x, y], index) => `${index ? 'L' : 'M'}${x} ${y}`).join('');
  return svg('path', { class: `edge ${kind}`, d, 'marker-end': 'url(#arrow)' });
}

function drawBlock(block: FlowBlock): SVGElement {
  const { id, x, y, width, height, label, lines, branch, reasons } = block;
  const says = [label, branch && `${branch} branch`, ...reasons].filter(Boolean).join('; ');
  const group = svg(
    'g',
    { id: `block-${id}`, class: `block ${branch ?? ''}`, tabindex: -1, role: 'button', 'aria-label': says },
    svg('title', {}, says),
    svg('rect', { x, y, width, height, rx: 3 }),
    ...lines.map((line, index) => svg('text', { x: x + 8, y: y + LINE * (index + 1), 'xml:space': 'preserve' }, line)),
  );
  const go = (): void => post({ kind: 'reveal', range: block.range });
  group.addEventListener('click', go);
  group.addEventListener('keydown', (event) => {
    if (event instanceof KeyboardEvent && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      go();
    }
  });
  return group;
}
