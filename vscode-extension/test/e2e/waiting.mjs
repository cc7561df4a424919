// How tests wait: an editor on a busy machine does anything late, and draws it anew at any time.
import { inspect, isDeepStrictEqual } from 'node:util';

/** How long to wait for anything, in milliseconds: only a broken editor takes as long. */
export const PATIENCE = Number(process.env.PTX_PATIENCE ?? 300_000);
/** How long to wait for the effect of a click or a key before trying again, in milliseconds. */
export const TURN = 5_000;
/** How long to wait before a command is given again that asks the server: a newer question discards the answer to an older one. */
export const ANSWER = 60_000;
/** What can lie in front of the text and take the mouse from it, whether or not it can be seen. */
const IN_FRONT = ['.monaco-dialog-box', '.quick-input-widget', '.notification-toast', '.monaco-hover', '.context-view']
  .map((one) => `${one}:visible`).join();

/**
 * Asks until the answer is true. Any step may be lost in an editor on a slow machine: a view is drawn anew between two
 * questions, a key arrives before there is a handler. `explain` says what is wrong when it never becomes true.
 */
export async function until(attempt, explain = () => `never true: ${attempt}`) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      if (await attempt()) {
        return;
      }
    } catch (error) {
      if (error.name !== 'TimeoutError' && !/detached|not attached|context was destroyed|did not change its state|strict mode violation/.test(error.message)) {
        throw error;
      }
    }
    if (Date.now() > end) {
      throw new Error(await explain());
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Asks until the answer is `expected`. What is shown may be drawn anew between two questions. */
export async function becomes(read, expected) {
  let answer;
  await until(async () => {
    answer = await read();
    return isDeepStrictEqual(answer, expected);
  }, () => `${inspect(answer)} is not ${inspect(expected)}`);
}

/** The place of an element on the screen. One that is drawn anew has none for a moment. */
export async function boxOf(element) {
  let box;
  await until(async () => (box = await element.boundingBox({ timeout: TURN })), () => `${element} is not visible`);
  return box;
}

/** The values of properties of an element's style. One that is drawn anew has none for a moment. */
export async function styleOf(element, ...properties) {
  let values;
  await until(async () => {
    values = await element.evaluate((one, names) => names.map((name) => getComputedStyle(one)[name]), properties, { timeout: TURN });
    return values.every(Boolean);
  }, () => `${element} has no ${properties}`);
  return values;
}

/** Does `act` until `effect` is visible, every `turn` milliseconds. What is done may be done twice. */
export async function untilVisible(act, effect, turn = TURN) {
  const page = effect.page();
  let acted = false;
  await until(async () => {
    if (!acted || !(await effect.isVisible())) {
      acted = true;
      page.setDefaultTimeout(TURN); // the effect may come late, and what is acted on be gone then
      try {
        await act();
      } finally {
        page.setDefaultTimeout(PATIENCE);
      }
    }
    await effect.waitFor({ timeout: turn });
    return true;
  }, async () => {
    const inFront = await page.locator(IN_FRONT).evaluateAll((all) => all.map((one) => `${one.className}: ${one.innerText}`));
    return `no ${effect} after ${act}; in front of the window: ${inFront.join(' | ') || 'nothing'}`;
  });
}
