// Runs inside VS Code's extension host: what each feature answers there. The runner waits for the results in a file.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const vscode = require('vscode');

const tests = {
  async 'diagnostics come while typing and go away'({ document, editor }) {
    await change(editor, 'mad.lo.s32', 'madd.lo.s32');
    await until(() => vscode.languages.getDiagnostics(document.uri).some(({ severity }) => severity === 0));
    await change(editor, 'madd.lo.s32', 'mad.lo.s32');
    await until(() => vscode.languages.getDiagnostics(document.uri).every(({ severity }) => severity !== 0));
  },
  async hover({ document }) {
    const found = await run('vscode.executeHoverProvider', document.uri, at(document, 'mad.lo', 1));
    assert.match(found.flatMap(({ contents }) => contents.map(({ value }) => value)).join('\n'), /mad/);
  },
  async 'completion offers the modifiers that are possible'({ document, editor }) {
    await change(editor, 'mad.lo.s32', 'mad.');
    const { items } = await run('vscode.executeCompletionItemProvider', document.uri, at(document, 'mad.', 4), '.');
    await change(editor, 'mad.', 'mad.lo.s32');
    const labels = items.map(({ label }) => (typeof label === 'string' ? label : label.label));
    assert.ok(labels.some((label) => /^\.?wide$/.test(label)), labels.slice(0, 20).join(' '));
  },
  async 'rename changes the declaration and every use'({ document }) {
    const edit = await run('vscode.executeDocumentRenameProvider', document.uri, at(document, 'done:', 1), 'finished');
    const edits = edit.get(document.uri);
    assert.equal(edits.length, 2);
    assert.ok(edits.every(({ newText }) => newText === 'finished'));
  },
  async 'definition and references'({ document }) {
    const place = at(document, 'bra done', 5);
    const definitions = await run('vscode.executeDefinitionProvider', document.uri, place);
    const [definition] = definitions;
    const line = (definition.targetSelectionRange ?? definition.targetRange ?? definition.range).start.line;
    assert.match(document.lineAt(line).text, /^done:/);
    assert.equal((await run('vscode.executeReferenceProvider', document.uri, place)).length, 2);
  },
  async 'code lens'({ document }) {
    const lenses = await until(async () => {
      const found = await run('vscode.executeCodeLensProvider', document.uri, 10);
      return found.some(({ command }) => /registers/.test(command?.title ?? '')) && found;
    });
    const { command } = lenses.find(({ command: { title } }) => /registers/.test(title));
    // a command without arguments: see `lenses.ts`
    assert.equal(command.command, `_ptx.lens ${JSON.stringify(['ptx.occupancy', [{ uri: document.uri.toString(), kernel: 'saxpy' }]])}`);
    assert.equal(command.arguments, undefined);
  },
  async 'inlay hints'({ document }) {
    const hints = await run('vscode.executeInlayHintProvider', document.uri, whole(document));
    assert.ok(hints.length > 5, `${hints.length} hints`);
  },
  async 'semantic tokens'({ document }) {
    const { data } = await run('vscode.provideDocumentSemanticTokens', document.uri);
    assert.ok(data.length >= 5 * 50);
  },
  async 'symbols, folding'({ document }) {
    const symbols = await run('vscode.executeDocumentSymbolProvider', document.uri);
    assert.ok(symbols.some(({ name }) => name === 'saxpy'));
    assert.ok((await run('vscode.executeFoldingRangeProvider', document.uri)).length);
  },
  async 'formatting keeps every token'({ document }) {
    const edits = await run('vscode.executeFormatDocumentProvider', document.uri, { tabSize: 4, insertSpaces: true });
    const tokens = (text) => text.replace(/\s+/g, '');
    const edit = new vscode.WorkspaceEdit();
    edit.set(document.uri, edits ?? []);
    const before = tokens(document.getText());
    await vscode.workspace.applyEdit(edit);
    assert.equal(tokens(document.getText()), before);
  },
  async 'a quick fix'({ document, editor }) {
    await change(editor, 'mad.lo.s32', 'madd.lo.s32');
    await until(() => vscode.languages.getDiagnostics(document.uri).some(({ severity }) => severity === 0));
    const place = at(document, 'madd.lo', 1);
    const actions = await run('vscode.executeCodeActionProvider', document.uri, new vscode.Range(place, place));
    const fix = actions.find(({ edit }) => edit?.get(document.uri)?.some(({ newText }) => newText.includes('mad')));
    assert.ok(fix, actions.map(({ title }) => title).join('; '));
    await vscode.workspace.applyEdit(fix.edit);
    assert.match(document.getText(), /\bmad\.lo\.s32/);
  },
  async 'a file that is not on this disk is served'() {
    const text = Buffer.from('.version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n    nonsense;\n}\n');
    const none = new vscode.EventEmitter();
    const provider = {
      onDidChangeFile: none.event,
      watch: () => ({ dispose() {} }),
      stat: () => ({ type: vscode.FileType.File, ctime: 0, mtime: 0, size: text.length }),
      readDirectory: () => [],
      readFile: () => text,
      createDirectory() {},
      writeFile() {},
      delete() {},
      rename() {},
    };
    vscode.workspace.registerFileSystemProvider('far', provider, { isReadonly: true });
    const uri = vscode.Uri.parse('far:/kernel.ptx');
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document);
    await until(() => vscode.languages.getDiagnostics(uri).length);
  },
  async 'another selected interpreter runs the server'({ api }) {
    const folder = vscode.workspace.workspaceFolders[0].uri.fsPath;
    assert.equal(api.program(), path.join(folder, 'one'));
    vscode.extensions.getExtension('ms-python.python').exports.select(path.join(folder, 'two'));
    await until(() => api.state() === 'running' && api.program() === path.join(folder, 'two'));
  },
  async 'many restarts leave one server'({ api }) {
    for (let times = 0; times < 4; times++) {
      void vscode.commands.executeCommand('ptx.server.restart');
    }
    await vscode.commands.executeCommand('ptx.server.restart');
    assert.equal(api.state(), 'running');
  },
  async 'a file without an ending is known by its first line'() {
    const uri = vscode.Uri.file(path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, 'listing'));
    fs.writeFileSync(uri.fsPath, '.version 8.0\n.target sm_80\n.address_size 64\n');
    assert.equal((await vscode.workspace.openTextDocument(uri)).languageId, 'ptx');
  },
  async 'the server says which it is'({ api }) {
    assert.match(api.version(), /ptx-lsp \d+\.\d+/);
    assert.equal(api.state(), 'running');
  },
};

exports.run = async function () {
  const workspace = vscode.workspace.workspaceFolders[0].uri.fsPath;
  const results = [];
  try {
    const document = await vscode.workspace.openTextDocument(path.join(workspace, 'saxpy.ptx'));
    const editor = await vscode.window.showTextDocument(document);
    const api = await vscode.extensions.getExtension('ptx-lsp.ptx-lsp').activate();
    await until(() => api.state() === 'running');
    for (const [name, test] of Object.entries(tests)) {
      try {
        await test({ document, editor, api });
        results.push({ name });
      } catch (error) {
        results.push({ name, error: String(error?.stack ?? error) });
      }
    }
    await vscode.commands.executeCommand('workbench.action.files.revert', document.uri);
  } catch (error) {
    results.push({ name: 'the extension starts', error: String(error?.stack ?? error) });
  }
  const file = path.join(workspace, 'results.json');
  fs.writeFileSync(`${file}.part`, JSON.stringify(results));
  fs.renameSync(`${file}.part`, file);
};

const run = (command, ...given) => vscode.commands.executeCommand(command, ...given);

async function until(holds, patience = 120_000) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await holds();
    if (value) {
      return value;
    }
    if (Date.now() > end) {
      throw new Error(`waited in vain for: ${holds}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function at(document, text, offset = 0) {
  const found = document.getText().indexOf(text);
  assert.ok(found >= 0, `\`${text}\` is not there`);
  return document.positionAt(found + offset);
}

function whole(document) {
  return new vscode.Range(0, 0, document.lineCount, 0);
}

async function change(editor, old, text) {
  const start = at(editor.document, old);
  const range = new vscode.Range(start, start.translate(0, old.length));
  assert.ok(await editor.edit((edit) => edit.replace(range, text)));
}
