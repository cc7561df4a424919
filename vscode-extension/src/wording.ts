/** Metrics as text; `?` stands for an unknown value and `~` for an estimate. */

import type { DynamicShared, Kernel } from './protocol.js';

export function registersInShort({ registers: { estimate } }: Kernel): string {
  return estimate === null ? '? registers' : `~${estimate} registers`;
}

/** With the estimate's interval. */
export function registers(kernel: Kernel): string {
  const { estimate, low, high } = kernel.registers;
  const interval = estimate !== null && low !== null && high !== null && low !== high ? ` (${low} to ${high})` : '';
  return registersInShort(kernel) + interval;
}

/** Shortens a name: C++ names can have hundreds of letters. */
export function short(name: string): string {
  return name.length > LONGEST ? `${name.slice(0, LONGEST / 2)}\u2026${name.slice(1 - LONGEST / 2)}` : name;
}
const LONGEST = 24;

export function occupancy({ occupancy: { percent: known }, dynamicShared }: Kernel): string {
  const bound = known !== null && dynamicShared?.bytes === null ? 'at most ' : '';
  return `${bound}${percent(known)} occupancy`;
}

/** With at most one decimal place, as everywhere. */
export function percent(value: number | null): string {
  return value === null ? '? %' : `${Number(value.toFixed(1))} %`;
}

/** Dynamic shared memory, and what says so. */
export function dynamicShared(found: DynamicShared | null): string {
  if (!found || found.source === 'none') {
    return 'none';
  }
  return found.bytes === null ? 'unknown' : `${bytes(found.bytes)} (${found.source})`;
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
  const parts = words.filter(([count]) => count).map(([count, word]) => `${count} ${word}${count > 1 ? 's' : ''}`);
  return parts.join(', ') || 'no findings';
}
