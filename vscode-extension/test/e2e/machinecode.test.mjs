// Source, PTX and machine code side by side: what a click selects is what nvdisasm says, for a CUDA and a Triton kernel.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';

import { ourServer, PROJECT, startEditor } from './editor.mjs';
import { ANSWER, TURN, becomes, boxOf, styleOf, until, untilVisible } from './waiting.mjs';

const KERNELS = {
  cuda: { ptx: 'tests/oracle/corpus/nvcc130_reduce.sm80.lineinfo.ptx', source: '/src/gen/cuda/reduce.cu', kernel: 'votes' },
  triton: { ptx: 'tests/executor/kernels/triton_wgmma_matmul.ptx', source: '/src/gen/triton/gen.py', kernel: 'matmul_k' },
};
const HEX = /\/\*([0-9a-f]{4,})\*\//;

let editor;
let page;
before(async () => {
  const files = {};
  for (const { ptx, source } of Object.values(KERNELS)) {
    // The sources are ours: one line of text for each line of the original.
    const name = path.basename(source);
    files[`${name}.ptx`] = fs.readFileSync(path.join(PROJECT, ptx), 'utf8').replace(`"${source}"`, `"${name}"`);
    files[name] = Array.from({ length: 80 }, (_, line) => `// line ${line + 1} of ${name}`).join('\n');
  }
  editor = await startEditor({ settings: ourServer(), files });
  page = editor.page;
});
after(() => editor?.close());

for (const [name, { source, kernel }] of Object.entries(KERNELS)) {
  test(`a click on a line of a ${name} source selects its PTX and its machine code`, async () => {
    await open(path.basename(source), kernel);
    await editor.panel().locator('#figures', { hasText: /registers, .*spills.* \(ptxas \d+/ }).waitFor();
    const expected = instructionsOfLines(name, kernel, source);
    const [line, addresses] = [...expected].sort(([, one], [, other]) => other.size - one.size)[0];
    await until(async () => {
      await editor.panel().locator('#source .line').nth(line - 1).click({ timeout: TURN }); // the panel may just be drawn again
      return (await editor.panel().locator('#code .line.selected').count()) > 0;
    });
    await becomes(async () => new Set(await numbers('#code .line.selected')), addresses);
    await until(async () => (await editor.panel().locator('#ptx .line.selected').count()) > 0);
    // And back: from one of these instructions to the line of the source.
    await becomes(async () => {
      await editor.panel().locator('#code .line.selected').first().click({ timeout: TURN });
      return numbers('#source .line.selected');
    }, [String(line)]);
    await page.waitForTimeout(500);
    await editor.shot(`machine-code-${name}`);
  });
}

test('the panel follows the cursor in the PTX and in the source', async () => {
  await editor.find('ld.param.b64');
  await until(async () => (await editor.panel().locator('#ptx .line.selected').allTextContents()).join().includes('ld.param.b64'));
  const line = editor.panel().locator('#source .line').nth(40);
  await untilVisible(() => line.dblclick(), page.locator('.view-line', { hasText: 'of gen.py' }).first()); // beside the panel
  await becomes(async () => {
    await editor.find('line 42 of gen.py\n');
    return numbers('#source .line.selected');
  }, ['42']);
});

test('three columns have more room than the text beside them, and can be hidden', async () => {
  let widths;
  await until(async () => {
    const columns = await boxOf(page.locator('iframe.webview.ready').last());
    const text = await boxOf(page.locator('.editor-instance').first());
    widths = [columns.width, text.width];
    return columns.width > 1.4 * text.width;
  }, () => widths.join(' beside '));
  for (const [isShown, columns] of [[false, 2], [true, 3]]) {
    await becomes(async () => {
      await editor.panel().locator('#show-ptx').setChecked(isShown, { timeout: TURN });
      return editor.panel().locator('.columns section').count();
    }, columns);
  }
});

test('live registers, labels and colours are shown', async () => {
  const live = () => editor.panel().locator('#code .live').allTextContents();
  await until(async () => (await live()).filter((count) => Number(count) > 0).length > 100);
  await editor.panel().locator('#code .label').first().waitFor();
  await until(async () => (await editor.panel().locator('#code .tint').count()) > 100);
  const [behind] = await styleOf(editor.panel().locator('#code .tint').first(), 'backgroundColor');
  assert.notEqual(behind, 'rgba(0, 0, 0, 0)');
});

test('without ptxas there are two columns, and the reason', async () => {
  await editor.configure({ 'ptx.ptxas': 'off' });
  await open('reduce.cu', 'votes');
  await editor.panel().locator('#problem', { hasText: 'ptxas is turned off' }).waitFor();
  await becomes(() => editor.panel().locator('.columns section').count(), 2);
  await until(async () => {
    await editor.panel().locator('#ptx .tint').first().click({ timeout: TURN });
    return (await editor.panel().locator('#source .line.selected').count()) === 1;
  });
});

for (const theme of ['Default Light Modern', 'Default High Contrast']) {
  test(`the theme ${theme}`, async () => {
    await editor.configure({ 'workbench.colorTheme': theme, 'ptx.ptxas': 'auto' });
    await open('gen.py', 'matmul_k');
    const selected = editor.panel().locator('#code .line.selected').first();
    await untilVisible(() => editor.panel().locator('#code .line').nth(60).click(), selected);
    const brightness = (color) => Math.max(...color.match(/\d+/g).slice(0, 3).map(Number));
    let colors;
    await until(async () => { // the colours of the theme arrive late
      colors = await styleOf(selected, 'color', 'backgroundColor');
      const [text, behind] = colors.map(brightness);
      return Math.abs(text - behind) > 60;
    }, () => `text ${colors.join(' on ')}`);
    await editor.shot(`machine-code-${theme.split(' ').at(-2).toLowerCase()}`);
  });
}

/** Opens the panel about a kernel, with the cursor in it. */
async function open(name, kernel) {
  await editor.openFile(`${name}.ptx`);
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'PTX' }).waitFor();
  await editor.find(`${kernel}(`);
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'registers' }).waitFor();
  await untilVisible(() => editor.command('PTX: Show Source, PTX and Machine Code'), editor.panel().locator('#ptx .line').first(), ANSWER);
}

function numbers(selector) {
  return editor.panel().locator(`${selector} .number`).allTextContents(); // what is not in sight has no inner text
}

/** The addresses of the instructions for each line of a source, inlined code included, as nvdisasm recorded them. */
function instructionsOfLines(name, kernel, source) {
  const listing = fs.readFileSync(path.join(PROJECT, 'tests/data/nvdisasm', `${name}.lines.txt`), 'utf8');
  const [, section] = listing.split(new RegExp(`\\n *\\.section \\.text\\.${kernel},`));
  const found = new Map();
  let chain = [];
  let next = [];
  for (const text of section.split('\n')) {
    if (text.includes('.section .text.')) {
      break;
    }
    if (text.includes('//## File') && !text.includes('.nv_debug_ptx_txt')) {
      next.push(...[...text.matchAll(/"([^"]+)", line (\d+)/g)].map(([, file, line]) => [file, Number(line)]));
    } else if (HEX.test(text)) {
      chain = next.length ? next : chain;
      next = [];
      const line = chain.find(([file]) => file === source)?.[1];
      if (line !== undefined) {
        found.set(line, (found.get(line) ?? new Set()).add(HEX.exec(text)[1]));
      }
    }
  }
  return found;
}
