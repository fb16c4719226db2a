/** The venue of a trial: what an ideal fill is, and that no money comes from nowhere. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTrialAccount, type TrialAccount } from '../../src/cli/trial/trialAccount.ts'
import { type TrialMarket, trialMarket } from '../../src/cli/trial/trialMarkets.ts'
import { createTrialVenue } from '../../src/cli/trial/trialVenue.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { chains } from '../../src/protocol/chains/index.ts'
import { bps, type Usd, usd, usdOfAmount } from '../../src/protocol/units.ts'
import { decrease, increase, intentState } from '../risk/world.ts'

function ethMarket(): TrialMarket {
  const symbol = 'ETH/USD [WETH-USDC]'
  const market = trialMarket(symbol, chains.arbitrum.facts, loadCatalog('arbitrum').samplePrices)
  if (market === undefined) throw new Error(`no ${symbol}`)
  return market
}

const eth = ethMarket()
const key = { market: eth, direction: 'long', collateral: eth.short } as const

function bench() {
  const account = createTrialAccount([eth.long, eth.short], usd(10_000))
  const venue = createTrialVenue(account, new Map([[hexKey(eth.marketToken), eth]]))
  let number = 0
  const intent = (decision: Decision, terms: Partial<Intent['terms']> = {}): Intent => {
    const { intent: made } = intentState({ decision, intentId: `intent-${++number}` })
    return { ...made, terms: { ...made.terms, collateralDelta: 200_000_000n, ...terms } }
  }
  const moment = (price: string, atSeconds = 1000) => ({
    atSeconds,
    price: (token: TrialMarket['index']) => (token.token.isStable ? token.basePrice : usd(price)),
  })
  return { account, venue, intent, moment }
}

test('an order at the market fills on the worse side of the price for six basis points, and closing it gives the rest', () => {
  const { account, venue, intent, moment } = bench()
  venue.take(intent(increase()), moment('2000'))
  expect(venue.fills).toMatchObject([{ what: 'opened', price: usd('2000.2'), feeUsd: usd('0.6') }])
  venue.take(intent(decrease(usd(1000))), moment('2100'))
  const [, closed] = venue.fills
  expect(closed).toMatchObject({
    what: 'reduced',
    sizeUsd: usd(1000),
    price: usd('2099.79'),
    feeUsd: usd('0.6'),
  })
  // 1000 / 2000.2 tokens, sold at 2099.79.
  expect(Number(closed?.pnlUsd ?? 0n) / 1e30).toBeCloseTo(49.79, 2)
  expect([account.held, venue.open()]).toEqual([[], []])
  expect(account.realizedUsd()).toBe((closed?.pnlUsd ?? 0n) - usd('1.2'))
})

test('an order that rests fills at its trigger when the price reaches it, and not before', () => {
  const { venue, intent, moment } = bench()
  const terms = { orderType: 'limit', triggerPrice: usd(1950) } as const
  venue.take(intent(increase({ orderType: 'limit', triggerPrice: usd(1950) }), terms), moment('2000'))
  expect(venue.orders()).toMatchObject([{ orderType: 3, sizeDeltaUsd: usd(1000) }])
  venue.pass(moment('1950.1'))
  expect(venue.fills).toEqual([])
  venue.pass(moment('1940'))
  expect(venue.fills).toMatchObject([{ what: 'opened', price: usd(1950) }])
  expect(venue.orders()).toEqual([])
})

test('a stop that the price jumped over fills at the price that was seen, and its other exit ends with it', () => {
  const { account, venue, intent, moment } = bench()
  const tpsl = [
    { type: 'take-profit', triggerPrice: usd(2200), sizeDeltaUsd: usd(1000) },
    { type: 'stop-loss', triggerPrice: usd(1900), sizeDeltaUsd: usd(1000) },
  ] as const
  venue.take(intent(increase(), { tpsl }), moment('2000'))
  expect(venue.open()).toHaveLength(1)
  expect(venue.orders()).toHaveLength(2)
  venue.pass(moment('1800', 2000))
  expect(venue.fills[1]).toMatchObject({ what: 'stop-loss', price: usd(1800) })
  expect([account.held, venue.orders(), venue.open()]).toEqual([[], [], []])
  expect(venue.track()).toMatchObject({
    stopsMs: [2_000_000],
    exitsMs: new Map([[hexKey(eth.marketToken), 2_000_000]]),
  })
  const events = venue.takeEvents()
  expect(events.map((event) => [event.kind, 'role' in event ? event.role : ''])).toEqual([
    ['filled', 'main'],
    ['filled', 'stop-loss'],
    ['closed', ''],
  ])
  expect(venue.takeEvents()).toEqual([])
})

test('a position whose collateral is used up is liquidated, and its collateral is lost', () => {
  const { account, venue, intent, moment } = bench()
  venue.take(intent(increase()), moment('2000'))
  venue.pass(moment('1630'))
  expect(venue.fills).toHaveLength(1)
  venue.pass(moment('1600'))
  expect(venue.fills[1]).toMatchObject({
    what: 'liquidated',
    pnlUsd: -usdOfAmount(200_000_000n, eth.short.basePrice, 6),
  })
  expect(account.held).toEqual([])
})

test('an order that is unwound is closed, and what rests of it cancelled', () => {
  const { account, venue, intent, moment } = bench()
  const tpsl = [{ type: 'stop-loss', triggerPrice: usd(1900), sizeDeltaUsd: usd(1000) }] as const
  venue.take(intent(increase(), { tpsl }), moment('2000'))
  expect(venue.unwind('intent-1', moment('2000'))).toBe(true)
  expect([account.held, venue.orders(), venue.open()]).toEqual([[], [], []])
  expect(venue.unwind('intent-1', moment('2000'))).toBe(false)
})

/** What the fills say together: gains less fees. */
const sum = (fills: readonly { readonly pnlUsd: Usd; readonly feeUsd: Usd }[]): Usd =>
  fills.reduce((all, { pnlUsd, feeUsd }) => all + pnlUsd - feeUsd, 0n)

test('what is realized is what the fills say together, and nothing is held that was not opened', () => {
  const action = fc.record({
    adds: fc.boolean(),
    isLong: fc.boolean(),
    sizeUsd: fc.integer({ min: 2, max: 5_000 }),
    price: fc.integer({ min: 500, max: 9_000 }),
    keeps: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const account: TrialAccount = createTrialAccount([eth.long, eth.short], usd(1_000_000))
      const fills: { readonly pnlUsd: Usd; readonly feeUsd: Usd }[] = []
      const open = { long: 0n, short: 0n }
      for (const { adds, isLong, sizeUsd, price, keeps } of actions) {
        const direction = isLong ? 'long' : 'short'
        const side = { ...key, direction } as const
        if (adds) {
          const { sizeUsd: opened, ...fill } = account.increase(
            side,
            usd(sizeUsd),
            100_000_000n,
            usd(price),
            1,
          )
          open[direction] += opened
          fills.push(fill)
        } else {
          const held = account.find(side)
          if (held === undefined) continue
          const { sizeUsd: closed, ...fill } = account.reduce(held, usd(sizeUsd), keeps, usd(price), 1)
          open[direction] -= closed
          fills.push(fill)
          expect(fill.feeUsd).toBe(bps(closed, 6))
        }
        expect(account.find(side)?.sizeUsd ?? 0n).toBe(open[direction])
      }
      expect(account.realizedUsd()).toBe(sum(fills))
      for (const held of [...account.held]) {
        expect(held.sizeTokens > 0n && held.collateralAmount >= 0n).toBe(true)
        fills.push(account.reduce(held, held.sizeUsd, false, usd(2000), 1))
      }
      expect(account.held).toEqual([])
      expect(account.resultUsd(() => usd(2000))).toBe(sum(fills))
    }),
    { seed: 15, numRuns: 200 },
  )
})
