// The debugger: a step back over a barrier, who wrote a byte, bytes in the hex editor, a changed register, a race.
import { after, before, test } from 'node:test';

import { startDebugging } from './debugging.mjs';
import { untilVisible } from './waiting.mjs';

const TURNED = `.version 8.0
.target sm_80
.address_size 64
.shared .b32 buffer[64];
// ptx-run: grid=1 block=64 out=u32:zeros(64)
.visible .entry turned(.param .u64 out)
{
	.reg .b32 %r<6>;
	.reg .b64 %rd<3>;
	ld.param.u64 %rd0, [out];
	mov.u32 %r0, %tid.x;
	shl.b32 %r1, %r0, 2;
	mov.u32 %r2, buffer;
	add.u32 %r3, %r2, %r1;
	st.shared.u32 [%r3], %r0;
	bar.sync 0;
	xor.b32 %r4, %r1, 252;
	add.u32 %r4, %r4, %r2;
	ld.shared.u32 %r5, [%r4];
	cvt.u64.u32 %rd1, %r1;
	add.u64 %rd2, %rd0, %rd1;
	st.global.u32 [%rd2], %r5;
	add.u32 %r5, %r5, 1;
	ret;
}
`;
/** The same without its barrier. */
const RACE = TURNED.replace('\tbar.sync 0;\n', '');

let editor;
let page;
let debug;
before(async () => {
  debug = await startDebugging({ files: { 'turned.ptx': TURNED, 'race.ptx': RACE } });
  ({ editor, page } = debug);
  await editor.openFile('turned.ptx');
});
after(() => editor?.close());

test('a breakpoint after a barrier, and a step back over it', async () => {
  await debug.breakpoint(17);
  await debug.start();
  await debug.stopsAt('turned.ptx', 17);
  await debug.shows('Shared', 'buffer', '00000000 01000000 02000000 03000000');
  await debug.goTo('Step Back', 'turned.ptx', 16);
  await debug.goTo('Step Back', 'turned.ptx', 15);
  await debug.shows('Shared', 'buffer', '00000000 00000000 00000000 00000000');
  await editor.shot('debugger-step-back');
  await debug.goTo('Step Over', 'turned.ptx', 16);
});

test('a register is changed, and the kernel goes on with it', async () => {
  await debug.breakpoint(22);
  await debug.goTo('Continue', 'turned.ptx', 17);
  await debug.goTo('Continue', 'turned.ptx', 22);
  await debug.shows('Registers', '%r5', '63');
  await debug.set('%r5', '258');
  await debug.goTo('Step Over', 'turned.ptx', 23);
  await debug.shows('Global', 'out', '02010000 3e000000 3d000000 3c000000');
  await editor.shot('debugger-change');
});

test('the bytes of a variable are shown by the hex editor, and written by it', async () => {
  const out = debug.variable('out');
  const hex = page.frameLocator('iframe.webview.ready').frameLocator('iframe#active-frame').locator('#bytes');
  await untilVisible(async () => {
    await out.hover();
    await out.locator('.action-label[aria-label="View Binary Data"]').click();
  }, hex);
  await hex.filter({ hasText: /^02010000 ?3e0000003d0000003c000000/ }).waitFor();
  await hex.locator('xpath=../input').fill('ff');
  await hex.locator('xpath=../button').click();
  await hex.filter({ hasText: /^ff010000/ }).waitFor();
  await debug.shows('Global', 'out', 'ff010000 3e000000');
  await editor.shot('debugger-memory');
});

test('a data breakpoint at an address finds who wrote a byte', async () => {
  await debug.shows('Registers', '%rd0');
  const address = (await debug.variable('%rd0').innerText()).replace(/\D*=\s*/, '').replace(/^%rd0/, '').trim();
  await debug.dataBreakpoint(`0x${(BigInt(address) + 5n).toString(16)}`);
  await debug.goTo('Step Over', 'turned.ptx', 24);
  await debug.goTo('Reverse', 'turned.ptx', 23);
  await debug.row('call-stack', /line 22: st\.global\.u32/i).waitFor();
  await debug.shows('Registers', '%r0', /=\s*1$/); // the thread that wrote it is in focus
  await debug.shows('Registers', '%r5', /=\s*62$/);
  await editor.shot('debugger-who-wrote');
  await debug.stop();
});

test('a race is shown with both lines', async () => {
  await editor.openFile('race.ptx');
  await debug.start();
  await debug.stopsAt('race.ptx', 18);
  const widget = page.locator('.exception-widget');
  for (const text of ['race', 'line 18: block 0,0,0 thread', 'line 15: block 0,0,0 thread']) {
    await widget.filter({ hasText: text }).waitFor();
  }
  await editor.shot('debugger-race-lines');
});
