/** The commands on containers and their members. */

import * as vscode from 'vscode';

import type { ComparePanel } from '../compare.js';
import type { Member } from '../protocol.js';
import type { Server } from '../server.js';
import { counted, fileSize } from '../wording.js';
import { ContainerEditor } from './editor.js';
import type { ContainerItem } from './items.js';
import { containerOf, contents, fileName, Members, SCHEME, text } from './members.js';
import { Containers } from './tree.js';

const ENDINGS = ['fatbin', 'cubin', 'so', 'o', 'a', 'obj', 'lib', 'dll', 'exe'];

/** Something with a document: a member, or a file of the Triton cache. */
interface Chosen {
  uri: vscode.Uri;
}

/** Registers the scheme of members, the view, the editor for binaries, and the commands. */
export function registerContainers(context: vscode.ExtensionContext, server: Server, comparison: ComparePanel): vscode.Disposable {
  const containers = new Containers(server, context.workspaceState);
  const members = new Members(server);
  const editor = new ContainerEditor(context.extensionUri, containers);
  return vscode.Disposable.from(
    containers,
    members,
    vscode.workspace.registerFileSystemProvider(SCHEME, members, { isReadonly: true, isCaseSensitive: true }),
    vscode.window.createTreeView('ptx.containers', { treeDataProvider: containers, showCollapseAll: true, canSelectMany: true }),
    ...ContainerEditor.types.map((type) => vscode.window.registerCustomEditorProvider(type, editor)),
    new ContainerCommands(server, containers, comparison).register(),
  );
}

class ContainerCommands {
  constructor(
    private readonly server: Server,
    private readonly containers: Containers,
    private readonly comparison: ComparePanel,
  ) {}

  register(): vscode.Disposable {
    const table: Record<string, (...given: never[]) => unknown> = {
      'ptx.containers.open': (chosen?: vscode.Uri, selected?: vscode.Uri[]) => this.open(chosen, selected),
      'ptx.containers.close': (chosen: ContainerItem) => this.containers.close(chosen.uri),
      'ptx.containers.refresh': () => this.containers.refresh(),
      'ptx.containers.extract': (chosen?: ContainerItem) => this.extract(chosen?.uri),
      'ptx.member.save': (chosen?: Chosen) => this.save(chosen?.uri ?? currentMember()),
      'ptx.member.compare': (chosen?: Chosen, selected?: Chosen[]) => this.compare(chosen?.uri ?? currentMember(), selected),
    };
    return vscode.Disposable.from(
      ...Object.entries(table).map(([name, run]) => vscode.commands.registerCommand(name, run)),
    );
  }

  /** Shows containers in the view: those chosen in the explorer, else those of a dialog. */
  private async open(chosen?: vscode.Uri, selected?: vscode.Uri[]): Promise<void> {
    const filters = { 'Binaries with PTX': ENDINGS, 'All Files': ['*'] };
    const uris = selected?.length
      ? selected
      : chosen
        ? [chosen]
        : await vscode.window.showOpenDialog({ title: 'Open PTX Container', openLabel: 'Open', canSelectMany: true, filters });
    if (!uris?.length) {
      return;
    }
    for (const uri of uris) {
      const found = await this.containers.open(uri);
      if (found instanceof Error) {
        void vscode.window.showErrorMessage(found.message);
      } else if (!found.members.length) {
        void vscode.window.showWarningMessage(`${fileName(uri)}: ${found.notes.join('; ') || 'no PTX'}`);
      }
    }
    await vscode.commands.executeCommand('ptx.containers.focus');
  }

  /** Saves the text of a member as a file. */
  private async save(uri: vscode.Uri | undefined): Promise<void> {
    if (!uri) {
      return;
    }
    const folder = vscode.Uri.joinPath(containerOf(uri), '..');
    const defaultUri = vscode.Uri.joinPath(folder, savedName(uri));
    const target = await vscode.window.showSaveDialog({ title: `Save ${fileName(uri)}`, defaultUri, filters: { PTX: ['ptx'] } });
    if (!target) {
      return;
    }
    try {
      await vscode.workspace.fs.writeFile(target, new TextEncoder().encode(await text(this.server, uri)));
      await vscode.window.showTextDocument(target);
    } catch (error) {
      void vscode.window.showErrorMessage(message(error));
    }
  }

  /** Writes all members of a container into a folder. */
  private async extract(chosen: vscode.Uri | undefined): Promise<void> {
    const uri = chosen ?? (await this.pickContainer());
    if (!uri) {
      return;
    }
    try {
      const { members } = await contents(this.server, uri);
      if (!members.length) {
        void vscode.window.showWarningMessage(`${fileName(uri)} holds no PTX.`);
        return;
      }
      const options = { title: `Extract the PTX of ${fileName(uri)}`, openLabel: 'Extract Here', canSelectFolders: true, canSelectFiles: false };
      const [folder] = (await vscode.window.showOpenDialog(options)) ?? [];
      if (folder && (await mayWrite(folder, members))) {
        await this.write(uri, folder, members);
      }
    } catch (error) {
      void vscode.window.showErrorMessage(message(error));
    }
  }

  private async write(container: vscode.Uri, folder: vscode.Uri, members: Member[]): Promise<void> {
    const title = `Extracting the PTX of ${fileName(container)}`;
    const options = { location: vscode.ProgressLocation.Notification, title, cancellable: true };
    const written = await vscode.window.withProgress(options, async (progress, token) => {
      let count = 0;
      for (const member of members) {
        if (token.isCancellationRequested) {
          break;
        }
        const uri = vscode.Uri.parse(member.uri);
        const data = new TextEncoder().encode(await text(this.server, uri));
        await vscode.workspace.fs.writeFile(vscode.Uri.joinPath(folder, savedName(uri)), data);
        count++;
        progress.report({ increment: 100 / members.length, message: member.name });
      }
      return count;
    });
    const answer = await vscode.window.showInformationMessage(`Wrote ${counted(written, 'file')} to ${folder.fsPath}.`, 'Show');
    if (answer) {
      await vscode.commands.executeCommand('revealInExplorer', folder);
    }
  }

  /** Compares two members: those that are selected, or one with another that the user picks. */
  private async compare(uri: vscode.Uri | undefined, selected?: Chosen[]): Promise<void> {
    if (selected?.length === 2) {
      await this.comparison.withFile(undefined, selected.map((one) => one.uri));
      return;
    }
    if (!uri) {
      return;
    }
    const items = (await this.members()).filter((one) => one.uri.toString() !== uri.toString());
    const found = await vscode.window.showQuickPick(items, { title: `Compare ${fileName(uri)} with`, matchOnDescription: true });
    if (found) {
      await this.comparison.withFile(undefined, [found.uri, uri]);
    }
  }

  /** The members of all containers in the view. */
  private async members(): Promise<(vscode.QuickPickItem & Chosen)[]> {
    const found = await Promise.all(
      this.containers.opened.map(async (uri) => {
        const container = await this.containers.contents(uri);
        const members = container instanceof Error ? [] : container.members;
        return members.map((member) => ({
          label: member.name,
          description: `${fileName(uri)} · PTX ${member.version}, ${fileSize(member.size)}`,
          uri: vscode.Uri.parse(member.uri),
        }));
      }),
    );
    return found.flat();
  }

  private async pickContainer(): Promise<vscode.Uri | undefined> {
    const items = this.containers.opened.map((uri) => ({ label: fileName(uri), description: uri.fsPath, uri }));
    if (!items.length) {
      void vscode.window.showInformationMessage('Open a PTX container first.');
      return undefined;
    }
    return items.length === 1 ? items[0]?.uri : (await vscode.window.showQuickPick(items, { title: 'Extract which container?' }))?.uri;
  }
}

/** The member in the active editor. */
function currentMember(): vscode.Uri | undefined {
  const uri = vscode.window.activeTextEditor?.document.uri;
  if (uri?.scheme === SCHEME) {
    return uri;
  }
  void vscode.window.showInformationMessage('Open a member of a PTX container first.');
  return undefined;
}

/** As `ptx-lint extract` calls it: `libfoo.so!3:sm_90` is saved as `libfoo.3.sm_90.ptx`. */
function savedName(member: vscode.Uri): string {
  const container = fileName(containerOf(member)).replace(/(?<=.)\.[^.]*$/, '');
  const name = fileName(member).split('!').at(-1) ?? '';
  return `${container}.${name.replace(':', '.')}.ptx`;
}

/** Asks before files are overwritten. */
async function mayWrite(folder: vscode.Uri, members: Member[]): Promise<boolean> {
  const there = new Set((await vscode.workspace.fs.readDirectory(folder)).map(([name]) => name));
  const same = members.filter(({ uri }) => there.has(savedName(vscode.Uri.parse(uri))));
  if (!same.length) {
    return true;
  }
  const question = `Overwrite ${counted(same.length, 'file')} in ${folder.fsPath}?`;
  return (await vscode.window.showWarningMessage(question, { modal: true }, 'Overwrite')) === 'Overwrite';
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
