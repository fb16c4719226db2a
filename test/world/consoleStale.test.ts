/** The console over a daemon that falls silent, and after a sleep of the machine: old figures are marked, and nothing is sent by them. */
import { resolve } from 'node:path'
import type { BrowserContextOptions } from 'playwright-core'
import { expect } from 'vitest'
import { loggedIn, servedIn, stopBy } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')

const here = pageTests()

pageTest(
  'after 25 s of silence figures fade and no order is sent, but what stops trading is; after a sleep nothing is live before a new status came',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page } = await loggedIn(
      {
        async newPage(options?: BrowserContextOptions) {
          const own = await here.browser.newPage(options)
          await own.clock.install()
          return own
        },
      },
      daemon,
      'operate',
    )
    await page.waitForSelector('.top >> text=live')
    await page.click('#positions button[aria-label^="Protect long"]')
    const send = page.locator('dialog[open] .form-tools button:not([type=button])')
    expect(await send.isEnabled()).toBe(true)

    daemon.child.kill('SIGSTOP')
    await page.clock.runFor(30_000)
    await page.waitForSelector('.top >> text=STALE')
    expect(await page.evaluate('getComputedStyle(document.querySelector("main")).opacity')).toBe('0.6')
    expect(await send.isDisabled()).toBe(true)
    await page.keyboard.press('Escape')
    await stopBy(page, 'halted')
    expect(await send.isEnabled()).toBe(true)
    await page.keyboard.press('Escape')
    daemon.child.kill('SIGCONT')
    await page.waitForSelector('.top >> text=live')

    // Everything but prices answers after the sleep.
    let isHeld = true
    const held: (() => Promise<void>)[] = []
    for (const path of ['**/api/status', '**/api/stream'])
      await page.route(path, async (route) => {
        if (isHeld) held.push(() => route.continue())
        else await route.continue()
      })
    await page.clock.fastForward(60_000)
    const books = page.waitForResponse('**/api/books')
    await page.clock.runFor(6_000)
    await books
    await page.clock.runFor(1_000)
    expect(await page.locator('.top >> text=live').count()).toBe(0)
    expect(await page.evaluate('document.documentElement.className')).toBe('stale')
    isHeld = false
    await Promise.all(held.map((each) => each()))
    await page.waitForSelector('.top >> text=live')
  },
)
