/** An overview of a graph that does not fit, beside it: its boxes, and the part that is visible. */

import type { ControlFlow } from '../../src/protocol.js';
import { element, themed } from '../page.js';

const MOST_WIDTH = 120;
/** The part of the pane's width that the overview may take. */
const MOST_SHARE = 0.2;
const LEAST_BOX = 1.5;

/** Marks of boxes, by the box's number. */
export type Marks = Map<number, 'here' | 'hit'>;

export class Minimap {
  readonly canvas = element('canvas', { class: 'minimap', 'aria-hidden': 'true' });
  private scale = 1;

  constructor(
    private readonly flow: HTMLElement,
    private readonly data: ControlFlow,
    private readonly marks: () => Marks,
  ) {
    const drag = (event: PointerEvent): void => {
      if (event.buttons) {
        const { left, top } = this.canvas.getBoundingClientRect();
        const factor = this.flow.scrollHeight / this.canvas.clientHeight;
        const across = this.flow.scrollWidth / this.canvas.clientWidth;
        this.flow.scrollTo(
          (event.clientX - left) * across - this.flow.clientWidth / 2,
          (event.clientY - top) * factor - this.flow.clientHeight / 2,
        );
      }
    };
    this.canvas.addEventListener('pointerdown', (event) => {
      this.canvas.setPointerCapture(event.pointerId);
      drag(event);
    });
    this.canvas.addEventListener('pointermove', drag);
    flow.addEventListener('scroll', () => this.draw());
  }

  draw(): void {
    const { flow, data, canvas } = this;
    const most = canvas.parentElement?.clientWidth ?? 0; // also what it takes itself
    const fits = flow.scrollHeight <= flow.clientHeight + 1 && flow.scrollWidth <= most + 1;
    canvas.hidden = fits || !data.blocks.length;
    if (canvas.hidden) {
      return;
    }
    this.scale = Math.min(Math.min(MOST_WIDTH, most * MOST_SHARE) / data.width, (flow.clientHeight - 2) / data.height);
    const [width, height] = [Math.max(24, data.width * this.scale), data.height * this.scale];
    const dots = window.devicePixelRatio;
    canvas.width = width * dots;
    canvas.height = height * dots;
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
    const ink = canvas.getContext('2d');
    if (!ink) {
      return;
    }
    ink.scale(dots, dots);
    this.boxes(ink, width / data.width);
    ink.strokeStyle = themed('focusBorder', '#3794ff');
    ink.lineWidth = 1.5;
    const [across, down] = [width / flow.scrollWidth, height / flow.scrollHeight];
    ink.strokeRect(
      flow.scrollLeft * across + 1,
      flow.scrollTop * down + 1,
      Math.min(width, flow.clientWidth * across) - 2,
      Math.max(4, Math.min(height, flow.clientHeight * down) - 2),
    );
  }

  private boxes(ink: CanvasRenderingContext2D, across: number): void {
    const colors = {
      plain: themed('descriptionForeground', '#888888'),
      divergent: themed('charts-red', '#f14c4c'),
      here: themed('focusBorder', '#3794ff'),
      hit: themed('charts-yellow', '#cca700'),
    };
    const marks = this.marks();
    for (const { id, x, y, width, height, branch } of this.data.blocks) {
      const mark = marks.get(id);
      ink.fillStyle = mark ? colors[mark] : branch === 'divergent' ? colors.divergent : colors.plain;
      ink.globalAlpha = mark ? 1 : 0.6;
      const wide = mark ? 3 : 0;
      ink.fillRect(
        x * across - wide,
        y * this.scale,
        Math.max(LEAST_BOX, width * across) + 2 * wide,
        Math.max(mark ? 3 : LEAST_BOX, height * this.scale),
      );
    }
    ink.globalAlpha = 1;
  }
}
