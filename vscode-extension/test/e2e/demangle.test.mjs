// Mangled names: demangled in the lens, the hover, the outline, the status bar and the panels.
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { untilVisible } from './waiting.mjs';

const NAME = '_ZN5tools6detail11scaleKernelIfLi4EEEvPT_i';
const PTX = `.version 8.5
.target sm_90
.address_size 64
.visible .entry ${NAME}(.param .u64 p, .param .u32 n)
{
    .reg .pred %p<2>;
    @%p1 bra DONE;
DONE:
    ret;
}
`;

let editor;
let page;
before(async () => {
  editor = await startEditor({ settings: ourServer(), files: { 'k.ptx': PTX } });
  page = editor.page;
  await editor.openFile('k.ptx');
});
after(() => editor?.close());

test('code lens, status bar and breadcrumbs', async () => {
  await page.locator('.codelens-decoration', { hasText: 'tools::detail::scaleKernel<...> |' }).waitFor();
  await page.locator('.view-line', { hasText: 'bra' }).click();
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: /^\s*scaleKernel<\.\.\.>: / }).waitFor();
  await page.locator('.monaco-breadcrumbs', { hasText: 'tools::detail::scaleKernel<...>' }).waitFor();
});

test('hover has the whole name', async () => {
  await untilVisible(
    async () => {
      await page.mouse.move(0, 0); // at the same place it does not begin again
      await page.locator('.view-line', { hasText: NAME }).locator('span span').nth(4).hover();
    },
    page.locator('.monaco-hover:visible', { hasText: 'void tools::detail::scaleKernel<float, 4>(float*, int)' }),
  );
});

test('the title of a panel', async () => {
  await page.mouse.move(0, 0);
  await page.keyboard.press('Escape');
  await page.locator('.view-line', { hasText: 'bra' }).click();
  await untilVisible(
    () => editor.command('PTX: Show Control Flow'),
    page.locator('.tab', { hasText: 'Control flow: scaleKernel<...>' }),
  );
  await editor.shot('demangled');
});

test('the setting turns it off', async () => {
  await editor.configure({ 'ptx.demangle': false });
  await editor.openFile('k.ptx');
  const lens = page.locator('.codelens-decoration', { hasText: 'registers' });
  await lens.filter({ hasNotText: 'scaleKernel' }).waitFor();
});
