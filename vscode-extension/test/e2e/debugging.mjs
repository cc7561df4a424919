// What tests of the debugger do in the editor.
import { ourServer, startEditor, until, untilVisible } from './editor.mjs';

/** An editor with its debugger: `start` debugs the file that is open, as F5 does. */
export async function startDebugging({ settings = {}, ...given }) {
  const editor = await startEditor({
    settings: { ...ourServer(), 'files.autoSave': 'off', 'debug.openDebug': 'openOnSessionStart', ...settings },
    ...given,
  });
  const { page } = editor;
  await page.setViewportSize({ width: 1400, height: 1800 }); // the views show all their rows
  const toolbar = page.locator('.debug-toolbar');
  const button = (name) => toolbar.locator(`a[aria-label^="${name}"]`);
  const row = (view, text) => page.locator(`.debug-${view} .monaco-list-row`, { hasText: text }).first();
  const variable = (name) => page.locator('.debug-variables .monaco-list-row', { hasText: new RegExp(`^\\s*${escaped(name)}\\s*=`) }).first();

  async function stopsAt(file, line) {
    const focused = page.locator('.debug-call-stack .monaco-list-row.focused, .debug-call-stack .monaco-list-row.selected');
    const shown = async () => (await focused.allInnerTexts()).join(' | ').replaceAll(/\s+/g, ' ');
    const explain = async () => {
      const rows = await page.locator('.debug-call-stack .monaco-list-row').allInnerTexts();
      return `not at ${file}:${line}: ${await shown()} of ${rows.join(' | ') || (await page.locator('.part.sidebar').innerText())}`;
    };
    await until(async () => {
      if (!(await page.locator('.debug-call-stack').isVisible())) {
        await editor.command('View: Show Run and Debug'); // a first session may begin before VS Code can open it
      }
      return new RegExp(`${escaped(file)} ${line}:`).test(await shown());
    }, explain);
  }
  return {
    editor,
    page,
    toolbar,
    button,
    row,
    variable,
    stopsAt,
    /** Sets a breakpoint at a line of the file in the editor. */
    async breakpoint(line) {
      const glyphs = page.locator('.editor-instance .glyph-margin-widgets [class*="codicon-debug-breakpoint"]');
      const made = glyphs.nth(await glyphs.count());
      await untilVisible(async () => {
        await page.locator('.editor-instance .view-lines').first().click();
        await page.keyboard.press('Control+G');
        const input = page.locator('.quick-input-widget input.input');
        await input.fill(`:${line}`, { timeout: 5000 });
        await page.keyboard.press('Enter');
        await input.waitFor({ state: 'hidden', timeout: 5000 });
        await page.keyboard.press('F9');
      }, made);
    },
    /** Opens a scope in the view *Variables*. */
    async expand(scope) {
      const open = page.locator('.debug-variables .monaco-list-row[aria-expanded="true"]', { hasText: scope }).first();
      if (!(await open.isVisible())) {
        // its variables are fetched first: a second click too early would close it
        await untilVisible(() => row('variables', scope).click({ timeout: 5000 }), open);
      }
    },
    /** Gives a variable a value. */
    async set(name, value) {
      const input = page.locator('.debug-variables .monaco-inputbox input');
      await untilVisible(() => variable(name).dblclick({ timeout: 5000 }), input);
      await input.fill(value);
      await page.keyboard.press('Enter');
      await variable(name).filter({ hasText: value }).waitFor();
    },
    /** Stops at accesses to a byte of global memory. */
    async dataBreakpoint(address) {
      const input = page.locator('.quick-input-widget input.input');
      await editor.command('Add Data Breakpoint at Address');
      await until(async () => (await input.getAttribute('placeholder')) !== null && !(await input.inputValue()).startsWith('>'));
      await input.fill(address);
      await page.keyboard.press('Enter');
      await page.locator('.quick-input-list .monaco-list-row', { hasText: /Write/ }).first().click();
    },
    async start() {
      await page.locator('.editor-instance .view-lines').first().click();
      await untilVisible(() => page.keyboard.press('F5'), toolbar);
    },
    async stop() {
      await until(async () => {
        if (await toolbar.isVisible()) {
          await button('Stop').click({ timeout: 5000 });
        }
        await toolbar.waitFor({ state: 'hidden', timeout: 5000 });
        return true;
      });
    },
    async goTo(move, file, line) {
      await button(move).click();
      await stopsAt(file, line);
    },
  };
}

function escaped(text) {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
