// Every snippet, as it is inserted, in a place where it belongs: the project's linter must find no error in it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'node:test';

interface Snippet {
  body: string[];
}
interface Report {
  files: { path: string; diagnostics: { severity: string; message: string }[] }[];
}
const SNIPPETS = JSON.parse(readFileSync('snippets/ptx.json', 'utf8')) as Record<string, Snippet>;
const PYTHON = process.env['PTX_PYTHON'] ?? '../.venv/bin/python';
const LINT = ['-c', 'from ptx_lsp.cli.lint import main; raise SystemExit(main())', '--format', 'json'];

const HEADER = '.version 8.0\n.target sm_90\n.address_size 64\n';
const FUNCTION = '.func (.param .b32 function_result) function(.param .b32 function_x)\n{\n    ret;\n}\n';
const REGISTERS = '.reg .pred %p<8>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n.reg .f32 %f<8>;\n';

/** The snippets that stand outside a kernel, and what a file has before and after them. */
const OUTSIDE: Record<string, (text: string) => string> = {
  'File header': (text) => text,
  Kernel: (text) => HEADER + text,
  Function: (text) => HEADER + text,
  Preview: (text) => `${HEADER}${text}\n.entry k()\n{\n    ret;\n}\n`,
};

const inKernel = (text: string): string => `${HEADER}${FUNCTION}.entry k()\n{\n${REGISTERS}${text}\nret;\n}\n`;

/** What each snippet is tested as, in a file of its own. */
const TEXTS = Object.entries(SNIPPETS).map(([name, { body }]) => (OUTSIDE[name] ?? inKernel)(filled(body.join('\n'))));
const REPORT = lint(TEXTS);

Object.keys(SNIPPETS).forEach((name, number) => {
  test(`the snippet "${name}" has no error`, () => {
    const file = REPORT.files.find((one) => path.basename(one.path) === `${number}.ptx`);
    const errors = file?.diagnostics.filter(({ severity }) => severity === 'error');
    assert.deepEqual(errors?.map(({ message }) => message), [], TEXTS[number]);
  });
});

/** A body with its placeholders' first values. */
function filled(body: string): string {
  return body
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')
    .replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replace(/\$\d/g, '');
}

/** What the linter reports of texts, in one run; that it found something is no failure. */
function lint(texts: string[]): Report {
  const folder = mkdtempSync(path.join(tmpdir(), 'ptx-snippets-'));
  try {
    const files = texts.map((text, number) => {
      const file = path.join(folder, `${number}.ptx`);
      writeFileSync(file, text);
      return file;
    });
    return JSON.parse(spawnSync(PYTHON, [...LINT, ...files], { encoding: 'utf8' }).stdout) as Report;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
