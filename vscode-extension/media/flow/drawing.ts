/** The control flow graph as SVG. */

import type { ControlFlow, FlowBlock, FlowEdge, FlowGroup } from '../../src/protocol.js';
import { post, svg } from '../page.js';

const LINE = 16;
const FIRST_LINE = 17;
const PADDING = 8;
const SIGN = 14;
export const MARGIN = 16;

export function draw(data: ControlFlow, toggle: (group: FlowGroup) => void): SVGElement {
  const size = [data.width + 2 * MARGIN, data.height + 2 * MARGIN];
  const groups = groupsByBox(data);
  return svg(
    'svg',
    { viewBox: `${-MARGIN} ${-MARGIN} ${size.join(' ')}`, role: 'group', 'aria-label': `Control flow of ${data.kernel}` },
    arrow(),
    ...data.edges.map(drawEdge),
    ...data.blocks.map((block) => drawBlock(block, groups.get(block.id) ?? [], toggle)),
  );
}

/** The groups that a box can collapse to, or that it stands for. */
function groupsByBox({ blocks, groups }: ControlFlow): Map<number, FlowGroup[]> {
  const drawn = new Map(blocks.map(({ id, group }) => [id, group]));
  const found = new Map<number, FlowGroup[]>();
  for (const group of groups) {
    const shown = drawn.get(group.block);
    if (shown !== undefined && (group.isCollapsed ? shown === group.key : shown === null)) {
      found.set(group.block, [...(found.get(group.block) ?? []), group]);
    }
  }
  return found;
}

function arrow(): SVGElement {
  const tip = svg('path', { d: 'M0 0L8 4L0 8z', fill: 'context-stroke' });
  const marker = { id: 'arrow', viewBox: '0 0 8 8', refX: 7, refY: 4, markerWidth: 8, markerHeight: 8, orient: 'auto', markerUnits: 'userSpaceOnUse' };
  return svg('defs', {}, svg('marker', marker, tip));
}

function drawEdge({ from, to, points, kind, condition }: FlowEdge): SVGElement {
  const d = points.map(([x, y], index) => `${index ? 'L' : 'M'}${x} ${y}`).join('');
  const [x, y] = points[0] ?? [0, 0];
  return svg(
    'g',
    { class: `edge ${kind}`, 'data-from': from, 'data-to': to },
    svg('path', { d, 'marker-end': 'url(#arrow)' }),
    ...(condition ? [svg('text', { x: x + 3, y: y + 10 }, condition)] : []),
  );
}

function drawBlock(block: FlowBlock, groups: FlowGroup[], toggle: (group: FlowGroup) => void): SVGElement {
  const { id, x, y, width, height, label, lines, branch, reasons } = block;
  const says = [label, branch && `${branch} branch`, ...reasons].filter(Boolean).join('; ');
  const title = (line: string, index: number): SVGElement =>
    svg(
      'text',
      { x: x + PADDING, y: y + FIRST_LINE + LINE * index, class: index ? '' : 'title', 'xml:space': 'preserve' },
      line,
    );
  const created = svg(
    'g',
    {
      id: `block-${id}`,
      class: `block ${branch ?? ''} ${block.group ? 'collapsed' : ''}`,
      tabindex: -1,
      role: 'button',
      'aria-label': says,
    },
    svg('title', {}, says),
    ...(block.group ? [svg('rect', { x: x + 4, y: y + 4, width, height, rx: 3, class: 'under' })] : []),
    svg('rect', { x, y, width, height, rx: 3 }),
    ...lines.map(title),
    ...groups.map((group, index) => sign(group, x + width + 6 + index * (SIGN + 2), y, () => toggle(group))),
  );
  const go = (): void => post({ kind: 'reveal', range: block.range });
  created.addEventListener('click', go);
  created.addEventListener('keydown', (event) => {
    const group = groups.find(({ isCollapsed }) => (event.key === '+' ? isCollapsed : event.key === '-' && !isCollapsed));
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      go();
    } else if (group) {
      event.preventDefault();
      toggle(group);
    }
  });
  return created;
}

const NAMES = { run: 'blocks in a row', branches: 'blocks with short branches', loop: 'blocks of the loop' };

/** The button that collapses or expands a group. */
function sign({ isCollapsed, kind, count, key }: FlowGroup, x: number, y: number, act: () => void): SVGElement {
  const says = `${isCollapsed ? 'Expand' : 'Collapse'} ${count} ${NAMES[kind]}`;
  const created = svg(
    'g',
    { class: 'sign', role: 'button', 'aria-label': says, 'data-key': key },
    svg('title', {}, says),
    svg('rect', { x, y, width: SIGN, height: SIGN, rx: 2 }),
    svg('path', {
      d: `M${x + 3} ${y + SIGN / 2}h${SIGN - 6}${isCollapsed ? `M${x + SIGN / 2} ${y + 3}v${SIGN - 6}` : ''}`,
    }),
  );
  created.addEventListener('click', (event) => {
    event.stopPropagation();
    act();
  });
  return created;
}
