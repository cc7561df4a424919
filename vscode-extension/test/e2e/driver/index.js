// Does in the window what a person does with palette, explorer and keys, without a menu or an input that a busy machine
// may draw late. Asked by HTTP over the socket PTX_DRIVER.
const fs = require('node:fs');
const http = require('node:http');
const vscode = require('vscode');

const requests = {
  /** Shows a file alone in its window, with the cursor in it. */
  async show({ file }) {
    await run('workbench.action.closeQuickOpen');
    await run('notifications.clearAll');
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    await vscode.window.tabGroups.close(tabs.filter((tab) => !tab.isDirty));
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
  },
  /** Starts a command, which may wait for a person. */
  async command({ id }) {
    run(id).then(undefined, (error) => console.error(id, error));
  },
  /** Places the cursor in the line, counted from 1. */
  async cursor({ line }) {
    await until(anyEditor);
    place(anyEditor(), line);
  },
  /** Shows the visible editor that has a text, with the cursor in the first line that has it. */
  async find({ text }) {
    const editor = () => vscode.window.visibleTextEditors.find(({ document }) => document.getText().includes(text));
    await until(editor);
    const { document, viewColumn } = editor();
    const { line } = document.positionAt(document.getText().indexOf(text));
    place(await vscode.window.showTextDocument(document, { viewColumn }), line + 1);
  },
  /** Sets a breakpoint at the line, counted from 1. */
  async breakpoint({ line }) {
    await until(anyEditor);
    const editor = anyEditor();
    place(editor, line);
    const isSet = () =>
      vscode.debug.breakpoints.some(
        ({ location }) => location?.uri.toString() === editor.document.uri.toString() && location.range.start.line === line - 1,
      );
    if (!isSet()) {
      await run('editor.debug.action.toggleBreakpoint');
      await until(isSet);
    }
  },
  /** Saves all files. */
  async save() {
    await vscode.workspace.saveAll();
  },
  /** Ends what the tests before have begun, and closes what they have opened. */
  async clear() {
    await vscode.debug.stopDebugging();
    vscode.debug.removeBreakpoints(vscode.debug.breakpoints);
    for (const document of vscode.workspace.textDocuments.filter(({ isDirty }) => isDirty)) {
      await vscode.window.showTextDocument(document);
      await run('workbench.action.files.revert');
    }
    for (const part of ['closeAllEditors', 'closePanel', 'closeQuickOpen']) {
      await run(`workbench.action.${part}`);
    }
    await run('workbench.view.explorer');
    await run('notifications.clearAll');
  },
  /** Changes the user's settings. Null stands for the default. */
  async settings({ values }) {
    for (const [name, value] of Object.entries(values)) {
      const settings = vscode.workspace.getConfiguration();
      if (JSON.stringify(settings.inspect(name)?.globalValue ?? null) !== JSON.stringify(value)) {
        await settings.update(name, value ?? undefined, vscode.ConfigurationTarget.Global);
      }
    }
  },
};

exports.activate = () => {
  const socket = process.env.PTX_DRIVER;
  fs.rmSync(socket, { force: true });
  const server = http.createServer(async (request, response) => {
    let text = '';
    for await (const part of request) {
      text += part;
    }
    const { what, ...given } = JSON.parse(text);
    try {
      await requests[what](given);
      response.end();
    } catch (error) {
      response.writeHead(500).end(String(error.stack));
    }
  });
  server.listen(socket);
};

function run(command) {
  return vscode.commands.executeCommand(command);
}

/** The editor in front. What is drawn may not be known here yet. */
function anyEditor() {
  return vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
}

function place(editor, line) {
  const start = new vscode.Position(line - 1, 0);
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(new vscode.Range(start, start), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function until(holds) {
  while (!holds()) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
