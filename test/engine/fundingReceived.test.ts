/** Funding that others paid to a position is in the books of those who held it, by the chain's own events. */
import { afterEach, expect, test } from 'vitest'
import { createDayResult } from '../../src/account/watch/dayResult.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import { accountOf } from '../../src/paper/state/accounts.ts'
import { absOf, usd, usdOfAmount } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath, signer } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const hourMs = 3_600_000

/** What the venue has put aside for the account, at prices of now, USD. */
async function putAside({ venue, api }: KindsBench): Promise<bigint> {
  const tokens = (await api.getTokensInfo({ isFresh: true })).value
  let worthUsd = 0n
  for (const [key, amount] of accountOf(venue.venueState, signer.address).claimableFunding) {
    const token = tokens.find(({ address }) => key.includes(address.toLowerCase()))
    if (token?.minPrice !== undefined) worthUsd += usdOfAmount(amount, token.minPrice, token.decimals)
  }
  return worthUsd
}

/** Holds both directions for hours. */
async function holdBoth(isByChain: boolean, path: PricePath) {
  const over = await kindsBench({ isByChain, path })
  bench = over
  const marketToken = await over.marketToken(ethSymbol)
  const pass = async (ms: number, stepMs: number): Promise<void> => {
    for (let left = ms; left > 0; left -= stepMs) await over.clock.advance(stepMs)
  }
  for (const direction of ['long', 'short'] as const) {
    await over.accept({
      ...{ kind: 'increase', marketToken, direction, sizeDeltaUsd: usd(5_000), leverageBps: 20_000 },
      ...{ collateralToken: usdc, reason: 'to hold' },
    })
    await pass(60_000, 5_000)
  }
  await pass(6 * hourMs, 10 * 60_000)
  return { over, marketToken, pass }
}

/** Holds both and closes them. */
async function hold(isByChain: boolean): Promise<KindsBench> {
  const { over, marketToken, pass } = await holdBoth(isByChain, [[0, 2_000]])
  for (const direction of ['long', 'short'] as const) {
    await over.accept({ kind: 'close', marketToken, direction, collateralToken: usdc, reason: 'enough' })
    await pass(60_000, 5_000)
  }
  return over
}

test('what the venue puts aside for a position is what its book says that it received', async () => {
  const over = await hold(true)
  const books = over.journal.books().all()
  const fundingOf = (direction: string) =>
    books.find((book) => book.strategy === 'test' && book.direction === direction)?.figures.fundingUsd ?? 0n
  const received = [fundingOf('long'), fundingOf('short')].filter((fundingUsd) => fundingUsd < 0n)
  const asideUsd = await putAside(over)
  expect(asideUsd).toBeGreaterThan(10n ** 28n)
  expect(received).toHaveLength(1)
  // Prices moved by some millionths since.
  expect(absOf((received[0] ?? 0n) + asideUsd) * 10_000n).toBeLessThan(asideUsd)
  const nowMs = over.clock.now()
  const results = createDayResult(over.journal.recentIntents(), nowMs)
  expect(results.receivedSince(Number.NEGATIVE_INFINITY, nowMs)).toBe(-(received[0] ?? 0n))
})

test('what the venue puts aside for a position that it liquidates is in the book, by the chain, and in the result of the day', async () => {
  const heldSeconds = (2 * 60_000 + 6 * hourMs) / 1_000
  const { over, pass } = await holdBoth(true, [
    [0, 2_000],
    [heldSeconds + 60, 2_000],
    [heldSeconds + 61, 3_200],
    [heldSeconds + 180, 3_200],
    [heldSeconds + 181, 900],
  ])
  const { engine, events } = engineOver(over, {})
  running = engine
  await engine.start()
  const found = () =>
    events.flatMap((event) => (event.type === 'account.discrepancy' ? [event.discrepancy] : []))
  const asides: bigint[] = []
  for (const count of [1, 2]) {
    for (let turn = 0; turn < 40 && found().length < count; turn += 1) await pass(5_000, 5_000)
    asides.push(await putAside(over))
  }
  expect(found().map(({ kind, direction }) => `${kind} ${direction}`)).toEqual([
    'liquidation short',
    'liquidation long',
  ])
  const [ofShort = 0n, ofLong = 0n] = found().map(({ fundingReceivedUsd = 0n }) => fundingReceivedUsd)
  const [first = 0n, both = 0n] = asides
  const [receivedUsd, asideUsd] = ofShort > 0n ? [ofShort, first] : [ofLong, both]
  expect(asideUsd).toBeGreaterThan(10n ** 28n)
  expect(absOf(receivedUsd - asideUsd) * 10_000n).toBeLessThan(asideUsd)
  expect([ofShort, ofLong].filter((each) => each > 0n)).toHaveLength(1)
  const books = over.journal.books().all()
  const fundingUsd = books
    .filter(({ strategy }) => strategy === 'test')
    .reduce((sum, { figures }) => sum + figures.fundingUsd, 0n)
  expect(-fundingUsd).toBe(receivedUsd)
  const results = createDayResult([], over.clock.now())
  results.addDiscrepancies(over.journal.account(), over.clock.now())
  expect(results.receivedSince(Number.NEGATIVE_INFINITY, over.clock.now())).toBe(receivedUsd)
})

test('where rows of a host are all that is known, no funding counts as received', async () => {
  const over = await hold(false)
  expect(await putAside(over)).toBeGreaterThan(10n ** 28n)
  for (const { figures } of over.journal.books().all()) expect(figures.fundingUsd).toBeGreaterThanOrEqual(0n)
})
