/** Figures in words; what is not known is a question mark, what is estimated has a tilde. */

import type { Kernel } from './protocol.js';

export function registers({ registers: { estimate, low, high } }: Kernel): string {
  if (estimate === null) {
    return '? registers';
  }
  const interval = low !== null && high !== null && low !== high ? ` (${low} to ${high})` : '';
  return `~${estimate} registers${interval}`;
}

export function occupancy({ occupancy: { percent } }: Kernel): string {
  return percent === null ? '? % occupancy' : `${Math.round(percent)} % occupancy`;
}

export function bytes(size: number | null): string {
  if (size === null) {
    return '?';
  }
  return size >= 1024 && size % 1024 === 0 ? `${size / 1024} KiB` : `${size} bytes`;
}

export function findings({ findings: counts }: Kernel): string {
  const words: [number, string][] = [
    [counts.error, 'error'],
    [counts.warning, 'warning'],
    [counts.info, 'info'],
    [counts.hint, 'hint'],
  ];
  const told = words.filter(([count]) => count).map(([count, word]) => `${count} ${word}${count > 1 ? 's' : ''}`);
  return told.join(', ') || 'no findings';
}
