/** The console's page read by axe in a real browser: nothing serious keeps anybody out, in light and in dark. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { loggedIn, servedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')

const here = pageTests()

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

pageTest(
  'axe finds nothing serious before and after the log-in, in dialogs and on a phone, in light and in dark',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    await page.waitForSelector('#log li >> text=filled at')
    const stranger = await (await here.browser.newContext()).newPage()
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
