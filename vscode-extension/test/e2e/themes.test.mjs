// Colours: correct code does not look like an error in the themes that come with VS Code.
import { after, before, test } from 'node:test';

import { ourServer, startEditor } from './editor.mjs';
import { until } from './waiting.mjs';

const KERNEL = `.version 8.5
.target sm_90
.address_size 64
.entry k()
{
    .reg .f32 %f<4>;
    fma.rn.ftz.f32 %f1, %f2, %f3, %f3;
    bra.uni DONE;
DONE:
    ret;
}
`;
const THEMES = [
  'Default Light Modern', 'Default Dark Modern', 'Default Light+', 'Default Dark+', 'Default High Contrast',
  'Solarized Light', 'Solarized Dark',
];

let editor;
let page;
before(async () => {
  editor = await startEditor({ settings: ourServer(), files: { 'k.ptx': KERNEL } });
  page = editor.page;
});
after(() => editor?.close());

for (const theme of THEMES) {
  test(`modifiers are not red in ${theme}`, async () => {
    await editor.configure({ 'workbench.colorTheme': theme });
    await editor.openFile('k.ptx');
    // the server's tokens replace those of the grammar
    await page.locator('.codelens-decoration', { hasText: 'registers' }).waitFor();
    const line = page.locator('.view-line', { hasText: 'fma' });
    // the line is drawn again when the colours of the theme and the server's tokens arrive
    let colors = [];
    const isRed = (color) => {
      const [red, green, blue] = color.match(/\d+/g).map(Number);
      return red >= green + 60 && red >= blue + 60;
    };
    await until(async () => {
      colors = await line.locator('span span').evaluateAll((spans) =>
        spans.flatMap((span) => (/rn|ftz/.test(span.textContent) ? [getComputedStyle(span).color] : [])),
      );
      return colors.length > 1 && colors.every(Boolean) && !colors.some(isRed);
    }, () => `modifiers are ${colors.join(' and ') || 'not drawn'}`);
    await editor.shot(`colours-${theme.replaceAll(/\W+/g, '-').toLowerCase()}`);
  });
}
