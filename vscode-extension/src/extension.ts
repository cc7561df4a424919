/** Registers the extension's features with the editor and refreshes them. */

import * as vscode from 'vscode';

import { ComparePanel } from './compare.js';
import { registerContainers } from './containers/commands.js';
import { registerDebugger } from './debug/debugger.js';
import { startWhenNeeded } from './hosts.js';
import { install } from './installing.js';
import { KernelItem, Kernels } from './kernels.js';
import { ControlFlowPanel, MachineCodePanel, OccupancyPanel, PreviewPanel, type Subject } from './panels.js';
import { Pressure } from './pressure.js';
import { Server } from './server.js';
import { Snippets } from './snippets.js';
import { Status } from './status.js';
import { onSelection } from './python.js';
import { reveal } from './text.js';
import { TritonCache } from './triton/cache.js';
import { registerTriton } from './triton/commands.js';

/** Milliseconds to wait after an edit before requesting metrics again. */
const PAUSE = 400;

let server: Server | undefined;

/** The API exported to tests and other extensions. */
export interface Api {
  readonly state: () => string;
  readonly version: () => string | undefined;
  /** The program that runs the server. */
  readonly program: () => string | undefined;
}

export function activate(context: vscode.ExtensionContext): Api {
  const running = (server = new Server());
  const kernels = new Kernels(running);
  const pressure = new Pressure(running, kernels);
  const status = new Status(running, kernels);
  const panels = {
    'ptx.occupancy': new OccupancyPanel(context.extensionUri, running),
    'ptx.controlFlow': new ControlFlowPanel(context.extensionUri, running),
    'ptx.machineCode': new MachineCodePanel(context.extensionUri, running),
    'ptx.preview': new PreviewPanel(context.extensionUri, running, kernels),
  };
  const comparison = new ComparePanel(context.extensionUri, running, kernels);
  const tree = vscode.window.createTreeView('ptx.kernels', { treeDataProvider: kernels });
  context.subscriptions.push(vscode.languages.registerCompletionItemProvider('ptx', new Snippets(), '.'));
  context.subscriptions.push(running, kernels, pressure, status, tree, comparison, ...Object.values(panels));

  const cache = new TritonCache(running);
  context.subscriptions.push(registerContainers(context, running, comparison), cache, registerTriton(cache, comparison));

  /** Refreshes all views, or only those that depend on the given documents. */
  const show = (changed?: ReadonlySet<string>): void => {
    kernels.refresh(changed === undefined);
    void status.update();
    void pressure.showAll(changed === undefined);
    for (const panel of Object.values(panels)) {
      void panel.update(changed);
    }
    void comparison.update(changed);
  };
  watch(context, running, status, pressure, panels['ptx.controlFlow'], show);
  context.subscriptions.push(
    running.onMeasured((uri) => {
      kernels.forget(uri);
      show(new Set([uri]));
    }),
  );
  context.subscriptions.push(
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => panels['ptx.machineCode'].follow(textEditor)),
  );
  commands(context, running, kernels, pressure, comparison);
  context.subscriptions.push(registerDebugger(context, running, subjectOf));
  for (const [name, panel] of Object.entries(panels)) {
    context.subscriptions.push(
      vscode.commands.registerCommand(name, (chosen?: KernelItem | Subject) => {
        const subject = subjectOf(chosen);
        return subject && panel.open(subject);
      }),
    );
  }
  const keep = (watch?: vscode.Disposable) => watch && context.subscriptions.push(watch);
  void startWhenNeeded(() => void running.restart()).then(keep);
  void onSelection(() => running.restartStarted()).then(keep);
  return {
    state: () => running.state,
    version: () => running.version,
    program: () => running.found?.command,
  };
}

export async function deactivate(): Promise<void> {
  await server?.stop();
}

/** A kernel from the tree, from a code lens, or at the cursor. */
function subjectOf(chosen: KernelItem | Subject | undefined): Subject | undefined {
  if (chosen instanceof KernelItem) {
    return { uri: chosen.uri, kernel: chosen.kernel.name };
  }
  if (chosen && typeof chosen.kernel === 'string') {
    const uri = typeof chosen.uri === 'string' ? vscode.Uri.parse(chosen.uri) : chosen.uri;
    return { uri, kernel: chosen.kernel };
  }
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== 'ptx') {
    void vscode.window.showInformationMessage('Open a PTX file first.');
    return undefined;
  }
  return { uri: editor.document.uri, position: editor.selection.active };
}

function watch(
  context: vscode.ExtensionContext,
  running: Server,
  status: Status,
  pressure: Pressure,
  flow: ControlFlowPanel,
  show: (changed?: ReadonlySet<string>) => void,
): void {
  let pause: NodeJS.Timeout | undefined;
  const changed = new Set<string>();
  const soon = (document: vscode.TextDocument): void => {
    if (document.languageId === 'ptx') {
      changed.add(document.uri.toString());
      clearTimeout(pause);
      pause = setTimeout(() => {
        show(new Set(changed));
        changed.clear();
      }, PAUSE);
    }
  };
  context.subscriptions.push(
    { dispose: () => clearTimeout(pause) },
    running.onState(() => show()),
    vscode.workspace.onDidChangeTextDocument(({ document }) => soon(document)),
    vscode.workspace.onDidOpenTextDocument(soon),
    vscode.workspace.onDidCloseTextDocument(soon),
    vscode.window.onDidChangeActiveTextEditor(() => void status.update()),
    vscode.window.onDidChangeVisibleTextEditors(() => void pressure.showAll(false)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
      if (textEditor === vscode.window.activeTextEditor) {
        void status.update(true);
        flow.follow();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => running.restartStarted()),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (['ptx.server', 'ptx.ptxasPath', 'ptx.inline.enabled'].some((name) => change.affectsConfiguration(name))) {
        void running.restartStarted();
      } else if (change.affectsConfiguration('ptx')) {
        show();
      }
    }),
  );
}

function commands(
  context: vscode.ExtensionContext,
  running: Server,
  kernels: Kernels,
  pressure: Pressure,
  comparison: ComparePanel,
): void {
  const onEditor = (run: (editor: vscode.TextEditor) => Promise<void>) => () => {
    const editor = vscode.window.activeTextEditor;
    return editor?.document.languageId === 'ptx' ? run(editor) : undefined;
  };
  const table: Record<string, (...given: never[]) => unknown> = {
    'ptx.server.restart': () => running.restart(),
    'ptx.server.install': () => install(running),
    'ptx.server.log': () => running.log.show(),
    'ptx.server.version': () =>
      vscode.window.showInformationMessage(running.version ?? 'The PTX language server is not running.'),
    'ptx.walkthrough': () =>
      vscode.commands.executeCommand(
        'workbench.action.openWalkthrough',
        `${context.extension.id}#start`,
        false,
      ),
    'ptx.kernels.refresh': () => kernels.refresh(true),
    'ptx.kernel.reveal': reveal,
    'ptx.compare.file': (chosen?: vscode.Uri, selected?: vscode.Uri[]) => comparison.withFile(chosen, selected),
    'ptx.compare.revision': () => comparison.withRevision(),
    'ptx.compare.kernels': () => comparison.twoKernels(),
    'ptx.pressure.toggle': () => pressure.toggle(),
    'ptx.pressure.peak': onEditor((editor) => pressure.goToPeak(editor)),
  };
  for (const [name, run] of Object.entries(table)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, run));
  }
}
