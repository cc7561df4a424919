/** Finds the language server on this machine. Independent of the editor, so that it can be unit-tested. */

import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { homedir } from 'node:os';
import * as path from 'node:path';

/** The user's settings for the server, and the other places to search. */
export interface Places {
  /** The program set by the user, or ''. */
  path: string;
  /** The interpreter set by the user, or ''. */
  python: string;
  /** The interpreter selected in the Python extension, if any. */
  selectedPython: string | undefined;
  /** Folders searched for programs: `programFolders()`. */
  folders: readonly string[];
  /** Whether program names end in `.exe`. */
  windows: boolean;
}

/** A way to start the server. */
export interface Found {
  command: string;
  args: string[];
  /** Where it was found, for the log. */
  from: string;
}

/** A setting refers to something that does not exist. It is reported; no other location is tried. */
export class NotThere extends Error {}

/** The first way that works, or undefined. Throws NotThere if a setting is wrong. */
export async function find(places: Places): Promise<Found | undefined> {
  if (places.path) {
    const program = await firstProgram([places.path], places);
    if (!program) {
      throw new NotThere(`\`ptx.server.path\` is set to \`${places.path}\`, which is not a program`);
    }
    return { command: program, args: [], from: 'the setting `ptx.server.path`' };
  }
  if (places.python) {
    if (!(await hasPackage(places.python))) {
      throw new NotThere(
        `\`ptx.server.python\` is set to \`${places.python}\`, which does not have the package \`ptx-lsp\``,
      );
    }
    return module(places.python, 'the setting `ptx.server.python`');
  }
  if (places.selectedPython && (await hasPackage(places.selectedPython))) {
    return module(places.selectedPython, 'the selected Python environment');
  }
  const server = await onPath('ptx-lsp', places);
  if (server) {
    return { command: server, args: [], from: 'PATH' };
  }
  return undefined;
}

/** The debug adapter that belongs to a server: of the same package, started the same way. */
export function adapterOf(server: Found, windows: boolean): { command: string; args: string[] } {
  if (server.args.includes('ptx_lsp.server')) {
    return { command: server.command, args: ['-m', 'ptx_lsp.debug.command'] };
  }
  const folder = path.dirname(server.command);
  return { command: path.join(folder, windows ? 'ptx-dap.exe' : 'ptx-dap'), args: [] };
}

/** Expands `~` and `${workspaceFolder}` in a setting's path. */
export function expand(setting: string, workspace: string): string {
  return setting.replaceAll('${workspaceFolder}', workspace).replace(/^~(?=$|[/\\])/, homedir());
}

const PATIENCE = 10_000;

/** The folders of PATH, and the one where `uv`, `pipx` and `pip --user` install programs. */
export function programFolders(): string[] {
  const folders = (process.env['PATH'] ?? '').split(path.delimiter).filter(Boolean);
  return [...folders, path.join(homedir(), '.local', 'bin')];
}

/** The path of a program on PATH. */
export function onPath(name: string, places: Pick<Places, 'folders' | 'windows'>): Promise<string | undefined> {
  return firstProgram(places.folders.map((folder) => path.join(folder, name)), places);
}

async function firstProgram(
  candidates: readonly string[],
  places: Pick<Places, 'windows'>,
): Promise<string | undefined> {
  const endings = places.windows ? ['.exe', '.cmd', ''] : [''];
  for (const candidate of candidates) {
    for (const ending of endings) {
      if (await isProgram(candidate + ending)) {
        return candidate + ending;
      }
    }
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function module(python: string, from: string): Found {
  return { command: python, args: ['-m', 'ptx_lsp.server'], from };
}

function hasPackage(python: string): Promise<boolean> {
  return succeeds(python, ['-c', 'import importlib.util as u, sys; sys.exit(u.find_spec("ptx_lsp") is None)']);
}

function succeeds(command: string, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(command, args, { timeout: PATIENCE }, (error) => resolve(!error));
  });
}
