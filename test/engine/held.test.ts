/** What counts as held when hosts hide it, lag, or make up how it ended. */
import { afterEach, expect, test } from 'vitest'
import type { IncreaseDecision } from '../../src/domain/order/decision.ts'
import { formatUsd, usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { defineStrategy, z } from '../../src/strategy/strategy.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench, signer } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

let bench: KindsBench
let running: { abort(): void } | undefined
afterEach(async () => {
  running?.abort()
  running = undefined
  await bench.close()
})

/** Opens a long of $500 whenever it sees none; with an exit of the whole at this price, if one is given. */
async function opener(exitUsd?: number): Promise<LoadedStrategy> {
  const marketToken = await bench.marketToken(ethSymbol)
  const wish: IncreaseDecision = {
    kind: 'increase',
    marketToken,
    direction: 'long',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
    collateralToken: usdc,
    reason: 'no position is seen',
    ...(exitUsd === undefined ? {} : { tpsl: [{ type: 'take-profit', triggerPrice: usd(exitUsd) }] }),
  }
  const strategy = defineStrategy({
    kind: 'opener',
    description: 'Opens what it does not see.',
    params: z.object({}),
    needs: () => ({ symbols: [ethSymbol] }),
    decide: (view) => (view.positions(ethSymbol).length > 0 ? [] : [wish]),
  })
  return loadedOf(strategy as LoadedStrategy['strategy'], 'opener', [ethSymbol])
}

/** A running engine with a limit of $1,200 in all, at a venue that lies so. */
async function begin(options: KindsOptions = {}, exitUsd?: number) {
  bench = await kindsBench(options)
  const at = engineOver(bench, {
    strategies: [await opener(exitUsd)],
    account: { maxTotalExposureUsd: usd(1_200) },
  })
  running = at.engine
  await at.engine.start()
  // Asked in the venue's own process, where nobody lies.
  const heldUsd = async (): Promise<bigint> => {
    const url = `http://venue.test${bench.venue.paths.api[0]}/positions?address=${signer.address}`
    const rows = (await (await bench.venue.fetch(new Request(url))).json()) as { sizeInUsd: string }[]
    return rows.reduce((sum, { sizeInUsd }) => sum + BigInt(sizeInUsd), 0n)
  }
  return {
    ...at,
    heldUsd,
    discrepancies: () => at.engine.status().discrepancies.map(({ discrepancy }) => discrepancy.kind),
  }
}

const by = { by: 'ann', via: 'control' } as const
const isPositions = (url: string) => new URL(url).pathname.endsWith('/positions')

test('a host that hides positions makes nothing of six minutes but the first ones, and is told of', async () => {
  const at = await begin({ lie: (url) => (isPositions(url) ? '[]' : undefined) })
  await bench.clock.advance(360_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  const { exposureUsd, hidden } = at.engine.status()
  expect([formatUsd(exposureUsd), hidden]).toEqual([
    '$500.00',
    ['a list shows $0.00 of ETH/USD [WETH-USDC] long; the journal has $500.00'],
  ])
  expect(at.discrepancies()).toEqual(['unexplained-position'])
  expect(new Set(at.codes())).toContain('POSITION_NOT_SHOWN')
})

test('a liquidation that a host makes up frees nothing while the chain does not show it', async () => {
  const lie: KindsOptions['lie'] = (url, text) => {
    if (isPositions(url)) return '[]'
    if (!/\/trades(\/search)?$/.test(new URL(url).pathname)) return undefined
    const page = JSON.parse(text) as { trades: Record<string, unknown>[] }
    const made = page.trades
      .filter(({ eventName, orderType }) => eventName === 'OrderExecuted' && orderType === 2)
      .map((row) => ({ ...row, id: `${row.id}-made-up`, orderType: 7, orderKey: `0x${'77'.repeat(32)}` }))
    return JSON.stringify({ ...page, trades: [...made, ...page.trades] })
  }
  const at = await begin({ lie, isByChain: true })
  await bench.clock.advance(300_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  expect(formatUsd(at.engine.status().exposureUsd)).toBe('$500.00')
  expect(at.discrepancies()).not.toContain('liquidation')
})

test('lists that are twenty seconds behind raise nothing, and only make an increase wait', async () => {
  const past: { readonly atMs: number; readonly text: string }[] = []
  const at = await begin({
    isByChain: true,
    lie: (url, text) => {
      if (!isPositions(url)) return undefined
      const nowMs = bench.clock.now()
      past.push({ atMs: nowMs, text })
      return past.findLast(({ atMs }) => atMs <= nowMs - 20_000)?.text ?? '[]'
    },
  })
  await bench.clock.advance(180_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  expect(at.events.filter(({ type }) => type === 'account.discrepancy')).toEqual([])
  expect(at.engine.status().hidden).toEqual([])
  expect(at.codes()).not.toContain('POSITION_NOT_SHOWN')
})

test('an exit that was hit, while the list of orders is late, is no contradiction: what comes after it is not refused', async () => {
  const past: { readonly atMs: number; readonly text: string }[] = []
  const at = await begin(
    {
      isByChain: true,
      path: [
        [0, 2_000],
        [60, 2_000],
        [61, 2_030],
        [70, 2_000],
        [100_000, 2_000],
      ],
      lie: (url, text) => {
        if (!new URL(url).pathname.endsWith('/orders')) return undefined
        const nowMs = bench.clock.now()
        past.push({ atMs: nowMs, text })
        return past.findLast(({ atMs }) => atMs <= nowMs - 12_000)?.text ?? '[]'
      },
    },
    2_020,
  )
  await bench.clock.advance(58_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  await bench.clock.advance(8_000)
  expect(formatUsd(await at.heldUsd())).toBe('$0.00')
  await bench.clock.advance(90_000)
  expect(at.codes()).not.toContain('POSITION_NOT_SHOWN')
  expect(at.events.filter(({ type }) => type === 'account.discrepancy')).toEqual([])
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
})

test('a host that hides a position whose exit rests makes nothing grow above the limit, and is told of', async () => {
  const at = await begin(
    {
      isByChain: true,
      path: [
        [0, 2_000],
        [100_000, 2_000],
      ],
      lie: (url) => (isPositions(url) ? '[]' : undefined),
    },
    2_020,
  )
  await bench.clock.advance(360_000)
  expect(await at.heldUsd()).toBeLessThanOrEqual(usd(1_200))
  expect(at.codes()).toEqual(expect.arrayContaining(['MAX_TOTAL_EXPOSURE', 'UNEXPLAINED']))
  expect(at.discrepancies()).toEqual(['unexplained-position'])
})

test('a liquidation that happened is told as one when the chain shows it, and raises no discrepancy', async () => {
  const at = await begin({
    isByChain: true,
    path: [
      [0, 2_000],
      [60, 2_000],
      [61, 1_000],
      [100_000, 1_000],
    ],
  })
  await bench.clock.advance(58_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  await bench.clock.advance(60_000)
  const told = at.events.flatMap((event) =>
    event.type === 'account.discrepancy' ? [event.discrepancy.kind] : [],
  )
  expect(told).toEqual(['liquidation'])
  expect(at.engine.status().hidden).toEqual([])
})

test('one host of two that hides positions, or makes up how they ended, changes nothing either', async () => {
  const ofLiar = (url: string) => url.includes('/api/0/')
  const at = await begin({
    lie: (url, text) => {
      if (!ofLiar(url)) return undefined
      if (isPositions(url)) return '[]'
      if (!/\/trades(\/search)?$/.test(new URL(url).pathname)) return undefined
      const page = JSON.parse(text) as { trades: Record<string, unknown>[] }
      const made = page.trades
        .filter(({ eventName, orderType }) => eventName === 'OrderExecuted' && orderType === 2)
        .map((row) => ({ ...row, id: `${row.id}-made-up`, orderType: 7, orderKey: `0x${'77'.repeat(32)}` }))
      return JSON.stringify({ ...page, trades: [...made, ...page.trades] })
    },
  })
  await bench.clock.advance(300_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  expect(formatUsd(at.engine.status().exposureUsd)).toBe('$500.00')
  // The status shows what the honest one shows.
  expect(at.engine.status().positions).toHaveLength(1)
  expect(at.discrepancies()).toEqual(['unexplained-position'])
})

test('an order that is not wanted is not undone at the word of a list that hides what it opened', async () => {
  let isLying = true
  const at = await begin({
    settings: { keeperDelayMs: 10_000 },
    lie: (url) => (isLying && isPositions(url) ? '[]' : undefined),
  })
  await bench.clock.advance(8_000)
  const [open] = bench.journal.openIntents()
  const intentId = open?.intent.intentId ?? ''
  await at.engine.operate({ type: 'unwind', intentId, reason: 'a mistake' }, by)
  // Lists may lag for half a minute after a fill: until then nothing is done, and nothing is taken for gone.
  await bench.clock.advance(25_000)
  expect(formatUsd(await at.heldUsd())).toBe('$500.00')
  expect(at.engine.status().unwinds).toMatchObject([{ intentId }])
  await at.engine.operate({ type: 'trading', scope: 'global', state: 'halted', reason: '' }, by)
  // Then it is closed by what the journal knows, whatever the list shows.
  await bench.clock.advance(90_000)
  expect(await at.heldUsd()).toBe(0n)
  isLying = false
  await bench.clock.advance(60_000)
  expect(at.engine.status().unwinds).toEqual([])
})
