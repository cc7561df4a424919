/**
 * Code lenses that stay alive. VS Code asks for the lenses of a document, and then for what each visible one does. When the
 * second answer comes after newer lenses, it gives the newer ones the commands of the older, and deletes these
 * commands, whose arguments it keeps elsewhere: a click then says *Actual command not found* until the text changes.
 */

import * as vscode from 'vscode';
import type { Middleware } from 'vscode-languageclient/node';

/** How long newer lenses wait for the second answers, in milliseconds: one may never come. */
const PATIENCE = 10_000;

export class Lenses implements vscode.Disposable {
  /** The commands of lenses, by their names. */
  private readonly commands = new Map<string, vscode.Disposable>();

  /** For one run of the server: one that hangs leaves questions that are never answered. */
  middleware(): Pick<Middleware, 'provideCodeLenses' | 'resolveCodeLens'> {
    /** The second answers awaited. */
    const awaited = new Set<Promise<unknown>>();
    return {
      /** Newer lenses come after the second answers for the older ones, which would otherwise give them their titles, too. */
      provideCodeLenses: async (document, token, next) => {
        const found = await next(document, token);
        const end = Date.now() + PATIENCE;
        while (awaited.size && Date.now() < end && !token.isCancellationRequested) {
          await Promise.race([Promise.allSettled(awaited), pause(PATIENCE)]);
          await pause(0); // the answer is sent after it is known here
        }
        return found;
      },
      resolveCodeLens: (lens, token, next) => {
        const answer = this.resolved(() => next(lens, token)).finally(() => awaited.delete(answer));
        awaited.add(answer);
        return answer;
      },
    };
  }

  dispose(): void {
    vscode.Disposable.from(...this.commands.values()).dispose();
    this.commands.clear();
  }

  private async resolved(next: () => vscode.ProviderResult<vscode.CodeLens>): Promise<vscode.CodeLens | null | undefined> {
    const lens = await next();
    if (lens?.command?.command && lens.command.arguments) {
      lens.command = { ...lens.command, command: this.named(lens.command), arguments: undefined };
    }
    return lens;
  }

  /** A command without arguments that does the same: VS Code has nothing of it to delete. It shows no command with `_`. */
  private named({ command, arguments: given = [] }: vscode.Command): string {
    const name = `_ptx.lens ${JSON.stringify([command, given])}`;
    if (!this.commands.has(name)) {
      this.commands.set(name, vscode.commands.registerCommand(name, () => vscode.commands.executeCommand(command, ...given)));
    }
    return name;
  }
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
