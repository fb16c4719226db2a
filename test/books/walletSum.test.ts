/**
 * The sum of the books against the account's own tokens, order by order, on the paper venue with its chain. Three rules of docs/books.md stand
 * between the two and nothing else: the oracle's spread, the price at which a fee was bought, and fractions of a token's unit.
 */
import { afterEach, expect, test } from 'vitest'
import type { FileCandle } from '../../src/base/candles/candleFile.ts'
import { resultOf } from '../../src/books/figures.ts'
import type { Decision } from '../../src/domain/order/decision.ts'
import { type Child, type IntentState, labelOf, lastAttempt } from '../../src/domain/order/intent.ts'
import { ordersOfAccount } from '../../src/paper/prepare/positionRows.ts'
import { accountOf, positionsOfAccount } from '../../src/paper/state/accounts.ts'
import { tokenPrice } from '../../src/paper/state/venueState.ts'
import { type Address, hexKey } from '../../src/protocol/address.ts'
import { absOf, maxOf, type Usd, usd } from '../../src/protocol/units.ts'
import { usdc, weth } from '../support/intents.ts'
import { btcSymbol, ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let at: KindsBench
afterEach(() => at.close())

const btc: Address = '0x2f2a2543B76A4166549F7aaB2e75Bef0aefC5B0f'
/** Order types that hold what they pay while they wait. */
const paying: ReadonlySet<number> = new Set([0, 1, 2, 3, 8])

const candle = (startSeconds: number, price: Usd): FileCandle => ({
  ...{ startSeconds, open: price, close: price, high: price, low: price },
})

/** Tokens that are not counted: where hosts alone are read nobody knows what came back of a fee. */
let uncounted: ReadonlySet<string>

/** A venue whose prices stand until the test moves them; a dollar is one USDC at its lowest price. */
async function world(isByChain = true) {
  uncounted = new Set(isByChain ? [] : ['ETH', 'WETH'])
  const series = {
    ETH: [candle(0, usd(2_000))],
    BTC: [candle(0, usd(60_000))],
    USDC: [candle(0, usd('1.000100010001000100010001'))],
  }
  at = await kindsBench({
    isByChain,
    settings: { replay: { series: new Map(Object.entries(series)), speed: 1 } },
  })
  const startMs = at.clock.now()
  const priceIs = (asset: 'ETH' | 'BTC', price: number): void =>
    void series[asset].push(candle((at.clock.now() - startMs) / 1_000, usd(price)))
  const on = async (symbol: string, direction: 'long' | 'short', collateralToken: Address) =>
    ({ marketToken: await at.marketToken(symbol), direction, collateralToken, reason: 'a test' }) as const
  return { priceIs, on }
}

/** Base units of everything that is the account's, by token: wallet, what orders hold, collateral, and what may be claimed. */
function inventory(): ReadonlyMap<string, bigint> {
  const { venueState } = at.venue
  const tokens = new Map<string, bigint>()
  const add = (token: string, amount: bigint): void => {
    tokens.set(hexKey(token), (tokens.get(hexKey(token)) ?? 0n) + amount)
  }
  const { balances, claimableFunding } = accountOf(venueState, signer.address)
  for (const map of [balances, claimableFunding])
    for (const [key, amount] of map) add(key.split(':').at(-1) ?? key, amount)
  for (const { params } of ordersOfAccount(venueState, signer.address))
    if (paying.has(Number(params.orderType)))
      add(params.addresses.initialCollateralToken, params.numbers.initialCollateralDeltaAmount)
  for (const { collateralToken, state } of positionsOfAccount(venueState, signer.address))
    add(collateralToken.address, state.collateralAmount)
  return tokens
}

function pairOf(key: string) {
  const { venueState } = at.venue
  const token = venueState.catalog.tokenByAddress.get(hexKey(key))
  if (token === undefined) throw new RangeError(key)
  return tokenPrice(venueState, token, Math.floor(at.clock.now() / 1_000))
}

const spreadOf = (token: string, amount: bigint): Usd => amount * (pairOf(token).max - pairOf(token).min)

const booksUsd = (): Usd => {
  const books = at.journal.books().all()
  return books.reduce((sum, { figures }) => sum + resultOf(figures), 0n)
}

/** The token that a profit of an intent's side is paid in. */
function profitTokenOf({ intent: { terms } }: IntentState): Address {
  if (terms.direction === 'short') return usdc
  return terms.symbol === ethSymbol ? weth : btc
}

/** What swaps and profits lost by the oracle's spread since the transaction at this place: each is paid at a token's highest price. */
function spreadSince(place: number, children: readonly Child[], state: IntentState): Usd {
  const swapped = [...at.venue.venueState.blockChain.byHash.values()]
    .slice(place)
    .flatMap(({ logs }) => logs.filter(({ eventName }) => eventName === 'SwapInfo'))
    .reduce((sum, { items }) => sum + spreadOf(String(items.tokenOut), items.amountOut as bigint), 0n)
  const reduces = ['decrease', 'close'].includes(state.intent.kind)
  const profitToken = profitTokenOf(state)
  const gains = children.flatMap(({ settlement: { basePnlUsd = 0n } = {} }) => maxOf(0n, basePnlUsd))
  const gained = reduces ? gains.reduce((sum, each) => sum + each / pairOf(profitToken).max, 0n) : 0n
  return swapped + spreadOf(profitToken, gained)
}

/** Carries out a decision to its end: changes of the account's tokens, at the prices of the end, and of the books. */
async function carried(decision: Decision, meanwhile?: () => void) {
  const [before, beforeUsd, place] = [inventory(), booksUsd(), at.venue.venueState.blockChain.byHash.size]
  const { intentId } = await at.accept(decision)
  // Between the message and the keeper.
  if (meanwhile !== undefined) await at.clock.advance(1_000)
  meanwhile?.()
  await at.clock.advance(30_000)
  const after = inventory()
  const state = at.story(intentId)
  // A profit is paid in whole units of a token that the wallet may never see.
  let [walletUsd, unitsUsd] = [0n, 2n * pairOf(profitTokenOf(state)).max]
  for (const key of new Set([...before.keys(), ...after.keys()])) {
    const delta = (after.get(key) ?? 0n) - (before.get(key) ?? 0n)
    const symbol = at.venue.venueState.catalog.tokenByAddress.get(key)?.symbol ?? ''
    if (delta === 0n || uncounted.has(symbol)) continue
    walletUsd += delta * pairOf(key).min
    unitsUsd += 2n * pairOf(key).max
  }
  const children = lastAttempt(state)?.children ?? []
  const changedUsd = booksUsd() - beforeUsd
  const spreadUsd = spreadSince(place, children, state)
  return { state, children, walletUsd, changedUsd, spreadUsd, unitsUsd, label: labelOf(state) }
}

/** Carries it out and holds both changes against each other. */
async function addsUp(name: string, decision: Decision, label = 'executed', meanwhile?: () => void) {
  const found = await carried(decision, meanwhile)
  const restUsd = found.walletUsd - (found.changedUsd - found.spreadUsd)
  expect({ name, label: found.label, isWithinUnits: absOf(restUsd) <= found.unitsUsd, restUsd }).toEqual({
    ...{ name, label, isWithinUnits: true, restUsd },
  })
  return found
}

test('with each order the books change as the account does, to the unit and the spread of the oracle', async () => {
  const { priceIs, on } = await world()
  const ethLong = await on(ethSymbol, 'long', usdc)
  const ethShort = await on(ethSymbol, 'short', weth)
  const btcLong = await on(btcSymbol, 'long', usdc)
  const btcByBtc = await on(btcSymbol, 'long', btc)
  const btcShort = await on(btcSymbol, 'short', usdc)
  const swap = { kind: 'swap', direction: 'long', payAmount: 500_000_000n, reason: 'a test' } as const
  await addsUp('USDC to WETH', { ...swap, marketToken: ethLong.marketToken })
  await addsUp('USDC to BTC', { ...swap, marketToken: btcLong.marketToken })
  const open = (sizeUsd: number) =>
    ({ kind: 'increase', sizeDeltaUsd: usd(sizeUsd), leverageBps: 20_000 }) as const
  await addsUp('ETH long by USDC', { ...ethLong, ...open(1_000) })
  await addsUp('ETH short by WETH', { ...ethShort, ...open(500) })
  const stop = { type: 'stop-loss', triggerPrice: usd(50_000) } as const
  await addsUp('BTC long with a stop', { ...btcLong, ...open(1_000), tpsl: [stop] }, 'resting')
  await addsUp('BTC long by BTC', { ...btcByBtc, ...open(400) })
  await addsUp('BTC short by USDC', { ...btcShort, ...open(600) })
  await addsUp('collateral in', { ...btcLong, kind: 'collateral-in', amount: 50_000_000n })
  await addsUp('collateral out', { ...btcLong, kind: 'collateral-out', amount: 40_000_000n })
  const limit = await addsUp(
    'a limit order',
    { ...btcLong, ...open(300), orderType: 'limit', triggerPrice: usd(59_000) },
    'resting',
  )
  const key = limit.children[0]?.orderKey ?? '0x'
  await addsUp('its edit', { ...btcLong, kind: 'edit', orderKey: key, triggerPrice: usd(58_000) })
  await addsUp('its cancel', { ...btcLong, kind: 'cancel', orderKeys: [key] })
  const late = await addsUp(
    'an order that the price leaves behind',
    { ...btcLong, ...open(200) },
    'cancelled',
    () => priceIs('BTC', 62_500),
  )
  expect(late.changedUsd).toBeLessThan(0n)
  await at.clock.advance(3_600_000)
  priceIs('BTC', 63_000)
  priceIs('ETH', 2_100)
  await at.clock.advance(60_000)
  await addsUp('a part of a profit', {
    ...ethLong,
    kind: 'decrease',
    sizeDeltaUsd: usd(400),
    keepLeverage: true,
  })
  const gain = await addsUp('the rest of it', { ...ethLong, kind: 'close' })
  // The profit came in WETH and was swapped into USDC: the fee of that is a fee of the fill.
  expect(gain.spreadUsd).toBeGreaterThan(0n)
  await addsUp('a loss paid in WETH', { ...ethShort, kind: 'close' })
  priceIs('ETH', 2_000)
  await at.clock.advance(60_000)
  await addsUp('a part with its collateral left', {
    ...{ ...btcLong, kind: 'decrease', sizeDeltaUsd: usd(400), keepLeverage: false },
  })
  await addsUp('the rest and its stop', { ...btcLong, kind: 'close' })
  await addsUp('a profit paid in BTC', { ...btcByBtc, kind: 'close' })
  await addsUp('a loss paid in USDC', { ...btcShort, kind: 'close' })
  expect(positionsOfAccount(at.venue.venueState, signer.address)).toEqual([])
})

test('a fee that comes back on a market without the native token counts at the price at which its message bought it', async () => {
  const { priceIs, on } = await world()
  const btcLong = await on(btcSymbol, 'long', usdc)
  const stop = { type: 'stop-loss', triggerPrice: usd(50_000) } as const
  const opened = await addsUp(
    'BTC long with a stop',
    { ...btcLong, kind: 'increase', sizeDeltaUsd: usd(1_000), leverageBps: 20_000, tpsl: [stop] },
    'resting',
  )
  const boughtAt = pairOf(weth).min
  priceIs('ETH', 2_200)
  await at.clock.advance(60_000)
  const closed = await carried({ ...btcLong, kind: 'close' })
  const [, exit] = lastAttempt(at.story(opened.state.intent.intentId))?.children ?? []
  const returnedUsd = exit?.settlement?.executionFeeReturnedUsd ?? 0n
  expect(exit).toMatchObject({ phase: 'CANCELLED' })
  expect(returnedUsd).toBeGreaterThan(0n)
  // The coin became dearer in the meantime: that is no result of the order.
  const dearerUsd = (returnedUsd / boughtAt) * (pairOf(weth).min - boughtAt)
  const restUsd = closed.walletUsd - (closed.changedUsd - closed.spreadUsd + dearerUsd)
  expect(absOf(restUsd)).toBeLessThanOrEqual(closed.unitsUsd)
})

test('hosts alone show the swap of a profit too, as a fee of the fill', async () => {
  const { priceIs, on } = await world(false)
  const btcLong = await on(btcSymbol, 'long', usdc)
  await addsUp('BTC long', { ...btcLong, kind: 'increase', sizeDeltaUsd: usd(1_000), leverageBps: 20_000 })
  priceIs('BTC', 63_000)
  await at.clock.advance(60_000)
  const closed = await addsUp('its profit', { ...btcLong, kind: 'close' })
  expect(closed.children[0]?.settlement?.feesUsd).toBeGreaterThan(usd('0.4'))
})
