// The debugger: started from the code lens, both groups of a divergent branch, the warp, a step back, a race.
import { after, before, test } from 'node:test';

import { startDebugging } from './debugging.mjs';
import { becomes, untilVisible } from './waiting.mjs';

const FILE = 'divergent.ptx';
const DIVERGENT = `.version 8.0
.target sm_80
.address_size 64
// ptx-run: grid=1 block=32 out=u32:zeros(32)
.visible .entry divergent(.param .u64 out)
{
	.reg .pred %p;
	.reg .b32 %r<4>;
	.reg .b64 %rd<3>;
	mov.u32 %r0, %tid.x;
	setp.lt.u32 %p, %r0, 12;
	@%p bra low;
	add.u32 %r1, %r0, 100;
	bra join;
low:
	mul.lo.u32 %r1, %r0, 3;
join:
	ld.param.u64 %rd0, [out];
	st.global.u32 [%rd0], %r1;
	ret;
}
`;

let editor;
let page;
let debug;
/** The page of the view *Warp*. */
let warp;
before(async () => {
  debug = await startDebugging({ files: { [FILE]: DIVERGENT } });
  ({ editor, page } = debug);
  warp = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame');
  await editor.openFile(FILE);
});
after(() => editor?.close());

test('the lens starts a session that stops before the first instruction', async () => {
  const lens = page.locator('.codelens-decoration a', { hasText: 'Debug' }).first();
  await lens.waitFor();
  await debug.startBy(lens);
  await debug.stopsAt(FILE, 10);
});

test('a divergent branch leaves two groups', async () => {
  await debug.goTo('Step Over', FILE, 11);
  await debug.goTo('Step Over', FILE, 12);
  await debug.shows('Registers', '%r0', /=\s*0$/);
  await debug.button('Step Over').click();
  await debug.row('call-stack', `${'#'.repeat(12)}${'.'.repeat(20)}`).waitFor();
  await debug.row('call-stack', `${'.'.repeat(12)}${'#'.repeat(20)}`).waitFor();
  await editor.shot('debugger');
});

test('the lines up to the one where it stands show their registers', async () => {
  await line('setp.lt.u32').filter({ hasText: /%p\s*=\s*true.*%r0\s*=\s*0/ }).waitFor();
  await line('mul.lo.u32').filter({ hasText: /%r1\s*=\s*<unset>/ }).waitFor();
});

test('the warp shows both groups and a register in all lanes', async () => {
  await untilVisible(() => debug.button('Show the Warp').click(), warp.locator('.group').nth(1));
  await becomes(() => warp.locator('.group').allInnerTexts(), [
    'A 0x00000fff (12 lanes) at line 16: mul.lo.u32 %r1, %r0, 3; reconvergence with 0xfffff000 at line 18',
    'B 0xfffff000 (20 lanes) at line 13: add.u32 %r1, %r0, 100; reconvergence with 0x00000fff at line 18',
  ]);
  await untilVisible(async () => {
    await warp.locator('#expression').fill('%r0 * 2');
    await warp.locator('#add').click();
  }, warp.locator('tr.watched').first());
  const lanes = warp.locator('tr.watched td');
  await becomes(() => lanes.allInnerTexts(), Array.from({ length: 32 }, (_, lane) => String(2 * lane)));
  await editor.shot('debugger-warp');
});

test('a lane is put in focus with the mouse and with the keyboard', async () => {
  const title = (text) => warp.locator('.title', { hasText: text });
  await untilVisible(() => warp.locator('tr.watched td').nth(20).click(), title('lane 20'));
  await debug.shows('Registers', '%r0', /=\s*20$/);
  await debug.stopsAt(FILE, 13);
  await untilVisible(async () => {
    await warp.locator('thead tr').first().locator('th').nth(21).focus();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Enter');
  }, title('lane 19'));
  await debug.shows('Registers', '%r0', /=\s*19$/);
});

test('what a step has changed is marked', async () => {
  await debug.goTo('Step Over', FILE, 14);
  const row = warp.locator('tr', { has: page.locator('th', { hasText: '%r1' }) });
  const after = Array.from({ length: 32 }, (_, lane) => String(lane < 12 ? 3 * lane : 100 + lane));
  await becomes(() => row.locator('td.altered').allInnerTexts(), after);
  await becomes(() => row.locator('td.altered').last().getAttribute('title'), 'was <unset> at the last stop');
  await editor.shot('debugger-warp-changes');
  await debug.goTo('Step Back', FILE, 13);
});

test('a step back goes to before the branch', async () => {
  await debug.goTo('Step Back', FILE, 12);
});

test('without a breakpoint it stops at what the checks find', async () => {
  await debug.button('Continue').click();
  await debug.stopsAt(FILE, 19);
  await page.locator('.exception-widget').filter({ hasText: 'race' }).waitFor();
  await editor.shot('debugger-race');
  await debug.stop();
});

const line = (text) => page.locator('.monaco-editor .view-line', { hasText: text }).first();
