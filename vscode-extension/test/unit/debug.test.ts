// Launches in texts, and what the view *Warp* marks as changed.
import assert from 'node:assert/strict';
import test from 'node:test';

import { Changes, type WarpAnswer } from '../../src/debug/changes.js';
import { firstLine, launchComments } from '../../src/debug/launches.js';

test('launch comments have a line and words', () => {
  assert.deepEqual(launchComments('// ptx-run: grid=1 block=2\r\n\tret; //ptx-run:grid=2\n// ptx-run:\n// ptx run: x'), [
    { line: 1, words: 'grid=1 block=2' },
    { line: 2, words: 'grid=2' },
  ]);
});

const LAUNCH = 'grid = 1\n  file = "a.ptx"\n[arguments]\nx = "u32:1"\n';
const FILES: [string, number | undefined][] = [
  [LAUNCH, 1],
  [LAUNCH.replace('grid', 'block'), 1],
  [LAUNCH.replace('grid', 'size'), undefined],
  [LAUNCH.replace('[arguments]', '[project]'), undefined],
  ['[project]\nname = "x"\n', undefined],
  ['', undefined],
];
for (const [text, line] of FILES) {
  test(`a launch file: ${JSON.stringify(text)}`, () => assert.equal(firstLine(text), line));
}

function answer(rows: Record<string, string[]>, named: string[] = [], warp = 0): WarpAnswer {
  const listed = Object.entries(rows).map(([expression, values]) => ({ expression, values, isOfInstruction: named.includes(expression) }));
  return { lanes: 2, active: [true, true], line: 1, block: [0], warp, lane: 0, threads: [], groups: [], rows: listed };
}

test('what differs from the last stop is marked', () => {
  const changes = new Changes();
  const before = (values: string[], warp = 0) => changes.marked(answer({ '%r1': values }, [], warp), ['%r1'], false)[0]?.before;
  assert.deepEqual(before(['1', '2']), [null, null]);
  changes.stopped();
  assert.deepEqual(before(['1', '3']), [null, '2']);
  assert.deepEqual(before(['1', '4']), [null, '2']); // the user changed it at the same stop
  changes.stopped();
  assert.deepEqual(before(['1', '4']), [null, null]);
  assert.deepEqual(before(['9', '9'], 1), [null, null]); // another warp
  changes.stopped();
  changes.forget();
  assert.deepEqual(before(['7', '7']), [null, null]);
});

test('the registers of the instruction before are asked for, too', () => {
  const changes = new Changes();
  changes.marked(answer({ '%r1': ['1'], '%r2': ['1'] }, ['%r2', '%r1']), ['%r1'], false);
  changes.stopped();
  assert.deepEqual(changes.earlier(['%r1']), ['%r2']);
  changes.marked(answer({ '%r1': ['1'], '%r2': ['1'], '%r3': ['1'] }, ['%r3']), ['%r1'], false);
  changes.stopped();
  assert.deepEqual(changes.earlier(['%r1']), ['%r3']);
});
