// Writes a fat binary as NVIDIA's tools do, with plain entries.

/** `entries`: each with its architecture and a text in PTX, or bytes of machine code. */
export function fatBinary(...entries) {
  const content = Buffer.concat(entries.map(entry));
  const header = Buffer.alloc(16);
  header.writeUInt32LE(0xba55ed50, 0);
  header.writeUInt16LE(1, 4);
  header.writeUInt16LE(header.length, 6);
  header.writeBigUInt64LE(BigInt(content.length), 8);
  return Buffer.concat([header, content]);
}

function entry({ sm, text, code }) {
  const data = text === undefined ? code : Buffer.from(`${text}\0`);
  const padded = Buffer.alloc(Math.ceil(data.length / 8) * 8);
  data.copy(padded);
  const header = Buffer.alloc(64);
  header.writeUInt16LE(text === undefined ? 2 : 1, 0);
  header.writeUInt16LE(0x0101, 2);
  header.writeUInt32LE(header.length, 4);
  header.writeBigUInt64LE(BigInt(padded.length), 8);
  const [, major, minor] = /^\.version (\d+)\.(\d+)/m.exec(text ?? '') ?? [0, 0, 0];
  header.writeUInt16LE(Number(minor), 0x18);
  header.writeUInt16LE(Number(major), 0x1a);
  header.writeUInt32LE(sm, 0x1c);
  return Buffer.concat([header, padded]);
}
