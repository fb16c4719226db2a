/** The order ticket in a real browser over a real daemon: what is typed is understood or refused, and what is shown is sent once or not at all. */
import { resolve } from 'node:path'
import axe from 'axe-core'
import type { Page, Request, Route } from 'playwright-core'
import { expect } from 'vitest'
import { addressOf } from '../../src/control/console/page/pagePlace.ts'
import { ticketTexts as words } from '../../src/control/console/page/ticket/ticketTexts.ts'
import type { QuoteRows } from '../../src/operator/quotes/manualQuote.ts'
import { ask, loggedIn, type Served, servedIn, toPage } from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

const strategies = resolve(import.meta.dirname, '..', '..', 'strategies')
const eth = 'ETH/USD [WETH-USDC]'
const options = { timeout: 300_000 }
const here = pageTests()

const field = (name: string) => `.ticket input[name=${name}]`
const sendButton = '.ticket button[name=send]'

/** A daemon with these flags too, and Trade of one market for whoever may command. */
async function withTicket(...flags: readonly string[]) {
  const daemon = await servedIn(here.folder, [`--strategies.paths=${strategies}`, ...flags])
  const own = await loggedIn(here.browser, daemon, 'operate')
  await own.page.evaluate(
    (hash) => {
      location.hash = hash
    },
    addressOf({ page: 'trade', item: eth }),
  )
  await own.page.waitForSelector(`.ticket`)
  return { daemon, ...own }
}

/** Types an order, and asks for its preview. */
async function typed(page: Page, amount: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  await page.check(`${field('direction')}[value=long]`)
  for (const [name, value] of Object.entries({ stopLoss: '3%', amount, by: 'ann', ...more }))
    await page.fill(field(name), value)
}

/** Asks until the order may be sent: one whose position is about to change is refused for a moment. */
async function shown(page: Page): Promise<void> {
  const told = () => page.locator('.ticket .outcome, .ticket small.down').allTextContents()
  const isShown = async () => {
    if (await page.locator('.ticket .tools button:not([name]):not([disabled])').count())
      await page.press(field('amount'), 'Enter')
    await page.waitForSelector(`.quote, .ticket .outcome.down`)
    if ((await page.locator('.quote').count()) === 0) return undefined
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    return true
  }
  let seen: readonly string[] = []
  const look = async () => {
    const is = await isShown()
    seen = await told()
    return is
  }
  await until('the order may be sent', look, { seen: () => seen.join(' ') })
}

interface Row {
  readonly intentId: string
  readonly strategy: string
  readonly kind: string
}

/** Orders by hand that open, as the journal has them. */
async function openedBy(daemon: Served): Promise<readonly Row[]> {
  const rows = (await (await ask(daemon, '/api/orders')).json()) as readonly Row[]
  return rows.filter(({ strategy, kind }) => strategy === '@operator' && kind === 'increase')
}

/** The body of a request that sends an order; undefined: it is another one, as a preview. */
function sentBody(request: Request): { readonly id: string } | undefined {
  if (request.method() !== 'POST' || !request.url().endsWith('/api/orders')) return undefined
  const body = request.postDataJSON() as { readonly id: string; readonly preview?: boolean }
  return body.preview === true ? undefined : body
}

/** Counts the orders that the page sends. */
function sendsOf(page: Page): { readonly id: string }[] {
  const sends: { readonly id: string }[] = []
  page.on('request', (request) => {
    const body = sentBody(request)
    if (body !== undefined) sends.push(body)
  })
  return sends
}

/** Has what answers the next send; all other requests pass. */
async function onNextSend(page: Page, answer: (route: Route) => Promise<void>): Promise<void> {
  let isOver = false
  await page.route('**/api/orders', async (route) => {
    if (isOver || sentBody(route.request()) === undefined) return await route.continue()
    isOver = true
    await answer(route)
  })
}

const accepted = (page: Page) => page.waitForSelector(`.ticket .outcome.up >> text=${words.accepted}`)

/** All that axe finds in the ticket, a text each. */
async function foundOf(page: Page, within: string): Promise<readonly string[]> {
  await page.evaluate(axe.source)
  const found = await page.evaluate<
    readonly { readonly id: string; readonly nodes: readonly { readonly html: string }[] }[]
  >(`axe.run(${JSON.stringify(within)}).then(({ violations }) => violations)`)
  return found.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`))
}

pageTest(
  'a wheel changes no field, what is no number is refused in words tied to its field, and no single key sends',
  options,
  async () => {
    const { daemon, page, complaints } = await withTicket()
    const sends = sendsOf(page)
    await toPage(page, 'orders')
    await page.keyboard.press('n')
    await page.waitForSelector(`${field('direction')}:focus`)
    await page.goBack()
    await page.waitForSelector('.pages a[href="#/orders"][aria-current]')
    await page.keyboard.press('n')
    await page.waitForSelector(`${field('direction')}:focus`)
    await typed(page, '500')
    for (const input of await page.locator('.ticket input[inputmode=decimal]').all()) {
      expect(await input.getAttribute('type')).toBe('text')
      const before = await input.inputValue()
      await input.focus()
      await input.hover()
      await page.mouse.wheel(0, 120)
      await page.mouse.wheel(0, -240)
      expect(await input.inputValue()).toBe(before)
    }
    for (const name of ['amount', 'stopLoss', 'takeProfit', 'leverage', 'price']) {
      if (name === 'price') await page.check(`${field('type')}[value=limit]`)
      const before = await page.inputValue(field(name))
      for (const wrong of ['0,9', '0,001', '1e3', '-5', '1.2.3']) {
        await page.fill(field(name), wrong)
        await page.press(field(name), 'Enter')
        await page.waitForSelector(`${field(name)}[aria-invalid=true]:focus`)
        const described = await page.getAttribute(field(name), 'aria-describedby')
        const told = await Promise.all(
          (described ?? '').split(' ').map((id) => page.locator(`[id="${id}"]`).textContent()),
        )
        const { number, place, times } = words.problems
        expect([number, place, times].some((text) => told.join(' ').includes(text))).toBe(true)
      }
      await page.fill(field(name), before)
    }
    await page.fill(field('price'), '61,493.10')
    await page.waitForSelector('#ticket-price-said >> text="= $61,493.10"')
    await page.check(`${field('type')}[value=market]`)
    expect(await page.locator('.quote').count()).toBe(0)
    await shown(page)
    await page.waitForSelector('#quote-title:focus')
    await page.waitForSelector(`.quote dd >> text=long ${eth}, $500.00`)
    // A phone has no row of headings: each cost names its own.
    for (const word of [words.expected, words.atMost])
      expect(await page.locator(`.quote tbody td[data-label="${word}"]`).count()).toBeGreaterThan(2)
    for (const key of ['s', 'n', 'y', ' ', 'x', 'Escape', 'Enter']) await page.keyboard.press(key)
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    expect([sends, await openedBy(daemon)]).toEqual([[], []])
    // The mark stands in the field by one press, and a limit six percent away needs a tick.
    await page.check(`${field('type')}[value=limit]`)
    await page.click(`.ticket button >> text="${words.mark}"`)
    const mark = Number((await page.inputValue(field('price'))).replaceAll(',', ''))
    await page.fill(field('price'), (mark * 0.94).toFixed(2))
    await page.press(field('price'), 'Enter')
    await page.waitForSelector(`.ticket input[name=far]`)
    expect(await page.locator(sendButton).isDisabled()).toBe(true)
    await page.check('.ticket input[name=far]')
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    await page.keyboard.press('Control+Enter')
    await accepted(page)
    expect([sends.length, (await openedBy(daemon)).length]).toEqual([1, 1])
    expect(complaints).toEqual([])
  },
)

pageTest(
  'a double click, keys that are held, a reload during the send and a send without an answer each make one order',
  options,
  async () => {
    const { daemon, page } = await withTicket()
    const sends = sendsOf(page)
    await typed(page, '100')
    await shown(page)
    await page.dblclick(sendButton)
    await accepted(page)
    expect((await openedBy(daemon)).length).toBe(1)
    // Held: the browser repeats the key.
    await typed(page, '110')
    await shown(page)
    await page.keyboard.down('Control')
    for (let repeats = 0; repeats < 8; repeats += 1) await page.keyboard.down('Enter')
    await page.keyboard.up('Enter')
    await page.keyboard.up('Control')
    await accepted(page)
    await until('two orders are there', async () =>
      (await openedBy(daemon)).length === 2 ? true : undefined,
    )
    // The daemon has it, and the page is loaded anew before it hears so.
    await typed(page, '120')
    await shown(page)
    const arrived = Promise.withResolvers<void>()
    await onNextSend(page, async (route) => {
      await route.fetch()
      arrived.resolve()
    })
    await page.click(sendButton)
    await arrived.promise
    await page.reload()
    await accepted(page)
    expect((await openedBy(daemon)).length).toBe(3)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    // Nothing answers, once after it arrived and once before.
    for (const isArrived of [true, false]) {
      const before = sends.length
      await typed(page, isArrived ? '130' : '140')
      await shown(page)
      await onNextSend(page, async (route) => {
        if (isArrived) await route.fetch()
        await route.abort()
      })
      await page.click(sendButton)
      await page.waitForSelector(`${sendButton}[disabled] >> text=${words.asking}`)
      expect(await page.locator(field('amount')).isDisabled()).toBe(true)
      await accepted(page)
      const ids = sends.slice(before).map(({ id }) => id)
      expect([ids.length, new Set(ids).size]).toEqual([2, 1])
      await page.unrouteAll({ behavior: 'ignoreErrors' })
    }
    expect((await openedBy(daemon)).length).toBe(5)
  },
)

pageTest(
  'an id of another order, a quote that became worse and a short symbol of two near pools are refused and shown',
  options,
  async () => {
    const { daemon, page, complaints } = await withTicket('--paper.onlyMarkets=')
    await typed(page, '100')
    await shown(page)
    const { id } = JSON.parse(
      (await page.evaluate(() => sessionStorage.getItem('perpd.ticket'))) ?? '{}',
    ) as { readonly id: string }
    const other = { id, by: 'bob', market: eth, direction: 'short', size: '90', leverage: '2' }
    expect((await ask(daemon, '/api/orders', other)).status).toBe(200)
    await page.click(sendButton)
    await page.waitForSelector('.ticket .outcome.down >> text=ID_USED')
    expect((await openedBy(daemon)).length).toBe(1)
    // A better quote than the daemon's own, as it stood before the market moved.
    let isSent = false
    await page.route('**/api/orders', async (route) => {
      isSent ||= sentBody(route.request()) !== undefined
      if (isSent) return await route.continue()
      const response = await route.fetch()
      const answer = (await response.json()) as { quote?: { quoted: object; rows: QuoteRows } }
      const { quote } = answer
      if (quote === undefined) return await route.fulfill({ response })
      const costs = quote.rows.costs.map(([name, expected]) => [name, expected, '$0.01'])
      const better = { rows: { ...quote.rows, costs }, quoted: { ...quote.quoted, cost: '0.01' } }
      await route.fulfill({ response, json: { ...answer, quote: { ...quote, ...better } } })
    })
    await shown(page)
    expect(await page.locator('.quote .changed').count()).toBe(0)
    await page.click(sendButton)
    await page.waitForSelector('.ticket .outcome.down >> text=QUOTE_WORSE')
    await page.waitForSelector('.quote .changed')
    await page.waitForSelector(`.quote >> text=${words.changed}`)
    expect((await openedBy(daemon)).length).toBe(1)
    await page.waitForSelector(`${sendButton}:not([disabled])`)
    await page.click(sendButton)
    await accepted(page)
    expect((await openedBy(daemon)).length).toBe(2)
    // Of a short symbol one pool is taken by a rule that is shown, or none.
    const found = { chosen: 0, asked: 0 }
    const markets = (await (await ask(daemon, '/api/markets')).json()) as readonly {
      readonly symbol: string
    }[]
    const shorts = markets.map(({ symbol }) => symbol.split('/')[0] ?? '')
    for (const market of new Set(shorts.filter((name, at) => shorts.indexOf(name) !== at))) {
      const body = { id: `short-${market}`, by: 'ann', market, direction: 'long', size: '100', leverage: '2' }
      const answer = await ask(daemon, '/api/orders', { ...body, preview: true })
      const told = (await answer.json()) as {
        readonly error?: string
        readonly pools?: readonly { readonly symbol: string }[]
        readonly quote?: { readonly chosen?: string }
      }
      const chosen = told.quote?.chosen
      if (told.error === 'MARKET_AMBIGUOUS' && found.asked === 0) {
        found.asked += 1
        await typed(page, '100', { market })
        await page.press(field('amount'), 'Enter')
        await page.waitForSelector(
          `${field('market')}[aria-invalid=true][aria-describedby~=ticket-refused]:focus`,
        )
        expect(await page.locator(field('pool')).count()).toBe(told.pools?.length)
        expect(await page.locator(`${field('pool')}:checked`).count()).toBe(0)
        expect(await page.locator(sendButton).count()).toBe(0)
        const [first] = told.pools ?? []
        await page.click(`${field('pool')}[value="${first?.symbol}"]`)
        await page.waitForSelector(field('pool'), { state: 'detached' })
        expect(await page.inputValue(field('market'))).toBe(first?.symbol)
      } else if (chosen !== undefined && found.chosen === 0) {
        found.chosen += 1
        await typed(page, '100', { market })
        await shown(page)
        await page.waitForSelector(`.quote dd >> text=${chosen.split(':')[0]}`)
      }
    }
    expect(found.chosen).toBeGreaterThan(0)
    expect(found.asked).toBeGreaterThan(0)
    expect((await openedBy(daemon)).length).toBe(2)
    expect(complaints).toEqual([])
  },
)

pageTest(
  'axe finds nothing in the ticket in both themes, wide and as the sheet of a phone, where each target is 44 px',
  options,
  async () => {
    const { daemon, page, complaints } = await withTicket()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.setViewportSize({ width: 1_440, height: 900 })
      await typed(page, '0,9')
      await page.waitForSelector('#ticket-amount-said.down')
      expect([colorScheme, await foundOf(page, '#ticket')]).toEqual([colorScheme, []])
      await typed(page, '100', { takeProfit: '6%' })
      await shown(page)
      expect([colorScheme, await foundOf(page, '#ticket')]).toEqual([colorScheme, []])
      await page.setViewportSize({ width: 390, height: 844 })
      await page.click(`#ticket button >> text="${words.open}"`)
      await page.waitForSelector('dialog[open] .ticket')
      await typed(page, '100')
      await page.check(`${field('type')}[value=limit]`)
      await page.click(`.ticket button >> text="${words.mark}"`)
      expect([colorScheme, await foundOf(page, 'dialog[open]')]).toEqual([colorScheme, []])
      await page.check(`${field('type')}[value=market]`)
      await shown(page)
      const targets =
        'dialog[open] :is(button, select, input:not([type=radio], [type=checkbox]), label:has(input))'
      for (const target of await page.locator(targets).all()) {
        const box = await target.boundingBox()
        expect([await target.innerHTML(), Math.round(box?.height ?? 0) >= 44]).toEqual([
          await target.innerHTML(),
          true,
        ])
      }
      const sheet = page.locator('dialog[open]')
      expect(await sheet.evaluate((node) => node.scrollWidth - node.clientWidth)).toBe(0)
      await page.keyboard.press('Escape')
      await page.waitForSelector('dialog[open]', { state: 'detached' })
    }
    await page.click(`#ticket button >> text="${words.open}"`)
    await typed(page, '100')
    await shown(page)
    await page.click(sendButton)
    await accepted(page)
    expect((await openedBy(daemon)).length).toBe(1)
    expect(complaints).toEqual([])
  },
)
