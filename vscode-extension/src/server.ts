/** Starts the language server, keeps it alive, and tells how it is. */

import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  RevealOutputChannelOn,
  State as ClientState,
  type CloseHandlerResult,
  type ErrorHandlerResult,
} from 'vscode-languageclient/node';

import { find, NotThere, type Found } from './finding.js';
import { isOlder, LEAST_VERSION } from './version.js';

export type State = 'starting' | 'running' | 'absent' | 'failed' | 'untrusted' | 'stopped';

/** So many ends within so many milliseconds are too many. */
const MOST_ENDS = 5;
const WITHIN = 3 * 60_000;

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private ends: number[] = [];
  private turn: Promise<void> = Promise.resolve();
  private current: State = 'stopped';
  private readonly changed = new vscode.EventEmitter<State>();
  readonly onState = this.changed.event;
  /** What the user reads when something is wrong. */
  readonly log = vscode.window.createOutputChannel('PTX Language Server', { log: true });
  private readonly trace = vscode.window.createOutputChannel('PTX Language Server (trace)', { log: true });

  get state(): State {
    return this.current;
  }

  /** The name and version that the running server gave. */
  get version(): string | undefined {
    const info = this.client?.initializeResult?.serverInfo;
    return info && `${info.name} ${info.version ?? '(version unknown)'}`;
  }

  /** Starts the server, or starts it anew; one after the other, however often it is asked for. */
  restart(): Promise<void> {
    this.turn = this.turn.then(
      () => this.again(),
      () => this.again(),
    );
    return this.turn;
  }

  /** Answers undefined where there is no server that could answer, or it fails; the log says why. */
  async request<Answer>(method: string, params: object): Promise<Answer | undefined> {
    const client = this.client;
    if (!client || this.current !== 'running') {
      return undefined;
    }
    try {
      return (await client.sendRequest<Answer | null>(method, params)) ?? undefined;
    } catch (error) {
      this.log.warn(`${method}: ${text(error)}`);
      return undefined;
    }
  }

  async stop(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client) {
      await client.dispose(2_000).catch((error: unknown) => this.log.warn(`stopping: ${text(error)}`));
    }
  }

  dispose(): void {
    this.changed.dispose();
    this.trace.dispose();
    this.log.dispose();
  }

  private async again(): Promise<void> {
    await this.stop();
    this.ends = [];
    if (!vscode.workspace.isTrusted) {
      this.become('untrusted');
      return;
    }
    this.become('starting');
    let found: Found | undefined;
    try {
      found = await find(await places());
    } catch (error) {
      this.become('failed');
      void this.complain(error instanceof NotThere ? error.message : text(error));
      return;
    }
    if (!found) {
      this.become('absent');
      void this.offer();
      return;
    }
    this.log.info(`starting ${[found.command, ...found.args].join(' ')}, found by ${found.from}`);
    await this.start(found);
  }

  private async start(found: Found): Promise<void> {
    const settings = vscode.workspace.getConfiguration('ptx');
    const args = [...found.args, ...settings.get<string[]>('server.arguments', [])];
    const client = new LanguageClient(
      'ptx',
      'PTX Language Server',
      { command: found.command, args },
      {
        documentSelector: [{ language: 'ptx' }],
        outputChannel: this.log,
        traceOutputChannel: this.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        synchronize: { configurationSection: 'ptx' },
        // `commands` are what code lenses may call here.
        initializationOptions: { ptx: settings, commands: ['ptx.occupancy', 'ptx.preview'] },
        errorHandler: {
          error: () => this.failedToTalk(),
          closed: () => this.ended(),
        },
      },
    );
    client.onDidChangeState(({ newState }) => {
      if (client === this.client && newState === ClientState.Running) {
        this.become('running');
      }
    });
    this.client = client;
    try {
      await client.start();
    } catch (error) {
      if (client === this.client) {
        this.client = undefined;
        this.become('failed');
        void this.complain(`The PTX language server did not start: ${text(error)}`);
      }
      return;
    }
    this.log.info(`running: ${this.version ?? 'a server without a name'}`);
    this.checkVersion(client.initializeResult?.serverInfo?.version);
  }

  private checkVersion(version: string | undefined): void {
    if (version && !isOlder(version, LEAST_VERSION)) {
      return;
    }
    const has = version ? `is version ${version}` : 'does not say which version it is';
    void vscode.window
      .showWarningMessage(
        `The PTX language server ${has}; this extension is made for ${LEAST_VERSION} or newer. What the server has still works.`,
        'Update',
      )
      .then((answer) => answer && vscode.commands.executeCommand('ptx.server.install'));
  }

  private failedToTalk(): ErrorHandlerResult {
    return { action: ErrorAction.Continue };
  }

  /** The server ended without being asked to. */
  private ended(): CloseHandlerResult {
    const now = Date.now();
    this.ends = [...this.ends.filter((end) => now - end < WITHIN), now];
    if (this.ends.length < MOST_ENDS) {
      this.log.warn('the server ended; it is started again');
      this.become('starting');
      return { action: CloseAction.Restart, handled: true };
    }
    this.become('failed');
    void this.complain(
      `The PTX language server ended ${MOST_ENDS} times within 3 minutes and is not started again.`,
    );
    return { action: CloseAction.DoNotRestart, handled: true };
  }

  private become(state: State): void {
    this.current = state;
    void vscode.commands.executeCommand('setContext', 'ptx.state', state);
    this.changed.fire(state);
  }

  private async complain(message: string): Promise<void> {
    this.log.error(message);
    const answer = await vscode.window.showErrorMessage(message, 'Show Log', 'Restart', 'Settings');
    switch (answer) {
      case 'Show Log':
        this.log.show();
        break;
      case 'Restart':
        await this.restart();
        break;
      case 'Settings':
        await vscode.commands.executeCommand('workbench.action.openSettings', 'ptx.server');
        break;
    }
  }

  private async offer(): Promise<void> {
    this.log.warn('there is no `ptx-lsp` in the selected Python environment nor on PATH');
    const answer = await vscode.window.showWarningMessage(
      'The PTX language server is not installed. Colours and snippets work without it; findings, hover and figures need it.',
      'Install',
      'Settings',
    );
    if (answer === 'Install') {
      await vscode.commands.executeCommand('ptx.server.install');
    } else if (answer === 'Settings') {
      await vscode.commands.executeCommand('workbench.action.openSettings', 'ptx.server');
    }
  }
}

async function places() {
  const settings = vscode.workspace.getConfiguration('ptx.server');
  return {
    path: settings.get('path', ''),
    python: settings.get('python', ''),
    selectedPython: await selectedPython(),
    folders: (process.env['PATH'] ?? '').split(process.platform === 'win32' ? ';' : ':').filter(Boolean),
    windows: process.platform === 'win32',
  };
}

interface PythonExtension {
  environments?: { getActiveEnvironmentPath(): { path: string } };
}

/** The interpreter that is selected in the Python extension, else the one its setting names. */
export async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonExtension>('ms-python.python');
  if (extension) {
    try {
      const selected = (await extension.activate()).environments?.getActiveEnvironmentPath().path;
      if (selected) {
        return selected;
      }
    } catch {
      // an extension that does not start must not keep this one from starting
    }
  }
  const named = vscode.workspace.getConfiguration('python').get<string>('defaultInterpreterPath');
  return named && named !== 'python' ? named : undefined;
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
