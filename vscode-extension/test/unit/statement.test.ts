// Where a snippet may stand: at the beginning of a statement, never among operands.
import assert from 'node:assert/strict';
import test from 'node:test';

import { statementAt, type Where } from '../../src/statement.js';

const FILE = '.version 8.0\n.target sm_90\n.address_size 64\n';
const BODY = `${FILE}.visible .entry k(.param .u64 a)\n.maxntid 256\n{\n`;

const CASES: [string, Where | undefined][] = [
  ['', 'file'],
  ['.vers', 'file'],
  [FILE, 'file'],
  [`${FILE}// a comment\n.en`, 'file'],
  [`${FILE}.global .u32 a[2] = {1, 2};\nker`, 'file'],
  [`${BODY}ret;\n}\n.ent`, 'file'],
  [BODY, 'body'],
  [`${BODY}    loo`, 'body'],
  [`${BODY}add.s32 %r1, %r2, %r3; ca`, 'body'],
  [`${BODY}LOOP: i`, 'body'],
  [`${BODY}{ .reg .b32 %r9;\n} i`, 'body'],
  [`${BODY}.loc 1 2 3\n    i`, 'body'],
  [`${BODY}mov.b64 {%r1, %r2}, %rd1;\n  i`, 'body'],
  ['.visible .en', undefined],
  ['.version ', undefined],
  [`${FILE}.global .u32 a[2] = {f`, undefined],
  [`${FILE}.entry k(.par`, undefined],
  [`${BODY}mad.lo.s32 %r1, %r2, i`, undefined],
  [`${BODY}add.`, undefined],
  [`${BODY}add.f`, undefined],
  [`${BODY}mov.b64 {i`, undefined],
  [`${BODY}mov.b64 {%r1, %r2}, .en`, undefined],
  [`${BODY}ld.global.u32 %r1, [i`, undefined],
  [`${BODY}@%p1 i`, undefined],
  [`${BODY}.reg .f`, undefined],
  [`${BODY}// comment i`, undefined],
  [`${BODY}/* comment\n i`, undefined],
  [`${BODY}.pragma "i`, undefined],
];

for (const [before, where] of CASES) {
  test(`${JSON.stringify(before.slice(-30))}: ${where ?? 'no statement'}`, () => {
    assert.equal(statementAt(before), where);
  });
}
