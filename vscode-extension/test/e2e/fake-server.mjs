// A language server that behaves badly: `old` is of an early version, `dies` ends when a document is opened, `mute` never
// answers, `broken` ends before it says anything, `midway` ends when a report is asked for, but answers when run again,
// `slow` says what its first code lens does only after VS Code has newer lenses, `silent` never does, `hangs` answers
// nothing any more when asked what one does.
import fs from 'node:fs';

const behaviour = process.argv[2];
if (behaviour === 'broken') {
  console.error('ImportError: this server is broken');
  process.exit(1);
}
let buffer = Buffer.alloc(0);
let lenses = 0;
/** Answers about the first lens. */
let late;
let hangs = behaviour === 'mute';

process.stdin.on('data', (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (;;) {
    const header = buffer.indexOf('\r\n\r\n');
    const length = Number(/Content-Length: (\d+)/i.exec(buffer.subarray(0, Math.max(0, header)).toString())?.[1]);
    if (header < 0 || buffer.length < header + 4 + length) {
      return;
    }
    const message = JSON.parse(buffer.subarray(header + 4, header + 4 + length).toString());
    buffer = buffer.subarray(header + 4 + length);
    receive(message);
  }
});

function receive({ id, method, params }) {
  if (behaviour === 'hangs' && method === 'codeLens/resolve') {
    hangs = true;
    fs.writeFileSync(process.argv[3], 'has been asked');
  }
  if (hangs) {
    return;
  }
  if (behaviour === 'midway' && method === 'ptx/kernelReport' && !fs.existsSync(process.argv[3])) {
    fs.writeFileSync(process.argv[3], 'has ended once');
    process.exit(1);
  }
  if (method === 'initialize') {
    const version = behaviour === 'old' ? '0.0.1' : '0.2.0';
    const codeLensProvider = ['slow', 'silent', 'hangs'].includes(behaviour) ? { resolveProvider: true } : undefined;
    answer(id, { capabilities: { hoverProvider: true, textDocumentSync: 1, codeLensProvider }, serverInfo: { name: 'ptx-lsp', version } });
  } else if (method === 'textDocument/codeLens') {
    const line = { line: 0, character: 0 };
    answer(id, [{ range: { start: line, end: line }, data: (lenses += 1) }]);
    setTimeout(() => late?.(), 100); // only the first of these answers counts
  } else if (method === 'codeLens/resolve') {
    const command = { title: `lens ${params.data}`, command: 'workbench.action.quickOpen', arguments: ['>ptx'] };
    const resolve = () => answer(id, { ...params, command });
    if (params.data === 1 && !late) {
      late = behaviour === 'silent' ? () => {} : resolve;
      send({ id: 'refresh', method: 'workspace/codeLens/refresh' });
    } else {
      resolve();
    }
  } else if (method === 'exit' || (behaviour === 'dies' && method === 'textDocument/didOpen')) {
    process.exit(behaviour === 'dies' ? 1 : 0);
  } else if (id !== undefined && method) {
    answer(id, null);
  }
}

function answer(id, result) {
  send({ id, result });
}

function send(message) {
  const body = JSON.stringify({ jsonrpc: '2.0', ...message });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
