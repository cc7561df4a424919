/** Occupancy plotted over block size, registers and shared memory, with sliders to vary them. */

import {
  Chart,
  Filler,
  LinearScale,
  LineController,
  LineElement,
  PointElement,
  Tooltip,
  type ChartConfiguration,
} from 'chart.js';
import { color } from 'chart.js/helpers';

import type { Interval, OccupancyCurve, Shape } from '../src/protocol.js';
import { dynamicShared, percent } from '../src/wording.js';
import { element, onData, onTheme, post, themed } from './page.js';

Chart.register(LineController, LineElement, PointElement, LinearScale, Filler, Tooltip);

const AXES: Record<keyof Shape, { name: string; step: number; least: number }> = {
  threads: { name: 'Threads per block', step: 32, least: 32 },
  registers: { name: 'Registers per thread', step: 1, least: 16 },
  sharedBytes: { name: 'Shared memory per block (bytes)', step: 128, least: 0 },
};
const NAMES = Object.keys(AXES) as (keyof Shape)[];

let charts: Chart[] = [];
let shown: OccupancyCurve | undefined;

onData<OccupancyCurve>((page, data) => {
  shown = data;
  page.replaceChildren(controls(data), metrics(data), steps(data), plots(data));
  draw(data);
});
onTheme(() => shown && draw(shown));

/** The sliders and the choice of a target; each change is requested from the server. */
function controls(data: OccupancyCurve): HTMLElement {
  const target = element('select', { id: 'target', 'aria-label': 'Target' });
  for (const name of data.targets) {
    target.append(element('option', { value: name, selected: name === data.target }, name));
  }
  target.addEventListener('change', () => ask(data, { target: target.value }));
  const back = element('button', { type: 'button', id: 'back' }, 'Reset to the kernel');
  back.addEventListener('click', () => post({ kind: 'ask', what: {} }));
  const box = element(
    'section',
    { class: 'controls', 'aria-label': 'What if' },
    element('label', { for: 'target' }, 'Target'),
    target,
    back,
  );
  for (const name of NAMES) {
    box.append(...slider(data, name));
  }
  return box;
}

function slider(data: OccupancyCurve, name: keyof Shape): HTMLElement[] {
  const { step, least } = AXES[name];
  const input = element('input', {
    type: 'range',
    id: name,
    min: least,
    max: data.limits[name],
    step,
    value: data.point[name],
  });
  const value = element('output', { for: name }, String(data.point[name]));
  input.addEventListener('input', () => (value.textContent = input.value));
  input.addEventListener('change', () => ask(data, { [name]: Number(input.value) }));
  return [element('label', { for: name }, AXES[name].name), input, value];
}

function ask({ target, point }: OccupancyCurve, changed: Record<string, number | string>): void {
  const { threads, registers, sharedBytes } = point;
  post({ kind: 'ask', what: { target, threads, registers, sharedBytes, ...changed } });
}

function metrics({ point, own, interval, limits, registersSource, dynamicShared: dynamic }: OccupancyCurve): HTMLElement {
  const isBound = dynamic?.bytes === null && point.sharedBytes === own.sharedBytes;
  const rows: [string, string][] = [
    ['Occupancy', `${isBound ? 'at most ' : ''}${percent(point.percent)}${between(interval, (one) => one.percent, ' %')}`],
    ['Blocks per SM', `${point.blocksPerSm ?? '?'} of ${limits.blocksPerSm}`],
    ['Warps per SM', `${point.warpsPerSm ?? '?'} of ${limits.warpsPerSm}`],
    ['Limited by', point.limiters?.join(', ') || 'nothing'],
    [`Registers (${registersSource})`, `${point.registers}${between(interval, (one) => one.registers)}`],
    ['Dynamic shared memory', dynamicShared(dynamic)],
  ];
  const list = element('dl', { class: 'metrics', 'aria-live': 'polite' });
  for (const [term, value] of rows) {
    list.append(element('div', {}, element('dt', {}, term), element('dd', {}, value)));
  }
  return list;
}

/** What both ends of the estimate give: ` (62.5 to 75 %)`. */
function between(interval: OccupancyCurve['interval'], figure: (one: Interval) => number | null, unit = ''): string {
  const ends = (interval ?? []).map((one) => figure(one) ?? 0).sort((one, other) => one - other);
  const [low, high] = ends.map((one) => Number(one.toFixed(1)));
  return low === undefined || high === undefined || low === high ? '' : ` (${low} to ${high}${unit})`;
}

function steps(data: OccupancyCurve): HTMLElement {
  const list = element('ul', { class: 'steps' });
  list.append(...data.steps.map((step) => element('li', {}, step)));
  return element('section', { 'aria-label': 'Next steps' }, list);
}

function plots({ point }: OccupancyCurve): HTMLElement {
  const box = element('section', { class: 'charts' });
  for (const name of NAMES) {
    const title = AXES[name].name;
    const says = `Occupancy over ${title}: ${percent(point.percent)} at ${point[name]}`;
    const canvas = element('canvas', { id: `chart-${name}`, role: 'img', 'aria-label': says });
    box.append(element('div', {}, element('h2', {}, title), element('div', { class: 'chart' }, canvas)));
  }
  return box;
}

function draw(data: OccupancyCurve): void {
  for (const chart of charts) {
    chart.destroy();
  }
  charts = NAMES.flatMap((name) => {
    const canvas = document.getElementById(`chart-${name}`);
    return canvas instanceof HTMLCanvasElement ? [new Chart(canvas, plot(data, name))] : [];
  });
}

function plot(data: OccupancyCurve, name: keyof Shape): ChartConfiguration<'line'> {
  const line = themed('charts-blue', '#3794ff');
  const text = themed('foreground', '#888888');
  const grid = color(text).alpha(0.2).rgbString();
  const curve = data.curves[name];
  return {
    type: 'line',
    data: {
      datasets: [
        {
          data: curve.map(([x, , , percent]) => ({ x, y: percent })),
          borderColor: line,
          backgroundColor: color(line).alpha(0.13).rgbString(),
          fill: true,
          stepped: name === 'threads' ? false : 'after',
          pointRadius: 0,
          borderWidth: 2,
        },
        {
          data: [{ x: data.point[name], y: data.point.percent ?? 0 }],
          borderColor: themed('charts-red', '#f14c4c'),
          backgroundColor: themed('charts-red', '#f14c4c'),
          pointRadius: 5,
          clip: false,
        },
      ],
    },
    options: {
      animation: false,
      maintainAspectRatio: false,
      interaction: { mode: 'nearest', axis: 'x', intersect: false },
      scales: {
        x: { type: 'linear', min: 0, max: data.limits[name], ticks: { color: text }, grid: { color: grid } },
        y: { type: 'linear', min: 0, max: 100, ticks: { color: text, callback: (value) => `${value} %` }, grid: { color: grid } },
      },
      plugins: {
        tooltip: {
          callbacks: {
            title: ([item]) => `${item?.parsed.x ?? ''} ${AXES[name].name.toLowerCase()}`,
            label: ({ datasetIndex, dataIndex, parsed }) => {
              const blocks = datasetIndex === 0 ? curve[dataIndex]?.[1] : data.point.blocksPerSm;
              return `${percent(parsed.y)}, ${blocks ?? '?'} blocks`;
            },
          },
        },
      },
    },
  };
}
