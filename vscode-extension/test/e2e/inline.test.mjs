// Inline PTX in CUDA and Python: findings, hover, completion and fixes, and files that are no reason to start the server.
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { TURN, becomes, until, untilVisible } from './waiting.mjs';

const CUDA = `__device__ unsigned scaled(unsigned a, unsigned b) {
  unsigned c;
  asm volatile("{\\n\\t"
      ".reg .b32 %%t;\\n\\t"
      "add.u32 %%t, %1, %2;\\n\\t"
      "mul.lo.u23 %0, %%t, %1;\\n\\t"
      "}\\n" : "=r"(c) : "r"(a), "r"(b + 1));
  return c;
}
`;
const TRITON = `import triton
import triton.language as tl


@triton.jit
def shifted(x):
    return tl.inline_asm_elementwise(
        asm="shl.b23 $0, $1, 3;",
        constraints="=r,r",
        args=[x],
        dtype=tl.int32,
        is_pure=True,
        pack=1,
    )
`;

let editor;
let page;
before(async () => {
  editor = await startEditor({
    fresh: true,
    settings: { ...ourServer(), 'editor.quickSuggestionsDelay': 10 },
    files: { 'scale.cu': CUDA, 'shift.py': TRITON, 'plain.py': 'def twice(x):\n    return 2 * x\n' },
  });
  page = editor.page;
});
after(() => editor?.close());

test('a file without inline PTX does not start the server', async () => {
  await editor.openFile('plain.py');
  await page.locator('.view-line', { hasText: 'return 2' }).waitFor();
  await offered('PTX: Restart the Language Server');
  // while the server runs, its version is offered too
  await becomes(async () => (await commandsNamed("PTX: Show the Language Server's")).map((text) => /Server's (\w+)/.exec(text)[1]), ['Log']);
  await page.keyboard.press('Escape');
});

for (const [name, wrong, line, operand, told, fixed] of [
  ['scale.cu', '.u23', 'mul.lo', '%1', 'value a', '.u32'],
  ['shift.py', '.b23', 'shl.b', '$1', 'x', '.b32'],
]) {
  test(`${name}: findings`, async () => {
    await editor.openFile(name);
    await page.locator('.squiggly-error').first().waitFor({ state: 'attached' });
    await untilVisible(
      () => hoverOver(line, wrong),
      page.locator('.monaco-hover:visible', { hasText: `no modifier ${wrong}` }),
    );
    await page.keyboard.press('Escape');
    await offered("PTX: Show the Language Server's Version");
    await page.keyboard.press('Escape');
  });

  test(`${name}: hover tells what the host passes`, async () => {
    await untilVisible(
      () => hoverOver(line, operand),
      page.locator('.monaco-hover:visible', { hasText: 'constraint' }).filter({ hasText: told }),
    );
    await editor.shot(`inline-hover-${name}`);
    await page.keyboard.press('Escape');
  });

  test(`${name}: completion of operands`, async () => {
    await untilVisible(async () => {
      await page.keyboard.press('Escape');
      await cursorBehind(line, operand);
      await page.keyboard.press('Control+Space');
    }, page.locator('.suggest-widget.visible .monaco-list-row', { hasText: operand }));
    await editor.shot(`inline-completion-${name}`);
    await page.keyboard.press('Escape');
  });

  test(`${name}: a fix`, async () => {
    await untilVisible(async () => {
      await page.keyboard.press('Escape');
      await cursorBehind(line, wrong);
      await page.keyboard.press('Control+Period');
    }, page.locator('.action-widget:visible', { hasText: `Replace with \`${fixed}\`` }));
    await editor.shot(`inline-fix-${name}`);
    await page.keyboard.press('Enter');
    await page.locator('.view-line', { hasText: fixed }).first().waitFor();
    await until(async () => (await page.locator('.squiggly-error').count()) === 0);
  });
}

test('the rest of the file belongs to other extensions', async () => {
  await editor.openFile('scale.cu');
  await editor.palette('Format Document');
  await page.locator('.monaco-dialog-box', { hasText: 'no formatter' }).waitFor();
});

/** Waits until a command is in the palette, which stays open. */
async function offered(title) {
  await until(async () => (await commandsNamed(title)).length > 0, () => `no command ${title}`);
}

/** What the palette, which stays open, lists with this in its text. */
async function commandsNamed(title) {
  await page.keyboard.press('Escape');
  await page.keyboard.press('F1');
  await page.locator('.quick-input-widget input.input').fill(`>${title}`, { timeout: TURN });
  await page.locator('.quick-input-list .monaco-list-row').first().waitFor({ timeout: TURN });
  return page.locator('.quick-input-list .monaco-list-row', { hasText: title }).allInnerTexts();
}

function row(line) {
  return page.locator('.editor-instance .view-line', { hasText: line }).first();
}

/** The place of a text in a line on the screen, near its end. */
async function placeOf(line, text) {
  const find = (element, wanted) => {
    const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const nodes = [];
    let whole = '';
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      nodes.push([whole.length, node]);
      whole += node.data;
    }
    if (!element.isConnected || !whole.includes(wanted)) {
      return undefined; // it is being drawn anew
    }
    const end = whole.indexOf(wanted) + wanted.length;
    const [start, node] = nodes.filter(([first]) => first < end).at(-1);
    const range = document.createRange();
    range.setStart(node, end - start - 1);
    range.setEnd(node, end - start);
    const { left, right, top, bottom } = range.getBoundingClientRect();
    return { left, right, y: (top + bottom) / 2 };
  };
  let place;
  await until(async () => (place = await row(line).evaluate(find, text, { timeout: TURN })), () => `no ${text} in ${line}`);
  return place;
}

async function hoverOver(line, text) {
  const { left, right, y } = await placeOf(line, text);
  await page.keyboard.press('Escape');
  await page.mouse.click(left - 40, y + 60); // closes what may be in front of the text
  await page.mouse.move((left + right) / 2, y, { steps: 4 });
}

async function cursorBehind(line, text) {
  const { right, y } = await placeOf(line, text);
  await page.mouse.click(right - 1, y);
}
