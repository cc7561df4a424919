// A language server that behaves badly: `old` is of an early version, `dies` ends when a document is opened, `mute` never
// answers, `broken` ends before it says anything, `midway` ends when a report is asked for, but answers when run again.
import fs from 'node:fs';

const behaviour = process.argv[2];
if (behaviour === 'broken') {
  console.error('ImportError: this server is broken');
  process.exit(1);
}
let buffer = Buffer.alloc(0);

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

function receive({ id, method }) {
  if (behaviour === 'mute') {
    return;
  }
  if (behaviour === 'midway' && method === 'ptx/kernelReport' && !fs.existsSync(process.argv[3])) {
    fs.writeFileSync(process.argv[3], 'has ended once');
    process.exit(1);
  }
  if (method === 'initialize') {
    const version = behaviour === 'old' ? '0.0.1' : '0.2.0';
    answer(id, { capabilities: { hoverProvider: true, textDocumentSync: 1 }, serverInfo: { name: 'ptx-lsp', version } });
  } else if (method === 'exit' || (behaviour === 'dies' && method === 'textDocument/didOpen')) {
    process.exit(behaviour === 'dies' ? 1 : 0);
  } else if (id !== undefined) {
    answer(id, null);
  }
}

function answer(id, result) {
  const body = JSON.stringify({ jsonrpc: '2.0', id, result });
  process.stdout.write(`Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
}
