/** The pages of the console in a real browser: navigation, the browser's history, and heads that leave room for what is held. */
import { resolve } from 'node:path'
import { expect } from 'vitest'
import { addressOf, pageIds } from '../../src/control/console/page/pagePlace.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { ask, loggedIn, resume, sent, servedIn, stopBy, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')

const here = pageTests()

interface Held {
  readonly restingOrders: readonly unknown[]
  readonly positions: readonly unknown[]
}

/** Ids of the sections that exist, in the order of the page. */
const sectionsOf = (page: { evaluate<T>(script: string): Promise<T> }): Promise<readonly string[]> =>
  page.evaluate("[...document.querySelectorAll('main section')].map(({ id }) => id)")

pageTest(
  'each page has its address, exists alone, and is come back to; what stops trading stands in one menu of every page',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#positions tbody tr')
    const seen: string[] = []
    for (const id of pageIds) {
      await toPage(page, id)
      expect(page.url()).toBe(`${daemon.console}${addressOf({ page: id })}`)
      const sections = await sectionsOf(page)
      // What stands on two pages, the resting orders, is made for each.
      expect(sections.filter((each) => seen.includes(each) && each !== 'resting')).toEqual([])
      expect(sections.length).toBeGreaterThan(1)
      seen.push(...sections)
    }
    for (const id of pageIds.toReversed().slice(1)) {
      await page.goBack()
      await page.waitForSelector(`.pages a[href="${addressOf({ page: id })}"][aria-current]`)
    }
    // Another market is another address; a reload shows it again, and Back the one before.
    const market = await page.inputValue('#prices select >> nth=0')
    await page.selectOption('#prices select >> nth=0', { index: 1 })
    const other = await page.inputValue('#prices select >> nth=0')
    await page.waitForURL(`**/${addressOf({ page: 'trade', item: other })}`)
    await page.reload()
    await page.waitForSelector('#prices canvas')
    expect(await page.inputValue('#prices select >> nth=0')).toBe(other)
    await page.goBack()
    await page.waitForSelector(`#prices option:checked >> text="${market}"`, { state: 'attached' })

    await toPage(page, 'system')
    expect(await page.locator('#stop-menu button').allInnerTexts()).toEqual(
      (['reducing', 'halted', 'kill', 'killClose'] as const).map((each) => texts.actions[each]),
    )
    expect(await page.locator(`.actions >> text="${texts.actions.active}"`).count()).toBe(0)
    await stopBy(page, 'reducing')
    await sent(page, texts.dialog.carriedOut)
    await page.keyboard.press('Escape')
    // The head says it in one line on each page, with the way to the whole list.
    await page.waitForSelector('.alarm >> text=REDUCING')
    await page.click('.alarm a')
    await page.waitForSelector('#attention >> text=REDUCING')
    await resume(page)
    await sent(page, texts.dialog.carriedOut)
    await page.keyboard.press('Escape')
    await page.waitForSelector('.alarm', { state: 'detached' })
    expect(complaints).toEqual([])
  },
)

pageTest(
  'the head has at most 160 px of a phone with an alarm and 96 px of a desk, the first position is seen without scrolling at 1280 by 720, and ten orders with three positions stay below 3,000 px of a phone',
  { timeout: 240_000 },
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.waitForSelector('#prices canvas')
    await page.waitForSelector('#positions tbody tr')
    const hand = {
      by: 'ann',
      direction: 'short',
      size: '100',
      leverage: '2',
      stopLoss: '3%',
      takeProfit: '4%',
    }
    for (const each of [
      'ETH/USD [WETH-USDC]',
      'BTC/USD [BTC-USDC]',
      'SOL/USD [SOL-USDC]',
      'LINK/USD [LINK-USDC]',
    ])
      expect(
        await (
          await ask(daemon, '/api/orders', { ...hand, id: `hand-${each.slice(0, 3)}`, market: each })
        ).json(),
      ).toMatchObject({ ok: true })
    await until('ten orders rest and three positions are held', async () => {
      const status = (await (await ask(daemon, '/api/status')).json()) as Held
      return status.restingOrders.length >= 10 && status.positions.length >= 3 ? true : undefined
    })
    const halted = await ask(daemon, '/api/trading', { state: 'reducing', reason: 'the night', by: 'ann' })
    expect(halted.status).toBe(200)
    await page.waitForSelector('.alarm >> text=REDUCING')
    const boxOf = async (selector: string) => {
      const box = await page.locator(selector).first().boundingBox()
      if (box === null) throw new Error(`${selector} is not there`)
      return { ...box, bottom: box.y + box.height }
    }
    await page.setViewportSize({ width: 1_440, height: 900 })
    expect((await boxOf('.top')).height).toBeLessThanOrEqual(96)
    await page.setViewportSize({ width: 1_280, height: 720 })
    expect((await boxOf('.top')).height).toBeLessThanOrEqual(96)
    expect((await boxOf('#positions tbody tr')).bottom).toBeLessThanOrEqual(720)
    await page.setViewportSize({ width: 390, height: 844 })
    for (const id of pageIds) {
      await toPage(page, id)
      expect([id, (await boxOf('.top')).height <= 160]).toEqual([id, true])
      const bar = await boxOf('nav.pages')
      expect([id, bar.height, bar.bottom]).toEqual([id, 56, 844])
      expect([id, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([id, 390])
    }
    // What is held and what rests are cards of two lines, and a tap opens the rest with its buttons.
    await toPage(page, 'trade')
    for (const card of ['#positions .card', '#resting .card'])
      expect([card, (await boxOf(card)).height <= 72]).toEqual([card, true])
    expect(await page.locator('#positions .card').count()).toBeGreaterThanOrEqual(3)
    expect(await page.locator('#resting .card').count()).toBeGreaterThanOrEqual(10)
    expect(await page.locator('#positions .card .tools button').count()).toBe(0)
    await page.click('#positions .card .face')
    await page.click('#resting .card:has-text("stop ") .face')
    await page.waitForSelector('#resting .card .tools button[aria-label^="Move… stop of short"]')
    await page.waitForSelector('#resting .card .tools button[aria-label^="Cancel… stop of short"]')
    for (const button of await page.locator(':is(#positions, #resting) .card .tools button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    expect(await page.evaluate<number>('document.documentElement.scrollHeight')).toBeLessThan(3_000)
    expect(complaints).toEqual([])
  },
)
