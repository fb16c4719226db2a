/** The console's page read by axe in a real browser: nothing serious keeps anybody out, in light and in dark. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type PageId, pageIds } from '../../src/control/console/page/pagePlace.ts'
import { loggedIn, servedIn, stopBy, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')

const here = pageTests()

/** What each page has once it is drawn. */
const firstOf: Readonly<Record<PageId, string>> = {
  trade: '#prices canvas',
  orders: '#orders :is(tbody tr, .card)',
  strategies: '#strategies tbody tr',
  results: '#runs',
  risk: '#limits .rows li',
  system: '#config tbody tr',
}

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
  'axe finds nothing serious before the log-in, on six pages wide and narrow and in dialogs, in light and in dark',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    const stranger = await (await here.browser.newContext()).newPage()
    await stranger.goto(daemon.console)
    await stranger.waitForSelector('input[name=token]')
    for (const colorScheme of ['light', 'dark'] as const) {
      await stranger.emulateMedia({ colorScheme })
      expect([colorScheme, 'log-in', await graveOf(stranger)]).toEqual([colorScheme, 'log-in', []])
      await page.emulateMedia({ colorScheme })
      for (const width of [1_440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        for (const id of pageIds) {
          await toPage(page, id)
          await page.waitForSelector(`${firstOf[id]}`)
          expect([colorScheme, width, id, await graveOf(page)]).toEqual([colorScheme, width, id, []])
        }
      }
      await page.setViewportSize({ width: 1_440, height: 900 })
      for (const [id, selector] of [
        ['orders', '#orders tbody button'],
        ['trade', '#positions tbody button >> nth=0'],
        ['trade', '#positions tbody button >> nth=1'],
        ['strategies', '#strategies button[aria-label^="Show the file"]'],
      ] as const) {
        await toPage(page, id)
        await page.click(selector)
        await page.waitForSelector('dialog[open]')
        expect([colorScheme, selector, await graveOf(page)]).toEqual([colorScheme, selector, []])
        await page.keyboard.press('Escape')
      }
      await stopBy(page, 'killClose')
      await page.waitForSelector('dialog[open]')
      expect([colorScheme, 'close all', await graveOf(page)]).toEqual([colorScheme, 'close all', []])
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.waitForSelector('dialog[open]')
      expect([colorScheme, 'keys', await graveOf(page)]).toEqual([colorScheme, 'keys', []])
      await page.keyboard.press('Escape')
    }
  },
)
