// The debugger: started from the code lens, both groups of a divergent branch, a step back, a race with both lines.
import { after, before, test } from 'node:test';

import { ourServer, startEditor, until, untilVisible } from './editor.mjs';

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
before(async () => {
  editor = await startEditor({ settings: { ...ourServer(), 'files.autoSave': 'off', 'debug.openDebug': 'openOnSessionStart' }, files: { 'divergent.ptx': DIVERGENT } });
  page = editor.page;
  await editor.openFile('divergent.ptx');
});
after(() => editor?.close());

test('the lens starts a session that stops before the first instruction', async () => {
  const lens = page.locator('.codelens-decoration a', { hasText: 'Debug' }).first();
  await lens.waitFor();
  await untilVisible(() => lens.click(), toolbar());
  await stopsAt(10);
});

test('a divergent branch leaves two groups', async () => {
  await goTo('Step Over', 11);
  await goTo('Step Over', 12);
  await variable('%r0').filter({ hasText: '0' }).waitFor();
  await button('Step Over').click();
  await thread(`${'#'.repeat(12)}${'.'.repeat(20)}`).waitFor();
  await thread(`${'.'.repeat(12)}${'#'.repeat(20)}`).waitFor();
  await editor.shot('debugger');
});

test('a step back goes to before the branch', async () => {
  await goTo('Step Back', 12);
});

test('without a breakpoint it stops at what the checks find', async () => {
  await button('Continue').click();
  await stopsAt(19);
  await page.locator('.exception-widget').filter({ hasText: 'race' }).waitFor();
  await editor.shot('debugger-race');
  await button('Stop').click();
  await toolbar().waitFor({ state: 'hidden' });
});

const toolbar = () => page.locator('.debug-toolbar');
const button = (name) => toolbar().locator(`a[aria-label^="${name}"]`);
const thread = (lanes) => page.locator('.debug-call-stack .monaco-list-row', { hasText: lanes }).first();
const variable = (name) => page.locator('.debug-variables .monaco-list-row', { hasText: name }).first();

async function goTo(move, line) {
  await button(move).click();
  await stopsAt(line);
}

async function stopsAt(line) {
  const rows = page.locator('.debug-call-stack');
  await until(
    async () => new RegExp(`divergent\\.ptx\\s*${line}:`).test(await rows.first().innerText({ timeout: 1000 })),
    async () => `not at line ${line}: ${await rows.first().innerText()}`,
  );
}
