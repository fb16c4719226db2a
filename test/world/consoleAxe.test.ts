/** The console's page read by axe in a real browser: nothing serious keeps anybody out, in light and in dark. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { browserPath, loggedIn, servedIn } from './consoleBrowser.ts'
import { killLeftOver, scratch } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')

let folder: ReturnType<typeof scratch>
let browser: Browser
beforeEach(async () => {
  folder = scratch()
  if (browserPath !== undefined)
    browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
})
afterEach(async () => {
  await browser?.close()
  await killLeftOver()
  folder.remove()
})

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** What axe finds of the two upper grades, a text each. */
async function graveOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)')
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`))
}

test.runIf(browserPath !== undefined)(
  'axe finds nothing serious before and after the log-in, in dialogs and on a phone, in light and in dark',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(folder.path, ['--control.port=0', `--strategies.paths=${strategies}`])
    const { page } = await loggedIn(browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    await page.waitForSelector('#log li >> text=filled at')
    const stranger = await (await browser.newContext()).newPage()
    await stranger.goto(daemon.console)
    await stranger.waitForSelector('input[name=token]')
    for (const colorScheme of ['light', 'dark'] as const) {
      await stranger.emulateMedia({ colorScheme })
      expect([colorScheme, 'log-in', await graveOf(stranger)]).toEqual([colorScheme, 'log-in', []])
      await page.emulateMedia({ colorScheme })
      for (const [place, selector] of [
        ['page', undefined],
        ['story', '#orders tbody button'],
        ['close', '#positions button'],
        ['sessions', 'text="Sessions"'],
        ['configuration', 'text="Configuration"'],
        ['kill', '.actions >> text="Kill and close…"'],
      ] as const) {
        if (selector !== undefined) {
          await page.click(selector)
          await page.waitForSelector('dialog[open]')
        }
        expect([colorScheme, place, await graveOf(page)]).toEqual([colorScheme, place, []])
        await page.keyboard.press('Escape')
      }
      await page.setViewportSize({ width: 360, height: 800 })
      expect([colorScheme, 'phone', await graveOf(page)]).toEqual([colorScheme, 'phone', []])
      await page.setViewportSize({ width: 1_440, height: 900 })
    }
  },
)
