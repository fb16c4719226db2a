/** The console on a phone of 390 px: every button of every page, menu and dialog can be pressed, and is large enough for a finger. */
import { resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { pageIds } from '../../src/control/console/page/pagePlace.ts'
import { ticketTexts } from '../../src/control/console/page/ticket/ticketTexts.ts'
import { ask, loggedIn, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { walkPage } from './pageWalk.ts'
import { until } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const here = pageTests()

/** Targets that are smaller than a finger, with their sizes. A link within a sentence is none. */
const smallOf = (page: Page): Promise<readonly string[]> =>
  page.evaluate(() => {
    const targets =
      'button, summary, select, a[href], input:not([type=checkbox], [type=radio]), label:has(input:is([type=checkbox], [type=radio]))'
    const top = document.querySelector('dialog[open]') ?? document
    return [...top.querySelectorAll<HTMLElement>(targets)].flatMap((node) => {
      const { width, height } = node.getBoundingClientRect()
      const isSeen = node.checkVisibility({ visibilityProperty: true }) && width > 0
      if (!isSeen || node.closest('p, .skip') !== null) return []
      const isLarge = Math.round(height) >= 44 && Math.round(width) >= 44
      return isLarge ? [] : [`${Math.round(width)}x${Math.round(height)} ${node.outerHTML.slice(0, 160)}`]
    })
  })

pageTest(
  'every button of every page, menu and dialog is pressed at 390 px, and each target is at least 44 px there',
  { timeout: 1_200_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const hand = { id: 'hand', by: 'ann', market: 'ETH/USD [WETH-USDC]', direction: 'short' }
    const made = await ask(daemon, '/api/orders', {
      ...hand,
      size: '400',
      leverage: '3',
      stopLoss: '3%',
      takeProfit: '4%',
    })
    expect(made.status).toBe(200)
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    page.setDefaultTimeout(15_000)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForSelector('#positions .card >> nth=1')
    await until('what is held by hand has its exits', async () =>
      (await page.locator('#resting .card').count()) > 2 ? true : undefined,
    )
    const small: string[] = []
    let pressed = 0
    const look = async (where: string) => {
      small.push(...(await smallOf(page)).map((each) => `${where}: ${each}`))
      expect([where, await page.evaluate(() => document.documentElement.scrollWidth)]).toEqual([where, 390])
    }
    for (const id of pageIds) {
      await toPage(page, id)
      await look(id)
      pressed += (await walkPage(page, id, (way) => look(`${id}, ${way}`))).length
    }
    expect(pressed).toBeGreaterThan(80)
    expect([...new Set(small)]).toEqual([])
    // The round button of the bar opens the ticket as a sheet, from every page.
    for (const id of pageIds) {
      await toPage(page, id)
      await page.click(`.pages button[aria-label="${ticketTexts.open}"]`)
      await page.waitForSelector('dialog.sheet[open] .ticket')
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog.sheet[open]', { state: 'detached' })
    }
    expect(complaints).toEqual([])
  },
)
