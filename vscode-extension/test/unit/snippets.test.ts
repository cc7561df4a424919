// Every snippet, as it is inserted, in a place where it belongs: the project's linter must find no error in it.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import test from 'node:test';

interface Snippet {
  body: string[];
}
interface Report {
  files: { diagnostics: { severity: string; message: string }[] }[];
}
const SNIPPETS = JSON.parse(readFileSync('snippets/ptx.json', 'utf8')) as Record<string, Snippet>;
const PYTHON = process.env['PTX_PYTHON'] ?? '../.venv/bin/python';
const LINT = ['-c', 'from ptx_lsp.cli.lint import main; raise SystemExit(main())', '--format', 'json', '--stdin-filename', 'snippet.ptx', '-'];

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

for (const [name, { body }] of Object.entries(SNIPPETS)) {
  test(`the snippet "${name}" has no error`, async () => {
    const text = (OUTSIDE[name] ?? inKernel)(filled(body.join('\n')));
    const { stdout, stderr } = await lint(text);
    const [file] = (JSON.parse(stdout) as Report).files;
    const errors = file?.diagnostics.filter(({ severity }) => severity === 'error');
    assert.deepEqual(errors?.map(({ message }) => message), [], `${text}\n${stderr}`);
  });
}

/** A body with its placeholders' first values. */
function filled(body: string): string {
  return body
    .replace(/\$\{\d+:([^}]*)\}/g, '$1')
    .replace(/\$\{\d+\|([^,|]*)[^}]*\|\}/g, '$1')
    .replace(/\$\d/g, '');
}

/** What the linter prints; that it found something is no failure of the run. */
async function lint(text: string): Promise<{ stdout: string; stderr: string }> {
  const run = promisify(execFile)(PYTHON, LINT);
  run.child.stdin?.end(text);
  return run.catch((error: { stdout: string; stderr: string }) => error);
}
