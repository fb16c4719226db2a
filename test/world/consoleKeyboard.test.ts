/** An order, its stop and its close by the keyboard alone, on a small screen: the focus goes to what the daemon says, and back to where it was. */
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { addressOf } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { loggedIn, servedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
/** Nothing but what is opened here is held on it. */
const market = 'BTC/USD [BTC-USDC]'
const here = pageTests()

/** Presses a key until the focus is on such an element. */
async function reach(page: Page, selector: string, key = 'Tab'): Promise<void> {
  const isThere = () => page.evaluate((wanted) => document.activeElement?.matches(wanted) === true, selector)
  for (let presses = 0; presses < 80; presses += 1) {
    if (await isThere()) return
    await page.keyboard.press(key)
  }
  throw new Error(`the keyboard does not reach ${selector}`)
}

/** Goes to a field by the keyboard and types in place of what stands there. */
async function type(page: Page, selector: string, text: string): Promise<void> {
  await reach(page, selector)
  await page.keyboard.press('Control+A')
  await page.keyboard.type(text)
}

/** Waits until the focus is on such an element. */
async function focused(page: Page, selector: string): Promise<void> {
  await page.waitForSelector(`${selector}:focus`)
}

pageTest(
  'an order, its stop and its close by the keyboard alone: the focus is on each answer, and where it was once a dialog is closed',
  { timeout: 300_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.setViewportSize({ width: 1_280, height: 720 })
    await page.evaluate(
      (hash) => {
        location.hash = hash
      },
      addressOf({ page: 'trade', item: market }),
    )
    await page.waitForSelector('.ticket')
    await page.keyboard.press('n')
    await focused(page, '.ticket input[name=direction]')
    await page.keyboard.press('Space')
    await type(page, '.ticket input[name=stopLoss]', '3%')
    await type(page, '.ticket input[name=amount]', '500')
    await type(page, '.ticket input[name=by]', 'ann')
    await page.keyboard.press('Enter')
    await focused(page, '#quote-title')
    // The costs and the button that sends are in sight, below the head.
    const head = (await page.locator('.top').boundingBox())?.height ?? 0
    for (const selector of ['#quote-title', '.quote table', '.ticket button[name=send]']) {
      const box = await page.locator(selector).boundingBox()
      if (box === null) throw new Error(`${selector} is not drawn`)
      expect([selector, box.y >= head, box.y + box.height <= 720]).toEqual([selector, true, true])
    }
    // Asked for again by its button, which waits meanwhile.
    await reach(page, '.ticket .form-tools button:not([name])')
    await page.keyboard.press('Enter')
    await focused(page, '#quote-title')
    await page.waitForSelector('.ticket button[name=send]:not([disabled])')
    await reach(page, '.ticket button[name=send]')
    await page.keyboard.press('Enter')
    await focused(page, '.ticket .outcome.up')

    // A stop beside the position.
    const protect = '#positions button[aria-label^=Protect][aria-label*=BTC]'
    const close = '#positions button[aria-label^=Close][aria-label*=BTC]'
    await page.waitForSelector(protect)
    await reach(page, protect)
    await page.keyboard.press('Enter')
    await type(page, 'dialog[open] input[name=stopLoss]', 'abc')
    await page.keyboard.press('Enter')
    await focused(page, 'dialog[open] .outcome.down')
    await reach(page, 'dialog[open] input[name=stopLoss]', 'Shift+Tab')
    await type(page, 'dialog[open] input[name=stopLoss]', '4%')
    await page.keyboard.press('Enter')
    await focused(page, 'dialog[open] .outcome.up')
    await reach(page, 'dialog[open] .form-tools button:not([type])')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`dialog[open] .outcome:focus >> text=${texts.dialog.carriedOut}`)
    await page.keyboard.press('Escape')
    await focused(page, protect)

    // A field at fault keeps the focus.
    await reach(page, close)
    await page.keyboard.press('Enter')
    await type(page, 'dialog[open] input[name=percent]', '0')
    await page.keyboard.press('Enter')
    await focused(page, 'dialog[open] input[name=percent][aria-invalid=true]')
    await type(page, 'dialog[open] input[name=percent]', '100')
    await page.keyboard.press('Enter')
    await focused(page, 'dialog[open] .outcome.up')
    await type(page, 'dialog[open] input[name=typed]', 'close')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`dialog[open] .outcome:focus >> text=${texts.dialog.carriedOut}`)
    await page.waitForSelector(close, { state: 'detached' })
    await page.keyboard.press('Escape')
    await page.waitForSelector('dialog[open]', { state: 'detached' })
    // Its button is gone with the row: the focus is on the page's own part, and not on nothing.
    expect(await page.evaluate(() => document.activeElement?.closest('main') !== null)).toBe(true)
    expect(complaints).toEqual([])
  },
)
