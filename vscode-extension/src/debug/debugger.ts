/** Debugs kernels with `ptx-dap`, which is in the same package as the language server. */

import * as vscode from 'vscode';

import { adapterOf } from '../finding.js';
import type { Subject } from '../panels.js';
import type { Server } from '../server.js';
import { configurationOf, registerConfigurations, TYPE, type Launch } from './configurations.js';
import { WarpView } from './warp.js';

export function registerDebugger(
  context: vscode.ExtensionContext,
  server: Server,
  subjectOf: (chosen?: Subject) => Subject | undefined,
): vscode.Disposable {
  return vscode.Disposable.from(
    registerConfigurations(),
    new WarpView(context.extensionUri, context.workspaceState),
    vscode.debug.registerDebugAdapterDescriptorFactory(TYPE, {
      async createDebugAdapterDescriptor() {
        await server.ready();
        if (!server.found) {
          throw new Error('The language server is not running.');
        }
        const { command, args } = adapterOf(server.found, process.platform === 'win32');
        return new vscode.DebugAdapterExecutable(command, args);
      },
    }),
    vscode.commands.registerCommand('ptx.debug', (chosen?: Subject & { launchComment?: number }) => {
      const subject = subjectOf(chosen);
      return subject && once({ ...subject, ...(chosen?.launchComment && { comment: chosen.launchComment }) });
    }),
  );
}

/** How long a start may keep others back, in milliseconds: one that hangs must not do so for good. */
const PATIENCE = 10_000;
let starting: Promise<void> | undefined;

/** A second click while a session starts does not start another. */
function once(launch: Launch): Promise<void> {
  if (!starting) {
    const begun = debug(launch);
    const over = (): void => {
      if (starting === begun) {
        starting = undefined;
      }
    };
    starting = begun;
    begun.then(over, over);
    setTimeout(over, PATIENCE);
  }
  return starting;
}

async function debug(launch: Launch): Promise<void> {
  const document = await vscode.workspace.openTextDocument(launch.uri);
  if (document.isDirty) {
    await document.save();
  }
  const wanted = configurationOf(launch);
  const hasBreakpoint = vscode.debug.breakpoints.some(
    (one) => one instanceof vscode.SourceBreakpoint && one.location.uri.toString() === launch.uri.toString(),
  );
  await vscode.debug.startDebugging(vscode.workspace.getWorkspaceFolder(launch.uri), { ...wanted, stopOnEntry: !hasBreakpoint });
}
