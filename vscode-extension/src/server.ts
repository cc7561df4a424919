/** Starts the language server, restarts it after a crash, and reports its state. */

import * as vscode from 'vscode';
import {
  CloseAction,
  ErrorAction,
  LanguageClient,
  LSPErrorCodes,
  ResponseError,
  RevealOutputChannelOn,
  State as ClientState,
  type Middleware,
  type StaticFeature,
} from 'vscode-languageclient/node';

import { expand, find, NotThere, programFolders, type Found, type Places } from './finding.js';
import { ONLY_PTX, OF_WHOLE_FILES, selector } from './hosts.js';
import { Lenses } from './lenses.js';
import { MEASURED } from './protocol.js';
import { selectedPython } from './python.js';
import { Trace } from './trace.js';
import { isOlder, LEAST_VERSION } from './version.js';

export type State = 'starting' | 'running' | 'absent' | 'failed' | 'untrusted' | 'stopped';

/** The limit on crashes, and the period in milliseconds to which it applies. */
const MOST_ENDS = 5;
const WITHIN = 3 * 60_000;

/** Writes to the log only: the extension shows its own message, once. */
class Client extends LanguageClient {
  /** Features of whole files are registered for PTX alone. */
  restrict(): void {
    for (const method of OF_WHOLE_FILES) {
      const feature = this.getFeature(method as 'textDocument/formatting') as StaticFeature | undefined;
      if (feature) {
        const initialize = feature.initialize.bind(feature);
        feature.initialize = (capabilities) => initialize(capabilities, ONLY_PTX);
      }
    }
  }

  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

export class Server implements vscode.Disposable {
  private client: LanguageClient | undefined;
  private ends: number[] = [];
  private way: Found | undefined;
  private turn: Promise<void> = Promise.resolve();
  private number = 0;
  private current: State = 'stopped';
  /** The reasons shown so far. */
  private readonly shown = new Set<string>();
  private readonly changed = new vscode.EventEmitter<State>();
  readonly onState = this.changed.event;
  private readonly measured = new vscode.EventEmitter<string>();
  /** ptxas has finished with the document of this URI, or has failed. */
  readonly onMeasured = this.measured.event;
  /** The message to show if something is wrong. */
  readonly log = vscode.window.createOutputChannel('PTX Language Server', { log: true });
  private readonly trace = new Trace();
  private readonly lenses = new Lenses();

  get state(): State {
    return this.current;
  }

  /** The name and version reported by the running server. */
  get version(): string | undefined {
    const info = this.client?.initializeResult?.serverInfo;
    return info && `${info.name} ${info.version ?? '(version unknown)'}`;
  }

  /** The running server's program, and how it was found. */
  get found(): Found | undefined {
    return this.client && this.way;
  }

  /** Restarts the server if it was ever started. */
  async restartStarted(): Promise<void> {
    if (this.number) {
      await this.restart();
    }
  }

  /** Starts or restarts the server; cancels a start in progress. */
  restart(): Promise<void> {
    this.ends = [];
    return this.anew();
  }

  /** Waits until the server is running, and starts it if nothing has. Throws an error with a message for the user. */
  async ready(): Promise<void> {
    if (this.current === 'stopped') {
      await this.restart();
    }
    while (this.current === 'starting') {
      await new Promise<void>((resolve) => {
        const listener = this.onState(() => {
          listener.dispose();
          resolve();
        });
      });
    }
    if (this.current !== 'running') {
      throw new Error('The language server is not running.');
    }
  }

  /** Null if there is no answer. A request that fails throws an error with a message for the user. */
  async ask<Answer>(method: string, params: object, token?: vscode.CancellationToken): Promise<Answer | null> {
    const client = this.client;
    if (!client || this.current !== 'running') {
      throw new Error(this.current === 'starting' ? 'The language server is starting.' : 'The language server is not running.');
    }
    try {
      return await client.sendRequest<Answer | null>(method, params, ...(token ? [token] : []));
    } catch (error) {
      if (token?.isCancellationRequested) {
        throw new vscode.CancellationError();
      }
      this.log.warn(`${method}: ${text(error)}`);
      throw client === this.client ? error : new Error('The language server exited before it answered.');
    }
  }

  /** Like `request`, but returns null on failure. */
  async request<Answer>(method: string, params: object): Promise<Answer | undefined> {
    return (await this.ask<Answer>(method, params).catch(() => null)) ?? undefined;
  }

  /** Stops the server and any start in progress. */
  async stop(): Promise<void> {
    this.number++;
    await this.end();
  }

  dispose(): void {
    this.changed.dispose();
    this.measured.dispose();
    this.trace.dispose();
    this.lenses.dispose();
    this.log.dispose();
  }

  /** Runs starts one at a time; only the last of those waiting is run. */
  private anew(): Promise<void> {
    const number = ++this.number;
    if (this.client?.state === ClientState.Starting) {
      kill(this.client);
    }
    this.turn = this.turn.catch(() => undefined).then(() => (number === this.number ? this.again(number) : undefined));
    return this.turn;
  }

  private async again(number: number): Promise<void> {
    await this.end();
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
    if (number !== this.number) {
      return; // a restart or stop was requested
    }
    if (!found) {
      this.become('absent');
      void this.offer();
      return;
    }
    this.log.info(`starting ${[found.command, ...found.args].join(' ')}, found by ${found.from}`);
    await this.start(found, number);
  }

  private async end(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.state === ClientState.Starting) {
      kill(client); // the client stops only running servers
    } else if (client?.state === ClientState.Running) {
      await client.dispose(2_000).catch((error: unknown) => this.log.warn(`stopping: ${text(error)}`));
    }
  }

  /** VS Code logs why there is no definition, as of a source file that is elsewhere. Each reason is shown once. */
  private readonly definition: NonNullable<Middleware['provideDefinition']> = async (document, position, token, next) => {
    try {
      return await next(document, position, token);
    } catch (error) {
      if (error instanceof ResponseError && error.code === LSPErrorCodes.RequestFailed && !this.shown.has(error.message)) {
        this.shown.add(error.message);
        void vscode.window.showWarningMessage(error.message);
      }
      return undefined;
    }
  };

  private async start(found: Found, number: number): Promise<void> {
    const settings = vscode.workspace.getConfiguration('ptx');
    const args = [...found.args, ...settings.get<string[]>('server.arguments', [])];
    const client = new Client(
      'ptx',
      'PTX Language Server',
      { command: found.command, args },
      {
        documentSelector: selector(),
        outputChannel: this.log,
        traceOutputChannel: this.trace,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        synchronize: { configurationSection: 'ptx' },
        // `commands` lists the commands that code lenses may use.
        initializationOptions: {
          ptx: settings,
          commands: ['ptx.occupancy', 'ptx.preview', 'ptx.debug'],
          notifications: [MEASURED],
        },
        middleware: { provideDefinition: this.definition, ...this.lenses.middleware() },
        initializationFailedHandler: () => false, // reported below
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue }),
          closed: () => {
            this.ended(client);
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
      },
    );
    client.restrict();
    client.onNotification(MEASURED, ({ textDocument }: { textDocument: { uri: string } }) =>
      this.measured.fire(vscode.Uri.parse(textDocument.uri).toString()),
    );
    this.client = client;
    this.way = found;
    const patience = settings.get('server.startTimeout', 60);
    let late = false;
    const limit = setTimeout(() => {
      late = true;
      kill(client);
    }, patience * 1_000);
    try {
      await client.start();
    } catch (error) {
      if (client === this.client && number === this.number) {
        this.client = undefined;
        this.become('failed');
        const why = late ? `no answer within ${patience} seconds` : text(error);
        void this.complain(`The PTX language server did not start: ${why}`);
      }
      return;
    } finally {
      clearTimeout(limit);
    }
    if (client !== this.client) {
      return; // it exited immediately
    }
    this.become('running');
    this.log.info(`running: ${this.version ?? 'an unnamed server'}`);
    this.checkVersion(client.initializeResult?.serverInfo?.version);
  }

  private checkVersion(version: string | undefined): void {
    if (version && !isOlder(version, LEAST_VERSION)) {
      return;
    }
    const has = version ? `is version ${version}` : 'does not report its version';
    void vscode.window
      .showWarningMessage(
        `The PTX language server ${has}; this extension requires ${LEAST_VERSION} or newer. Some features may be missing.`,
        'Update',
      )
      .then((answer) => answer && vscode.commands.executeCommand('ptx.server.install'));
  }

  /** The server exited. It is restarted if it had started and was not asked to exit. */
  private ended(client: LanguageClient): void {
    if (client !== this.client || client.state !== ClientState.Running) {
      return;
    }
    this.client = undefined;
    const now = Date.now();
    this.ends = [...this.ends.filter((end) => now - end < WITHIN), now];
    if (this.ends.length < MOST_ENDS) {
      this.log.warn('the server ended; it is started again');
      void this.anew();
      return;
    }
    this.become('failed');
    void this.complain(
      `The PTX language server crashed ${MOST_ENDS} times in 3 minutes and will not be restarted.`,
    );
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
    this.log.warn('`ptx-lsp` was not found in the selected Python environment or on PATH');
    const answer = await vscode.window.showWarningMessage(
      'The PTX language server is not installed. Syntax highlighting and snippets work without it; diagnostics, hover and metrics require it.',
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

async function places(): Promise<Places> {
  const settings = vscode.workspace.getConfiguration('ptx.server');
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? '';
  return {
    path: expand(settings.get('path', ''), workspace),
    python: expand(settings.get('python', ''), workspace),
    selectedPython: await selectedPython(),
    folders: programFolders(),
    windows: process.platform === 'win32',
  };
}

/** Kills the server's process. */
function kill(client: LanguageClient): void {
  client.serverProcess?.kill('SIGKILL');
}

function text(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
