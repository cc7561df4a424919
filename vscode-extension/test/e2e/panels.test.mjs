// The panels as such: themes, the keyboard, edits, closed documents, a reload of the window, and no way to the network.
import assert from 'node:assert/strict';
import http from 'node:http';
import { after, before, test } from 'node:test';

import { example, ourServer, startEditor } from './editor.mjs';
import { ANSWER, TURN, becomes, boxOf, until, untilVisible } from './waiting.mjs';

const LAUNCH = '// ptx-run: grid=1 block=32 saxpy_n=u32:32 saxpy_a=f32:2 saxpy_x=f32:arange(32) saxpy_y=f32:ones(32)';

let editor;
let page;
before(async () => {
  editor = await startEditor({
    settings: { ...ourServer(), 'files.autoSave': 'off', 'ptx.pressure.enabled': true },
    files: { 'saxpy.ptx': example('saxpy.ptx'), 'launched.ptx': `${LAUNCH}\n${example('saxpy.ptx')}` },
  });
  page = editor.page;
});
after(() => editor?.close());

test('control flow: arrows go from block to block, Enter goes to the code', async () => {
  await open('PTX: Show Control Flow');
  const second = async (...keys) => {
    await editor.panel().locator('.block').first().focus();
    for (const key of keys) {
      await page.keyboard.press(key);
    }
    return (await focused()) === 'block-1';
  };
  await until(() => second('ArrowDown'));
  await until(() => second('End', 'Home', 'ArrowDown'));
  await untilVisible(async () => {
    await second('ArrowDown');
    await page.keyboard.press('Enter');
  }, page.locator('.statusbar', { hasText: 'Ln 27' }));
  await until(async () => {
    await editor.panel().locator('#larger').click({ timeout: TURN });
    return (await boxOf(editor.panel().locator('.flow svg'))).width > 300;
  });
});

test('a page may not load from the network', async () => {
  const arrived = [];
  const outside = http.createServer(({ url }, response) => {
    arrived.push(url);
    response.writeHead(200, { 'Access-Control-Allow-Origin': '*' }).end();
  });
  await new Promise((resolve) => outside.listen(0, '127.0.0.1', resolve));
  try {
    const ran = await editor.panel().locator('#page').evaluate(async (element, address) => {
      const image = new Image();
      image.src = `${address}/image.png`;
      await fetch(`${address}/fetch`).catch(() => undefined);
      const script = document.createElement('script');
      script.textContent = 'window.wasRun = true';
      element.append(script);
      await new Promise((resolve) => setTimeout(resolve, 500));
      script.remove();
      return window.wasRun === true;
    }, `http://127.0.0.1:${outside.address().port}`);
    assert.equal(ran, false, 'a script without the nonce was run');
    assert.deepEqual(arrived, []);
  } finally {
    outside.close();
  }
  const policy = await editor.panel().locator('meta[http-equiv]').getAttribute('content');
  assert.match(policy, /^default-src 'none';/);
});

test('run: the launch comment is written above the kernel', async () => {
  await open("PTX: Run the Kernel's Preview");
  const insert = editor.panel().getByRole('button', { name: 'Insert it above' });
  await untilVisible(() => insert.click(), editor.panel().locator('#page', { hasText: 'instructions executed' }), ANSWER);
});

test('occupancy: a slider is moved by keys, and keeps the focus', async () => {
  await open('PTX: Show Occupancy');
  await untilVisible(async () => {
    await editor.panel().locator('input#registers').focus();
    for (let times = 0; times < 3; times++) {
      await page.keyboard.press('PageUp');
    }
  }, editor.panel().locator('dd', { hasText: /^(75|62\.5|50|37\.5|25|12\.5) %$/ }).first());
  await becomes(focused, 'registers');
  await untilVisible(() => editor.panel().locator('#back').click(), editor.panel().locator('dd', { hasText: '100 %' }).first());
});

test('a panel follows edits, and tells that its kernel has gone', async () => {
  await page.locator('.view-line', { hasText: '.maxntid' }).first().click();
  await page.keyboard.press('End');
  await replaceAll('256', '512');
  await editor.panel().locator('output[for="threads"]', { hasText: '512' }).waitFor();
  await replaceAll('.entry saxpy', '.entry another');
  await editor.panel().locator('#note', { hasText: 'no longer contains a kernel saxpy' }).waitFor();
  await replaceAll('.entry another', '.entry saxpy');
  await editor.panel().locator('#note:empty').waitFor({ state: 'attached' });
});

test('a panel is there again when the window is loaded again', async () => {
  await editor.save();
  await editor.stored((layout) => {
    const plain = layout.replaceAll('\\', ''); // the state is a text within a text
    return plain.split('webviewInput').length === 2 && plain.includes('Occupancy: saxpy') && plain.includes('"kernel":"saxpy"');
  });
  await editor.open([]); // a file to open would take the place of what was open
  await until(() => editor.panel().locator('dd', { hasText: '%' }).first().isVisible(), instead);
});

/** What is shown instead: the names of editors, and the text of each page. */
async function instead() {
  const tabs = await page.locator('.tab').allInnerTexts();
  const texts = await Promise.all(page.frames().map((frame) => frame.locator('body').innerText({ timeout: TURN }).catch(String)));
  return `no occupancy; editors: ${tabs.join(', ') || 'none'}; pages:\n${texts.join('\n---\n')}`;
}

for (const theme of ['Default Light Modern', 'Default High Contrast']) {
  test(`the panels follow the theme ${theme}`, async () => {
    await editor.configure({ 'workbench.colorTheme': theme });
    const name = theme.split(' ').at(-2).toLowerCase();
    for (const [command, panel, shows] of [
      ['PTX: Show Occupancy', 'occupancy', 'Blocks per SM'],
      ['PTX: Show Control Flow', 'control-flow', 'divergent'],
      ["PTX: Run the Kernel's Preview", 'preview', 'instructions executed'],
    ]) {
      await open(command, 'launched.ptx');
      await editor.panel().locator('#page', { hasText: shows }).waitFor();
      await editor.panel().locator(theme.includes('Light') ? 'body.vscode-light' : 'body.vscode-high-contrast').waitFor();
      await page.waitForTimeout(500); // the chart is drawn
      await editor.shot(`${panel}-${name}`);
    }
  });
}

/** Opens a panel about the kernel, with the cursor in the kernel. */
async function open(command, file = 'saxpy.ptx') {
  await editor.openFile(file);
  await page.locator('.view-line', { hasText: 'cvta' }).first().click();
  await page.locator('.statusbar-item[id*="ptx"]', { hasText: 'registers' }).waitFor();
  await untilVisible(() => editor.command(command), editor.panel().locator('#page *').first(), ANSWER);
}

function focused() {
  return editor.panel().locator('body').evaluate(() => document.activeElement.id);
}

async function replaceAll(old, text) {
  await untilVisible(async () => {
    await page.keyboard.press('Control+h');
    await page.locator('.find-part textarea').fill(old);
    await page.locator('.replace-part textarea').fill(text);
    await page.keyboard.press('Control+Alt+Enter');
    await page.keyboard.press('Escape');
  }, page.locator('.view-line', { hasText: text }).first());
}
