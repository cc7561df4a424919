// Runs the files of tests one after the other in a window that they share. There are two such windows at a time.
import './editor.mjs'; // what it has started ends last
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { describe } from 'node:test';

/** VS Code remembers which of our views, and of the debugger's, were open and expanded: such files are apart. */
const WINDOWS = [
  ['inline', 'daily', 'demangle', 'flow', 'machinecode', 'panels', 'sources', 'themes', 'ui', 'triton', 'host'],
  ['compare', 'containers', 'debugger-memory', 'debugger', 'debugger-launch', 'situations', 'tour'],
];

export function runInWindow(number) {
  const all = fs.readdirSync(new URL('.', import.meta.url)).flatMap((name) => /^(.+)\.test\.mjs$/.exec(name)?.[1] ?? []);
  assert.deepEqual(all.sort(), WINDOWS.flat().sort(), 'each file of tests has a window');
  for (const name of WINDOWS[number - 1]) {
    describe(name, async () => {
      await import(`./${name}.test.mjs`);
    });
  }
}
