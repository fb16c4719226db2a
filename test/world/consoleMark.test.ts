/** The order ticket in a real browser while the price moves: what was near becomes far, and a stop comes to lie on the wrong side, before anything is sent. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { addressOf } from '../../src/control/console/page/pagePlace.ts'
import { type ServedVenue, serveVenue } from '../../src/paper/server/serve.ts'
import { createVenue } from '../../src/paper/server/venue.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { usd } from '../../src/protocol/units.ts'
import { ask, consoleOf, loggedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { daemonFlags, lightMarkets, perpd, until } from './processes.ts'

const here = pageTests()
const eth = 'ETH/USD [WETH-USDC]'
const field = (name: string) => `.ticket input[name=${name}]`
const sendButton = '.ticket button[name=send]'

let served: ServedVenue | undefined
afterEach(() => served?.close())

/** A paper venue on which ETH costs what the test says. */
async function venueAt(price: number) {
  const candles: FileCandle[] = []
  const epochSeconds = Math.floor(Date.now() / 1_000)
  const setPrice = (dollars: number, startSeconds = Date.now() / 1_000 - epochSeconds): void => {
    const at = usd(dollars)
    candles.push({ startSeconds, open: at, high: at, low: at, close: at })
  }
  setPrice(price, 0)
  const venue = createVenue({
    ...{ clock: systemClock, chain: arbitrum, seed: 7, epochSeconds },
    settings: { onlyMarkets: lightMarkets, replay: { series: new Map([['ETH', candles]]), speed: 1 } },
  })
  served = await serveVenue(venue, { hostname: '127.0.0.1', port: 0, tickMs: 100 })
  return { served, setPrice }
}

pageTest(
  'a limit that the price leaves behind asks for its tick, and a stop that it passes is refused, while the ticket is open',
  { timeout: 300_000 },
  async () => {
    const { folder } = here
    const { served: hosts, setPrice } = await venueAt(2_000)
    const idle = ['kind: trend', `market: ${eth}`, 'size: { usd: 500, leverage: 2, collateral: short }']
    writeFileSync(join(folder, 'once.yaml'), [...idle, 'enabled: false', ''].join('\n'))
    const running = perpd(['run', ...daemonFlags(folder, hosts)])
    const place = { console: await consoleOf(running), tokens: folder }
    const { page } = await loggedIn(here.browser, place, 'operate')
    await page.evaluate(
      (hash) => {
        location.hash = hash
      },
      addressOf({ page: 'trade', item: eth }),
    )
    await page.waitForSelector('.ticket')
    await page.check(`${field('direction')}[value=long]`)
    await page.check(`${field('type')}[value=limit]`)
    const typed = { price: '1,940', amount: '200', by: 'ann' }
    for (const [name, value] of Object.entries(typed)) await page.fill(field(name), value)
    await page.press(field('amount'), 'Enter')
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    expect(await page.locator(field('far')).count()).toBe(0)
    // The same limit is 7.6 % away now.
    setPrice(2_100)
    await page.waitForSelector(field('far'))
    expect(await page.locator(sendButton).isDisabled()).toBe(true)
    await page.keyboard.press('Control+Enter')
    await page.check(field('far'))
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    setPrice(2_000)
    await page.waitForSelector(field('far'), { state: 'detached' })
    // A price below the limit would fill it at once: it is refused, and what was shown is gone.
    setPrice(1_900)
    await page.waitForSelector('.ticket .outcome.down >> text=TRIGGER_WOULD_FIRE')
    await page.waitForSelector(`${field('price')}[aria-invalid=true]`)
    expect(await page.locator('.quote').count()).toBe(0)

    setPrice(2_000)
    await page.check(`${field('type')}[value=market]`)
    await page.fill(field('stopLoss'), '1,960')
    // Until the daemon has read that price, the stop is above the one before, and is refused.
    await until('it is shown at the price of now', async () => {
      await page.press(field('amount'), 'Enter')
      const isShown = page.waitForSelector(`${sendButton}:not([disabled])`, { timeout: 5_000 })
      return await isShown.then(
        () => true,
        () => undefined,
      )
    })
    setPrice(1_950)
    await page.waitForSelector('.ticket .outcome.down')
    await page.waitForSelector(`${field('stopLoss')}[aria-invalid=true]`)
    expect(await page.locator('.quote').count()).toBe(0)
    expect(await page.locator(`${sendButton}:not([disabled])`).count()).toBe(0)
    expect(await (await ask(place, '/api/orders')).json()).toEqual([])
  },
)
