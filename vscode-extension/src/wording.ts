/** Metrics as text; `?` stands for an unknown value. An estimate has `~` and says so. */

import type { DynamicShared, Kernel, PtxasState } from './protocol.js';

/** As ptxas measured them, else the estimate with its interval. */
export function registersInShort(kernel: Kernel): string {
  const { measured } = kernel;
  return typeof measured?.registers === 'number' ? `${measured.registers} registers` : estimated(kernel).replace(', estimated', '');
}

/** The same, and the spills that ptxas measured. */
export function registers(kernel: Kernel): string {
  const { measured } = kernel;
  return typeof measured?.registers === 'number' ? measuredRegisters(measured) : estimated(kernel);
}

export function branches({ branches: { divergent, uniform, unknown } }: Kernel): string {
  const words: [number | null, string][] = [
    [divergent, 'divergent'],
    [uniform, 'uniform'],
    [unknown, 'unknown'],
  ];
  const parts = words.filter(([count]) => count !== 0).map(([count, word]) => `${count ?? '?'} ${word}`);
  return parts.join(', ') || 'none';
}

export function measuredRegisters(measured: NonNullable<Kernel['measured']>): string {
  return `${measured.registers ?? '?'} registers, ${spills(measured)} (ptxas ${measured.ptxas})`;
}

/** The estimate with its interval. */
export function estimated({ registers: { estimate, low, high } }: Kernel): string {
  if (estimate === null) {
    return '? registers';
  }
  const interval = low !== null && high !== null && low !== high ? `${low} to ${high}, ` : '';
  return `~${estimate} registers (${interval}estimated)`;
}

export function spills({ spillStoreBytes: stores, spillLoadBytes: loads }: NonNullable<Kernel['measured']>): string {
  return stores || loads ? `spills ${stores ?? 0} bytes, reloads ${loads ?? 0}` : '0 spills';
}

/** The state of ptxas for a file, in words. */
export function ptxasState({ state, version, problem }: PtxasState): string {
  switch (state) {
    case 'measured':
      return `ptxas ${version ?? ''}`;
    case 'running':
      return 'ptxas is running';
    case 'off':
      return problem ? `no ptxas: ${problem}` : 'ptxas is turned off';
    default:
      return problem ?? 'ptxas failed';
  }
}

/** Shortens a name: C++ names can have hundreds of letters. The last part of a demangled name says most. */
export function short(qualified: string): string {
  const name = /(?:^|::)([^:]+)$/.exec(qualified)?.[1] ?? qualified;
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

/** `1 member`, `2 members`. */
export function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}

/** The size of a text: `812 bytes`, `12.3 KiB`. */
export function fileSize(size: number): string {
  if (size < 1024) {
    return counted(size, 'byte');
  }
  const [unit, factor] = size < 1 << 20 ? (['KiB', 1 << 10] as const) : (['MiB', 1 << 20] as const);
  return `${(size / factor).toFixed(1)} ${unit}`;
}
