// From PTX to the source: definition of `.loc`, a file that is not there, and no underlined `.loc`.
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { TURN, until, untilVisible } from './waiting.mjs';

const PTX = `.version 8.5
.target sm_90
.address_size 64
.file 1 "/on/another/machine/scale.cu"
.file 2 "/on/another/machine/absent.cu"
.entry k()
{
    .loc 1 3 5
    ret;
    .loc 2 1 1
    ret;
}
`;

let editor;
let page;
before(async () => {
  editor = await startEditor({
    settings: ourServer(),
    files: { 'k.ptx': PTX, 'scale.cu': '__global__ void k()\n{\n    return;\n}\n' },
  });
  page = editor.page;
  await editor.openFile('k.ptx');
  await page.locator('.codelens-decoration', { hasText: 'registers' }).waitFor();
});
after(() => editor?.close());

test('a source line is not a link', async () => {
  await page.locator('.view-line .detected-link', { hasText: 'scale.cu' }).waitFor();
  await until(async () => (await page.locator('.view-line .detected-link').count()) === 2);
});

test('a file that is not there is told', async () => {
  await untilVisible(
    () => definition('2 1 1'),
    page.locator('.notifications-toasts', { hasText: 'absent.cu` was not found' }),
  );
});

test('definition goes to the source line', async () => {
  await untilVisible(() => definition('1 3 5'), page.locator('.tab.active', { hasText: 'scale.cu' }));
  await page.locator('.statusbar', { hasText: 'Ln 3, Col 5' }).waitFor();
});

async function definition(text) {
  await page.keyboard.press('Control+Home'); // a click may have scrolled the line away
  await page.locator('.view-line', { hasText: `.loc ${text}` }).locator('span span').last().click({ timeout: TURN });
  await page.keyboard.press('F12');
}
