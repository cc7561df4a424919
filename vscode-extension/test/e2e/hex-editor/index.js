// Shows the first bytes of what VS Code opens with the hex editor, and writes to the first.
const vscode = require('vscode');

exports.activate = (context) => {
  const provider = {
    openCustomDocument: (uri) => ({ uri, dispose() {} }),
    async resolveCustomEditor({ uri }, { webview }) {
      webview.options = { enableScripts: true };
      const show = async () => {
        const bytes = await vscode.workspace.fs.readFile(uri.with({ query: '?range=0:32' }));
        await webview.postMessage(Buffer.from(bytes).toString('hex'));
      };
      webview.onDidReceiveMessage(async (hex) => {
        if (hex) {
          await vscode.workspace.fs.writeFile(uri.with({ query: `?range=0:${hex.length / 2}` }), Buffer.from(hex, 'hex'));
        }
        await show();
      });
      webview.html = `<!doctype html><p id="bytes"></p><input id="hex"><button id="write">Write</button><script>
        const editor = acquireVsCodeApi();
        addEventListener('message', ({ data }) => (document.getElementById('bytes').textContent = data));
        document.getElementById('write').onclick = () => editor.postMessage(document.getElementById('hex').value);
        editor.postMessage('');
      </script>`;
    },
  };
  context.subscriptions.push(vscode.window.registerCustomEditorProvider('hexEditor.hexedit', provider));
};
