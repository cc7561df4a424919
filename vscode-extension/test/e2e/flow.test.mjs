// The control flow of a large kernel: debug labels, collapsing, search, the overview, and the block at the cursor.
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { ANSWER, boxOf, until, untilVisible } from './waiting.mjs';

const LOOPS = 60;
/** Loops with a branch inside, and the labels that compilers write for debug information. */
const KERNEL = [
  '.version 8.5', '.target sm_90', '.address_size 64', '.visible .entry big()', '{',
  '\t.reg .pred %p<3>;', '\t.reg .b32 %r<9>;', '$L__func_begin0:',
  ...Array.from({ length: LOOPS }, (_, loop) => [
    `$L__BB0_${loop}:`, `$L__tmp${2 * loop}:`, '\tadd.u32 %r1, %r1, 1;', `$L__tmp${2 * loop + 1}:`,
    `\tsetp.lt.u32 %p1, %r1, ${loop};`, `\t@%p1 bra $L__AB0_${loop};`, `\tadd.u32 %r2, %r2, ${1000 + loop};`,
    `$L__AB0_${loop}:`, `\tsetp.lt.u32 %p2, %r2, ${loop};`, `\t@%p2 bra $L__BB0_${loop};`,
  ]).flat(),
  '\tret;', '$L__func_end0:', '}', '',
].join('\n');

let editor;
let page;
before(async () => {
  editor = await startEditor({ settings: { ...ourServer() }, files: { 'big.ptx': KERNEL } });
  page = editor.page;
  await editor.openFile('big.ptx');
});
after(() => editor?.close());

test('it opens at the block of the cursor, with the loops around it collapsed', async () => {
  await editor.goToLine(lineOf('1030;'));
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'registers' }).waitFor();
  await untilVisible(() => editor.command('PTX: Show Control Flow'), editor.panel().locator('.flow .block').first(), ANSWER);
  // each loop has three blocks; debug labels begin none
  await editor.panel().locator('.legend', { hasText: `${3 * LOOPS + 1} blocks in ${LOOPS + 3} boxes` }).waitFor();
  const here = editor.panel().locator('.block.here');
  await until(async () => /add.u32 %r2, %r2, 1030/.test(await here.textContent()));
  await until(() => isInView(here));
  await until(async () => {
    const [graph, overview] = [await boxOf(editor.panel().locator('.flow')), await boxOf(editor.panel().locator('.minimap'))];
    return overview.x >= graph.x + graph.width;
  }, () => 'the overview covers the graph');
  await editor.shot('control-flow-large');
});

test('it follows the cursor, into a collapsed loop, too', async () => {
  await editor.goToLine(lineOf('1003;'));
  const here = editor.panel().locator('.block.here');
  await until(async () => /loop at block 9 .*L__BB0_3/.test(await here.textContent()));
  await until(() => isInView(here));
});

test('a loop is expanded and collapsed where it is', async () => {
  const box = editor.panel().locator('#block-9');
  const height = async () => (await boxOf(box)).y - (await boxOf(editor.panel().locator('.flow'))).y;
  const before = await height();
  await box.locator('.sign').dispatchEvent('click');
  await editor.panel().locator('.legend', { hasText: `in ${LOOPS + 5} boxes` }).waitFor();
  await editor.panel().locator('#block-10', { hasText: 'add.u32 %r2, %r2, 1003' }).waitFor();
  await until(async () => Math.abs((await height()) - before) < 3, () => 'the box has moved');
  await box.focus();
  await page.keyboard.press('-');
  await editor.panel().locator('.legend', { hasText: `in ${LOOPS + 3} boxes` }).waitFor();
});

test('all is expanded, and all is collapsed', async () => {
  const legend = (text) => editor.panel().locator('.legend', { hasText: text });
  await untilVisible(() => editor.panel().locator('#expand').click(), legend(new RegExp(`${3 * LOOPS + 1} blocks(?! in)`)), ANSWER);
  await untilVisible(() => editor.panel().locator('#collapse').click(), legend(`in ${LOOPS + 1} boxes`), ANSWER);
});

test('search finds code that no box shows', async () => {
  await editor.panel().locator('#find').fill('1047');
  await editor.panel().locator('#hits', { hasText: '1 of 1' }).waitFor();
  const hit = editor.panel().locator('.block.hit', { hasText: 'L__BB0_47' });
  await until(() => isInView(hit));
  await editor.panel().locator('#find').fill('add.u32 %R1');
  await editor.panel().locator('#hits', { hasText: `1 of ${LOOPS}` }).waitFor();
  await editor.panel().locator('#find').press('Enter');
  await editor.panel().locator('#hits', { hasText: `2 of ${LOOPS}` }).waitFor();
});

test('the overview scrolls', async () => {
  const scrolled = () => editor.panel().locator('.flow').evaluate(({ scrollTop }) => scrollTop);
  const click = async (share) => { // the panel may move while it is drawn
    const { x, y, width, height } = await boxOf(editor.panel().locator('.minimap'));
    await page.mouse.click(x + width / 2, y + 3 + share * (height - 6));
  };
  await until(async () => {
    await click(1);
    return (await scrolled()) > 1000;
  });
  await until(async () => {
    await click(0);
    return (await scrolled()) < 200;
  });
});

test('a click on a block goes to its code', async () => {
  await editor.panel().locator('#block-0').dispatchEvent('click');
  await page.locator('.statusbar', { hasText: `Ln ${lineOf('add.u32 %r1, %r1, 1;')}` }).waitFor();
});

/** The line, counted from 1, that contains a text. */
function lineOf(text) {
  return KERNEL.split('\n').findIndex((line) => line.includes(text)) + 1;
}

async function isInView(box) {
  const [inside, around] = [await boxOf(box), await boxOf(editor.panel().locator('.flow'))];
  return inside.y >= around.y - 1 && inside.y + inside.height <= around.y + around.height + 1;
}
