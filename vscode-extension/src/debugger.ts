/** Debugs kernels with `ptx-dap`, which is in the same package as the language server. */

import * as vscode from 'vscode';

import { adapterOf } from './finding.js';
import type { Subject } from './panels.js';
import type { Server } from './server.js';

const TYPE = 'ptx';

export function registerDebugger(server: Server, subjectOf: (chosen?: Subject) => Subject | undefined): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.debug.registerDebugConfigurationProvider(TYPE, { resolveDebugConfiguration }),
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
    vscode.commands.registerCommand('ptx.debug', (chosen?: Subject) => {
      const subject = subjectOf(chosen);
      return subject && debug(subject);
    }),
  );
}

/** Without a launch configuration, the file in the editor is debugged as its launch comment says. */
function resolveDebugConfiguration(
  _: vscode.WorkspaceFolder | undefined,
  given: vscode.DebugConfiguration,
): vscode.DebugConfiguration | undefined {
  if (given.type || given.request || given.name) {
    return given;
  }
  const document = vscode.window.activeTextEditor?.document;
  return document?.languageId === 'ptx' ? configuration(document.uri) : undefined;
}

async function debug(subject: Subject): Promise<void> {
  const document = await vscode.workspace.openTextDocument(subject.uri);
  if (document.isDirty) {
    await document.save();
  }
  const folder = vscode.workspace.getWorkspaceFolder(subject.uri);
  const wanted = configuration(subject.uri, subject.kernel);
  const hasBreakpoint = vscode.debug.breakpoints.some(
    (one) => one instanceof vscode.SourceBreakpoint && one.location.uri.toString() === subject.uri.toString(),
  );
  await vscode.debug.startDebugging(folder, { ...wanted, stopOnEntry: !hasBreakpoint });
}

function configuration(uri: vscode.Uri, kernel?: string): vscode.DebugConfiguration {
  return {
    type: TYPE,
    request: 'launch',
    name: kernel ? `Debug ${kernel}` : 'Debug PTX',
    program: uri.fsPath,
    check: true,
    ...(kernel && { entry: kernel }),
  };
}
