import assert from 'node:assert/strict';
import test from 'node:test';

import type { Kernel } from '../../src/protocol.js';
import { branches, bytes, dynamicShared, findings, occupancy, registers, registersInShort, short } from '../../src/wording.js';

const AT = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
const KERNEL: Kernel = {
  name: 'k',
  range: AT,
  selectionRange: AT,
  registers: { estimate: 30, low: 26, high: 34, peakLive: 24, limit: null },
  measured: null,
  sharedBytes: 0,
  dynamicShared: { bytes: 0, source: 'none' },
  localBytes: 0,
  parameterBytes: 24,
  threadsPerBlock: 256,
  threadsSource: 'maxntid',
  occupancy: { blocksPerSm: 8, warpsPerSm: 64, percent: 99.98, limiters: ['warps'] },
  branches: { uniform: 0, divergent: 1, unknown: 0 },
  findings: { error: 1, warning: 2, info: 0, hint: 0 },
  canPreview: false,
};

test('an estimate is told as one, with its interval', () => {
  assert.equal(registers(KERNEL), '~30 registers (26 to 34, estimated)');
  const exact = { ...KERNEL, registers: { ...KERNEL.registers, low: 30, high: 30 } };
  assert.equal(registers(exact), '~30 registers (estimated)');
  assert.equal(registersInShort(KERNEL), '~30 registers (26 to 34)');
  assert.equal(registersInShort(exact), '~30 registers (estimated)');
});

test('what ptxas measured is told with its version', () => {
  const measured = { registers: 32, spillStoreBytes: 0, spillLoadBytes: 0, stackBytes: 0, sharedBytes: 0, ptxas: '13.5' };
  assert.equal(registers({ ...KERNEL, measured }), '32 registers, 0 spills (ptxas 13.5)');
  assert.equal(registersInShort({ ...KERNEL, measured }), '32 registers');
  const spilled = { ...measured, spillStoreBytes: 8, spillLoadBytes: 12 };
  assert.equal(registers({ ...KERNEL, measured: spilled }), '32 registers, spills 8 bytes, reloads 12 (ptxas 13.5)');
});

test('branches of which there are none are left out', () => {
  assert.equal(branches({ ...KERNEL, branches: { uniform: 2, divergent: 1, unknown: 0 } }), '1 divergent, 2 uniform');
  assert.equal(branches({ ...KERNEL, branches: { uniform: 0, divergent: 0, unknown: 0 } }), 'none');
  assert.equal(branches({ ...KERNEL, branches: { uniform: null, divergent: null, unknown: null } }), '? divergent, ? uniform, ? unknown');
});

test('a long name keeps its beginning and its end', () => {
  assert.equal(short('saxpy'), 'saxpy');
  const name = `_ZN7cutlass${'x'.repeat(300)}EEEvT_`;
  assert.ok(short(name).length <= 32);
  assert.match(short(name), /^_ZN7cutlass.*\u2026.*EEEvT_$/);
  assert.equal(short('cub::detail::scan::Scan<...>'), 'Scan<...>');
  assert.equal(short('(anonymous namespace)::k'), 'k');
});

test('what is not known is a question mark', () => {
  const unknown = {
    ...KERNEL,
    registers: { ...KERNEL.registers, estimate: null },
    occupancy: { ...KERNEL.occupancy, percent: null },
  };
  assert.equal(registers(unknown), '? registers');
  assert.equal(registersInShort(unknown), '? registers');
  assert.equal(occupancy(unknown), '? % occupancy');
  assert.equal(bytes(null), '?');
});

test('dynamic shared memory is a figure of its own, and unknown says so', () => {
  assert.equal(dynamicShared(KERNEL.dynamicShared), 'none');
  assert.equal(dynamicShared({ bytes: 65536, source: 'metadata' }), '64 KiB (metadata)');
  const unknown = { ...KERNEL, dynamicShared: { bytes: null, source: 'unknown' } };
  assert.equal(dynamicShared(unknown.dynamicShared), 'unknown');
  assert.equal(occupancy(unknown), 'at most 100 % occupancy');
});

test('sizes and counts', () => {
  assert.equal(occupancy(KERNEL), '100 % occupancy');
  assert.equal(occupancy({ ...KERNEL, occupancy: { ...KERNEL.occupancy, percent: 12.5 } }), '12.5 % occupancy');
  assert.equal(bytes(48 * 1024), '48 KiB');
  assert.equal(bytes(1000), '1000 bytes');
  assert.equal(findings(KERNEL), '1 error, 2 warnings');
  assert.equal(findings({ ...KERNEL, findings: { error: 0, warning: 0, info: 0, hint: 0 } }), 'no findings');
});
