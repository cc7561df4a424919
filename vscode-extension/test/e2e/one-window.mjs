// Runs files of tests one after the other in one window.
import './editor.mjs'; // what it ends is the last to end
import fs from 'node:fs';
import path from 'node:path';
import { describe } from 'node:test';

const HERE = import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname);
/** In each, the first file wants a window in which nothing has run. */
const WINDOWS = [
  ['inline', 'daily', 'demangle', 'flow', 'machinecode', 'panels', 'sources', 'themes', 'triton', 'host'],
];

/** All files, each in one of two windows. */
