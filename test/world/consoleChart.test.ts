/** The chart in a real browser over a real daemon: a line that is dragged is one edit of its order in the journal, and goes back where it is not. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { chartTexts as words } from '../../src/control/console/page/chart/chartTexts.ts'
import { addressOf } from '../../src/control/console/page/pagePlace.ts'
import { ask, loggedIn, type Served, servedIn } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const eth = 'ETH/USD [WETH-USDC]'
const options = { timeout: 300_000 }
const here = pageTests()

interface Row {
  readonly orderKey: string
  readonly type: string
  readonly owner: string
  readonly triggerPrice: string
}

/** A daemon with a short by hand whose stop and target rest. */
async function withShort(): Promise<Served> {
  const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
  const body = { id: 'short1', by: 'ann', market: eth, direction: 'short', size: '400', leverage: '3' }
  const answer = await ask(daemon, '/api/orders', { ...body, stopLoss: '3%', takeProfit: '4%' })
  expect(answer.status).toBe(200)
  await until('its exits rest', async () => ((await ownRows(daemon)).length === 2 ? true : undefined))
  return daemon
}

async function ownRows(daemon: Served): Promise<readonly Row[]> {
  const { restingOrders } = (await (await ask(daemon, '/api/status')).json()) as {
    readonly restingOrders: readonly Row[]
  }
  return restingOrders.filter(({ owner }) => owner === '@operator')
}

async function stopOf(daemon: Served): Promise<Row> {
  const stop = (await ownRows(daemon)).find(({ type }) => type === 'stop')
  if (stop === undefined) throw new Error('no stop of the operator rests')
  return stop
}

/** Orders that changed another one. */
async function editsOf(daemon: Served) {
  const orders = (await (await ask(daemon, '/api/orders')).json()) as readonly {
    readonly kind: string
    readonly outcome: string | null
  }[]
  return orders.filter(({ kind }) => kind === 'edit')
}

/** Brings the mouse over the uppermost line that can be taken: the short's stop. Gives the place; undefined: no line can be. */
async function overStop(page: Page): Promise<{ readonly x: number; readonly y: number } | undefined> {
  const picture = page.locator('.candles')
  await picture.scrollIntoViewIfNeeded()
  const box = await picture.boundingBox()
  if (box === null) throw new Error('there is no picture')
  const x = box.x + 200
  for (let y = box.y + 2; y < box.y + box.height - 40; y += 3) {
    await page.mouse.move(x, y)
    if (await picture.evaluate((node) => node.classList.contains('reached'))) return { x, y: y + 3 }
  }
  return undefined
}

/** Drags the stop by so many pixels, and leaves the button down. */
async function dragStop(page: Page, byPx: number): Promise<void> {
  const at = await overStop(page)
  if (at === undefined) throw new Error('no line is within reach')
  await page.mouse.move(at.x, at.y)
  await page.mouse.down()
  await page.mouse.move(at.x, at.y + byPx / 2)
  await page.mouse.move(at.x, at.y + byPx)
}

async function chartOf(daemon: Served, role: 'read' | 'operate' = 'operate') {
  const own = await loggedIn(here.browser, daemon, role)
  await own.page.waitForSelector('.candles canvas')
  await own.page.click('.level-list summary')
  await own.page.waitForSelector('.levels >> text=stop')
  return own
}

pageTest(
  'a stop that is dragged ends as one edit of the same order, and says that it moves until it rests',
  options,
  async () => {
    const daemon = await withShort()
    const { page, complaints } = await chartOf(daemon)
    const before = await stopOf(daemon)
    await dragStop(page, -16)
    expect(await page.locator('.strip').count()).toBe(0)
    await page.mouse.up()
    // Old and new stand in figures, and the daemon says what it would do, before the one button.
    await page.waitForSelector('.strip >> text=would be accepted now')
    expect(await editsOf(daemon)).toEqual([])
    await page.fill('.strip input[name=by]', 'ann')
    await page.click('.strip button.primary')
    await page.waitForSelector('.levels >> text=moving to')
    expect(await page.locator('.levels tr:has-text("moving to") button').first().isDisabled()).toBe(true)
    await page.waitForSelector('.levels >> text=moving to', { state: 'detached' })
    const after = await stopOf(daemon)
    expect(after.orderKey).toBe(before.orderKey)
    expect(BigInt(after.triggerPrice)).toBeGreaterThan(BigInt(before.triggerPrice))
    expect(await editsOf(daemon)).toMatchObject([{ outcome: 'EXECUTED' }])
    expect(await page.locator('.problem').count()).toBe(0)
    expect(complaints).toEqual([])
  },
)

pageTest('Esc, a refusal and a lost stream each put a line back, and nothing is made', options, async () => {
  const daemon = await withShort()
  const { page } = await chartOf(daemon)
  const before = await stopOf(daemon)
  // While it is dragged.
  await dragStop(page, -12)
  await page.keyboard.press('Escape')
  await page.mouse.up()
  expect(await page.locator('.strip').count()).toBe(0)
  // Before it is confirmed.
  await dragStop(page, -12)
  await page.mouse.up()
  await page.waitForSelector('.strip')
  await page.keyboard.press('Escape')
  await page.waitForSelector('.strip', { state: 'detached' })
  // Across the mark: the stop of a short lies above it.
  await dragStop(page, 200)
  await page.mouse.up()
  await page.waitForSelector('.trade-chart [role=alert] >> text=TRIGGER_WOULD_FIRE')
  expect(await page.locator('.strip').count()).toBe(0)
  // Beyond the liquidation, which is out of sight: typed.
  await page.click(`.levels button[aria-label^="${words.move} stop of short"]`)
  await page.fill('dialog[open] input[name=price]', '9,000')
  await page.keyboard.press('Enter')
  await page.waitForSelector('.trade-chart [role=alert] >> text=STOP_BEHIND_LIQUIDATION')
  // Without the stream.
  await dragStop(page, -12)
  await page.mouse.up()
  await page.waitForSelector('.strip >> text=would be accepted now')
  await page.context().setOffline(true)
  daemon.child.kill('SIGSTOP')
  await page.waitForSelector(`.trade-chart [role=alert] >> text=${words.stale}`)
  expect(await page.locator('.strip').count()).toBe(0)
  expect(await overStop(page)).toBeUndefined()
  expect(await page.locator('.levels button:not([disabled])').count()).toBe(0)
  daemon.child.kill('SIGCONT')
  expect((await stopOf(daemon)).triggerPrice).toBe(before.triggerPrice)
  expect(await editsOf(daemon)).toEqual([])
})

pageTest(
  'the same move is made by keys alone from the table of levels, and by taps alone on a phone',
  options,
  async () => {
    const daemon = await withShort()
    const { page } = await chartOf(daemon)
    const before = await stopOf(daemon)
    await page.focus(`.levels button[aria-label^="${words.move} stop of short"]`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open] input[name=price]:focus')
    // What is no price is refused in words, and what is one is repeated.
    for (const wrong of ['0,9', '1e3', '-5', '1.2.3']) {
      await page.keyboard.press('Control+A')
      await page.keyboard.type(wrong)
      await page.waitForSelector(`dialog[open] >> text=${words.notPrice(wrong)}`)
    }
    const wanted = (BigInt(before.triggerPrice) / 10n ** 30n + 20n).toString()
    await page.keyboard.press('Control+A')
    await page.keyboard.type(wanted)
    await page.waitForSelector('dialog[open] >> text=/^= \\$/')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.strip >> text=would be accepted now')
    await page.fill('.strip input[name=by]', 'ann')
    await page.focus('.strip button.primary')
    await page.keyboard.press('Enter')
    await until('the venue has the typed price', async () =>
      BigInt((await stopOf(daemon)).triggerPrice) === BigInt(wanted) * 10n ** 30n ? true : undefined,
    )
    await page.setViewportSize({ width: 390, height: 844 })
    await page.waitForSelector('.levels >> text=moving to', { state: 'detached' })
    for (const button of await page.locator('.trade-chart button').all())
      expect((await button.boundingBox())?.height).toBeGreaterThanOrEqual(44)
    expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(390)
    await page.click(`.levels button[aria-label^="${words.move} stop of short"]`)
    await page.click(`dialog[open] >> text=${words.shareUp}`)
    await page.click(`dialog[open] >> text=${words.stepDown}`)
    await page.click(`dialog[open] >> text=${words.show}`)
    await page.waitForSelector('.strip >> text=would be accepted now')
    await page.click('.strip button.primary')
    await until('the venue has the stepped price', async () =>
      BigInt((await stopOf(daemon)).triggerPrice) > BigInt(wanted) * 10n ** 30n ? true : undefined,
    )
    expect(await editsOf(daemon)).toHaveLength(2)
  },
)

pageTest(
  'whoever may only read has candles, legend and levels by keys and as a table, and older candles by panning',
  options,
  async () => {
    const daemon = await withShort()
    const { page, complaints } = await chartOf(daemon, 'read')
    expect(await page.locator('.levels button').count()).toBe(0)
    expect(await overStop(page)).toBeUndefined()
    expect(await page.getAttribute('.credits a', 'rel')).toBe('noopener noreferrer')
    expect(await page.getAttribute('.credits a', 'href')).toBe('https://www.tradingview.com/')
    expect(await page.getAttribute('.candles', 'aria-label')).toContain(eth)
    await page.focus('.candles')
    await page.keyboard.press('End')
    await page.waitForSelector('[aria-live=polite] >> text=/O [\\d,.]+ +H [\\d,.]+ +L [\\d,.]+ +C [\\d,.]+/')
    const newest = await page.textContent('.trade-chart .legend')
    await page.keyboard.press('Home')
    await until('the legend is that of the first candle', async () =>
      (await page.textContent('.trade-chart .legend')) === newest ? undefined : true,
    )
    await page.click(`text=${words.asTable}`)
    expect(await page.locator('.trade-chart caption').textContent()).toBe(words.newest(50, 'UTC'))
    expect(await page.locator('table:has(caption) tbody tr').count()).toBe(50)
    const older = page.waitForResponse((response) => response.url().includes('&before='))
    await page.locator('.candles').scrollIntoViewIfNeeded()
    for (let drags = 0; drags < 8; drags += 1) {
      const place = await page.locator('.candles').boundingBox()
      const [x, y] = [(place?.x ?? 0) + 100, (place?.y ?? 0) + 300]
      await page.mouse.move(x, y)
      await page.mouse.down()
      await page.mouse.move(x + 700, y, { steps: 5 })
      await page.mouse.up()
    }
    expect((await older).status()).toBe(200)
    for (const period of ['1m', '1d']) {
      await page.click(`.intervals >> text="${period}"`)
      await page.waitForSelector(`.candles[aria-label*=", ${period} each"] canvas`)
    }
    expect(complaints).toEqual([])
  },
)

/** Places of all prices below a ten-thousandth that stand in a part of the page; dollars of other kinds have six at most. */
async function placesIn(page: Page, part: string): Promise<readonly number[]> {
  const text = (await page.locator(part).allInnerTexts()).join(' ')
  const found = text.match(/(?<![\d,.])\$?0\.0000\d{3,}/g) ?? []
  return [...new Set(found.map((price) => price.split('.')[1]?.length ?? 0))]
}

pageTest(
  'prices of one market have one count of places in chart, rows, ticket and notices, and one of many zeros is readable in all of them',
  options,
  async () => {
    const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`])
    const market = 'kPEPE/USD [WETH-USDC]'
    // The target has a zero less than the mark, and the liquidation one more.
    const hand = { id: 'small1', by: 'ann', market, direction: 'long', size: '400', leverage: '1.2' }
    const exits = { stopLoss: '30%', takeProfit: '0.0000105' }
    const answer = await ask(daemon, '/api/orders', { ...hand, ...exits })
    expect([answer.status, await answer.json()]).toMatchObject([200, {}])
    await until('its exits rest', async () => ((await ownRows(daemon)).length === 2 ? true : undefined))
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')
    await page.evaluate(
      (hash) => {
        location.hash = hash
      },
      addressOf({ page: 'trade', item: market }),
    )
    await page.waitForSelector('.candles canvas')
    await page.click('.level-list summary')
    await page.waitForSelector('.levels >> text=target')
    const seen: Record<string, readonly number[]> = {}
    const look = async (name: string, part: string) => {
      await page.waitForSelector(part)
      seen[name] = await placesIn(page, part)
    }
    await look('chart', '.trade-chart')
    await look('positions', '#positions')
    await look('resting', '#resting')
    const typed = { amount: '100', stopLoss: '0.0000013', takeProfit: '0.0000205', by: 'ann' }
    for (const [name, value] of Object.entries(typed)) await page.fill(`.ticket input[name=${name}]`, value)
    await page.check('.ticket input[name=direction][value=long]')
    await page.press('.ticket input[name=amount]', 'Enter')
    await page.waitForSelector('.quote')
    await look('ticket', '.ticket')
    await page.click('.ticket button[name=send]:not([disabled])')
    await page.waitForSelector('.ticket .outcome.up')
    await page.click('.levels button[aria-label^="Move stop"]')
    await page.fill('dialog[open] input', '0.00000112')
    await look('sheet', 'dialog[open]')
    await page.keyboard.press('Enter')
    await page.waitForSelector('.strip >> text=would be accepted now')
    await look('move', '.strip')
    await page.click('.strip button.primary')
    // The notice that is read aloud is the toast of this page.
    await look('notice', '[aria-live]:has-text("$0.0000")')
    const [places] = seen.chart ?? []
    expect(places).toBeGreaterThan(9)
    expect(seen).toEqual(Object.fromEntries(Object.keys(seen).map((name) => [name, [places]])))
    expect(complaints).toEqual([])
  },
)

/** Pixels of the picture that have exactly a colour of the page's sheet. */
async function pixelsOf(page: Page, name: string): Promise<number> {
  return await page.locator('.candles').evaluate((place, token) => {
    const hex = getComputedStyle(document.documentElement).getPropertyValue(token).trim()
    const bytes = [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16))
    // A pixel is one number: its four parts one by one take the page a second.
    const [wanted] = new Uint32Array(new Uint8Array([...bytes, 255]).buffer)
    let count = 0
    for (const canvas of place.querySelectorAll('canvas')) {
      const image = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data
      for (const pixel of new Uint32Array(image?.buffer ?? new ArrayBuffer(0)))
        if (pixel === wanted) count += 1
    }
    return count
  }, name)
}

pageTest(
  'prices that a strategy names are lines in the chart and values in its legend, shown or hidden as wished, and one far away harms nothing',
  options,
  async () => {
    const folder = join(here.folder, 'strategies')
    mkdirSync(folder)
    writeFileSync(
      join(folder, 'mine.ts'),
      `import { defineStrategy, priceOfLevel, z } from '#strategy'
export default defineStrategy({
  kind: 'mine', description: 'Names prices.', params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: () => [],
  status(view) {
    const [symbol = ''] = view.instance.symbols
    const price = view.market(symbol)?.oraclePrice?.value.medianPrice ?? 0n
    return { text: 'waits', prices: { [symbol]: { far: priceOfLevel(1e17), price, half: price / 2n } } }
  },
})
`,
    )
    writeFileSync(
      join(folder, 'hostile.ts'),
      `import { defineStrategy, z } from '#strategy'
export default defineStrategy({
  kind: 'hostile', description: 'Names no prices.', params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide: () => [],
  status(view) {
    const [symbol = ''] = view.instance.symbols
    return { text: 'waits', prices: { [symbol]: { never: Number.NaN as never } } }
  },
})
`,
    )
    const file = `markets: ['${eth}']\nsize: { usd: 100, leverage: 2 }\ncadenceSeconds: 5\n`
    for (const name of ['mine', 'hostile'])
      writeFileSync(join(folder, `${name}.yaml`), `kind: ./${name}.ts\n${file}`)
    const daemon = await servedIn(here.folder, [`--strategies.paths=${folder}`])
    const { page, complaints } = await loggedIn(here.browser, daemon, 'read')
    await page.click('.intervals >> text="1m"')
    const list = page.locator(`[role=group][aria-label="${words.indicators}"]`)
    await list.locator('button').first().waitFor()
    const names = ['mine far', 'mine price', 'mine half']
    const buttons = () => list.locator('button').allTextContents()
    await until('each has a button', async () => (await buttons()).length === names.length || undefined)
    expect(await buttons()).toEqual(names.map((name) => `━ ${name}`))
    const legend = page.locator('.trade-chart .legend')
    await until(
      'its values are in the legend',
      async () =>
        /mine far 100,000,000,000,000,000\.\d+ mine price [\d,.]+ mine half [\d,.]+$/.test(
          (await legend.textContent()) ?? '',
        ) || undefined,
    )
    // The second line has the colour of what warns, which nothing else has; one far away does not press the candles flat.
    const warned = (isDrawn: boolean) =>
      until(
        `its line is ${isDrawn ? 'there' : 'gone'}`,
        async () => (await pixelsOf(page, '--warn')) > 0 === isDrawn || undefined,
      )
    await warned(true)
    expect(await pixelsOf(page, '--up')).toBeGreaterThan(50)
    const press = (name: string) => list.locator(`button:has-text("${name}")`).click()
    await press('mine price')
    await warned(false)
    expect(await legend.textContent()).not.toContain('mine price')
    await page.reload()
    await list.locator('button[aria-pressed=false]').waitFor()
    expect(await list.locator('button[aria-pressed=false]').allTextContents()).toEqual(['━ mine price'])
    await page.focus('.candles')
    await page.keyboard.press('End')
    await page.waitForSelector('[aria-live] >> text=mine half')
    const saidBy = async () => {
      const status = (await (await ask(daemon, '/api/status')).json()) as {
        readonly strategies: readonly { readonly name: string; readonly status?: { readonly text: string } }[]
      }
      return new Map(status.strategies.map(({ name, status: line }) => [name, line?.text]))
    }
    await until('the other one had a turn', async () => (await saidBy()).get('hostile'))
    expect(Object.fromEntries(await saidBy())).toMatchObject({
      mine: 'waits',
      hostile: expect.stringContaining('is refused'),
    })
    expect(complaints).toEqual([])
  },
)
