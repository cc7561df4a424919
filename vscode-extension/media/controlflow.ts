/** The control flow graph, as the server has laid it out; a block goes to its code. */

import type { ControlFlow, FlowBlock, FlowEdge } from '../src/protocol.js';
import { element, onData, svg, tell } from './page.js';

const LINE = 15;
const MARGIN = 16;

onData<ControlFlow>((page, data) => {
  const picture = svg(
    'svg',
    {
      width: data.width + 2 * MARGIN,
      height: data.height + 2 * MARGIN,
      viewBox: `${-MARGIN} ${-MARGIN} ${data.width + 2 * MARGIN} ${data.height + 2 * MARGIN}`,
      role: 'group',
      'aria-label': `Control flow of ${data.kernel}`,
    },
    arrow(),
    ...data.edges.map(drawEdge),
    ...data.blocks.map(drawBlock),
  );
  page.replaceChildren(legend(data), element('div', { class: 'flow' }, picture));
});

function legend(data: ControlFlow): HTMLElement {
  const count = (verdict: string): number => data.blocks.filter(({ branch }) => branch === verdict).length;
  return element(
    'p',
    { class: 'legend' },
    element('span', {}, `${data.blocks.length} blocks`),
    element('span', { class: 'divergent' }, `${count('divergent')} divergent branches`),
    element('span', { class: 'unknown' }, `${count('unknown')} unknown`),
    element('span', {}, `${count('uniform')} uniform`),
    element('span', { class: 'taken' }, 'green: taken'),
  );
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
  const { x, y, width, height, label, lines, branch, reasons } = block;
  const says = [label, branch && `${branch} branch`, ...reasons].filter(Boolean).join('; ');
  const group = svg(
    'g',
    { class: `block ${branch ?? ''}`, tabindex: 0, role: 'button', 'aria-label': says },
    svg('title', {}, says),
    svg('rect', { x, y, width, height, rx: 3 }),
    ...lines.map((line, index) => svg('text', { x: x + 8, y: y + LINE * (index + 1), 'xml:space': 'preserve' }, line)),
  );
  const go = (): void => tell({ kind: 'reveal', range: block.range });
  group.addEventListener('click', go);
  group.addEventListener('keydown', (event) => {
    if (event instanceof KeyboardEvent && (event.key === 'Enter' || event.key === ' ')) {
      event.preventDefault();
      go();
    }
  });
  return group;
}
