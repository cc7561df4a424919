// The interpreter is the workspace's file `one` until a test selects another.
const path = require('node:path');
const vscode = require('vscode');

exports.activate = function () {
  const changed = new vscode.EventEmitter();
  let selected = path.join(vscode.workspace.workspaceFolders[0].uri.fsPath, 'one');
  return {
    environments: {
      getActiveEnvironmentPath: () => ({ path: selected }),
      onDidChangeActiveEnvironmentPath: changed.event,
    },
    select(python) {
      selected = python;
      changed.fire({ path: python });
    },
  };
};
