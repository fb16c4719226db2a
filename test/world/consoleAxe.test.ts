/** The console's page read by axe in a real browser: of no grade does it find anything, in light and in dark. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { type PageId, pageIds } from '../../src/control/console/page/pagePlace.ts'
import { loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { walkPage } from './pageWalk.ts'

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
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[]
}

/** Whatever axe finds, of all grades, a text each. */
async function foundOf(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<readonly Violation[]>('axe.run().then(({ violations }) => violations)')
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html} ${node.failureSummary ?? ''}`),
  )
}

pageTest(
  'axe finds nothing before the log-in, on six pages wide and narrow and in every dialog and menu, in light and in dark, and nothing complains',
  { timeout: 900_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    const stranger = await (await here.browser.newContext()).newPage()
    await stranger.goto(daemon.console)
    await stranger.waitForSelector('input[name=token]')
    const found = new Set<string>()
    const look = async (shown: Page, where: string) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await shown.emulateMedia({ colorScheme })
        for (const each of await foundOf(shown)) found.add(`${colorScheme}, ${where}: ${each}`)
      }
    }
    await look(stranger, 'log-in')
    for (const width of [1_440, 390]) {
      await page.setViewportSize({ width, height: 844 })
      for (const id of pageIds) {
        await toPage(page, id)
        await page.waitForSelector(`${firstOf[id]}`)
        await look(page, `${width} ${id}`)
      }
    }
    await page.setViewportSize({ width: 1_440, height: 900 })
    const dialogs = new Set<string>()
    for (const id of pageIds)
      await walkPage(page, id, async (way) => {
        dialogs.add(way)
        await look(page, way)
      })
    expect([...found]).toEqual([])
    expect(dialogs.size).toBeGreaterThan(12)
    // Neither an error on the browser's console nor a thing that the page's policy forbids.
    expect(complaints).toEqual([])
  },
)
