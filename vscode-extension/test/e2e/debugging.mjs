// What tests of the debugger do in the editor.
import { ourServer, startEditor } from './editor.mjs';
import { TURN, until, untilVisible } from './waiting.mjs';

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
    // VS Code opens the frames of the thread that has stopped, and no others
    const rows = page.locator('.debug-call-stack .monaco-list-row');
    const shown = async () => (await rows.allInnerTexts()).join(' | ').replaceAll(/\s+/g, ' ');
    const explain = async () => `not at ${file}:${line}: ${(await shown()) || (await page.locator('.part.sidebar').innerText())}`;
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
      await editor.breakpoint(line);
      await made.waitFor();
    },
    /**
     * Opens a scope in the view *Variables*, until a variable of it is shown with a text. VS Code may close it when it draws
     * a step while it still draws the one before.
     */
    async shows(scope, name, text = '') {
      const title = row('variables', new RegExp(`^\\s*${escaped(scope)}`));
      await untilVisible(async () => {
        if ((await title.getAttribute('aria-expanded')) !== 'true') {
          await title.click();
        }
      }, variable(name).filter({ hasText: text }));
    },
    /** Gives a variable a value. */
    async set(name, value) {
      const input = page.locator('.debug-variables .monaco-inputbox input');
      await untilVisible(async () => { // the view is drawn anew for a moment after a stop
        await variable(name).dblclick();
        await input.fill(value);
        await input.press('Enter');
      }, variable(name).filter({ hasText: value }));
    },
    /** Stops at accesses to a byte of global memory. */
    async dataBreakpoint(address) {
      const input = page.locator('.quick-input-widget input.input');
      const access = page.locator('.quick-input-list .monaco-list-row', { hasText: /Write/ }).first();
      // the lists close when something else takes the focus, even between two steps
      await untilVisible(async () => {
        await page.keyboard.press('Escape');
        await editor.command('Add Data Breakpoint at Address');
        await input.fill(address);
        await input.press('Enter');
        await access.click();
      }, page.locator('.debug-breakpoints .codicon-debug-breakpoint-data'), 60_000); // the debugger has it
    },
    /** Starts a session with a click on a code lens. It begins late on a slow machine, and must not begin twice. */
    startBy: (lens) => untilVisible(() => lens.click(), toolbar, 60_000),
    async start() {
      await editor.command('Debug: Start Debugging');
      await toolbar.waitFor();
    },
    async stop() {
      await until(async () => {
        if (await toolbar.isVisible()) {
          await button('Stop').click({ timeout: TURN });
        }
        await toolbar.waitFor({ state: 'hidden', timeout: TURN });
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
