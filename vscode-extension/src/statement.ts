/** Where a statement may begin, judged by the text before the cursor alone: it also works without a server. */

export type Where = 'file' | 'body';

/** Where the word before the cursor begins a statement; undefined within one, or in a comment or string. */
export function statementAt(before: string): Where | undefined {
  const text = before.replace(/\/\*[^]*?\*\/|\/\/.*\n|"[^"\n]*"/g, '\n').replace(/[.]?[\w-]*$/, '');
  if (/\/\*|\/\/|"/.test(text)) {
    return undefined;
  }
  const plain = text
    .replace(/\{[^{};]+\}/g, 'vector')
    .replace(/^[ \t]*\.(version|target|address_size|file|loc)\b.*\n/gm, '')
    .replace(/[\w$]\s*:(?!:)/g, ';');
  const rest = plain.slice(Math.max(plain.lastIndexOf(';'), plain.lastIndexOf('}')) + 1).trim();
  if (!/^(\.[^={]*)?\{?(\s*\{)*$/.test(rest) || (rest !== '' && !rest.endsWith('{'))) {
    return undefined;
  }
  return depth(plain) > 0 ? 'body' : 'file';
}

function depth(text: string): number {
  let open = 0;
  for (const sign of text) {
    open += sign === '{' ? 1 : sign === '}' && open > 0 ? -1 : 0;
  }
  return open;
}
