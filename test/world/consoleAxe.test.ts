/** The console's page read by axe in a real browser: of any grade it finds nothing, in light and in dark, wide and narrow. */
import { resolve } from 'node:path'
import { expect } from 'vitest'
import { type PageId, pageIds } from '../../src/control/console/page/pagePlace.ts'
import { foundOf } from './axeFindings.ts'
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

pageTest(
  'axe finds nothing before the log-in, on six pages wide and narrow and in dialogs, in light and in dark, and nothing complains',
  { timeout: 480_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    const stranger = await (await here.browser.newContext()).newPage()
    await stranger.goto(daemon.console)
    await stranger.waitForSelector('input[name=token]')
    const found: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      await stranger.emulateMedia({ colorScheme })
      found.push(...(await foundOf(stranger)).map((each) => [colorScheme, 'log-in', each].join(' ')))
      await page.emulateMedia({ colorScheme })
      for (const width of [1_440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        for (const id of pageIds) {
          await toPage(page, id)
          await page.waitForSelector(`${firstOf[id]}`)
          found.push(...(await foundOf(page)).map((each) => [colorScheme, width, id, each].join(' ')))
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
        found.push(...(await foundOf(page)).map((each) => [colorScheme, selector, each].join(' ')))
        await page.keyboard.press('Escape')
      }
      await stopBy(page, 'killClose')
      await page.waitForSelector('dialog[open]')
      found.push(...(await foundOf(page)).map((each) => [colorScheme, 'close all', each].join(' ')))
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await page.waitForSelector('dialog[open]')
      found.push(...(await foundOf(page)).map((each) => [colorScheme, 'keys', each].join(' ')))
      await page.keyboard.press('Escape')
    }
    expect(found).toEqual([])
    // Neither an error on the browser's console nor a thing that the page's policy forbids.
    expect(complaints).toEqual([])
  },
)
