/** Deposits and withdrawals are neither gain nor loss, and hide neither: the running engine over the paper venue, on real sockets. */
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { createTransferVotes } from '../../src/account/equity/transfers.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import { movedMark } from '../../src/domain/accountRecords/tradingState.ts'
import { holdingOf } from '../../src/paper/state/purse.ts'
import { changeAccount } from '../../src/paper/state/wallets.ts'
import { absOf, formatUnits, type Usd, usd } from '../../src/protocol/units.ts'
import { type BreakerFacts, dayStartOf, tripsOf } from '../../src/risk/breakers/circuitBreakers.ts'
import { engineOver } from '../support/engine.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, type PricePath, signer } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const calm: PricePath = [
  [0, 1_800],
  [7_200, 1_800],
]

interface World {
  readonly bench: KindsBench
  readonly engine: Engine
  /** What each transfer was, hundreds of USD. */
  told(): readonly number[]
  causes(): readonly string[]
}

async function world(path: PricePath = calm, before?: KindsBench): Promise<World> {
  const over = before ?? (await kindsBench({ path }))
  bench = over
  const { engine, events } = engineOver(over, {
    account: { maxDailyLossEquityBps: 300 },
    breakers: { maxDrawdownBps: 300, sets: {} },
  })
  running = engine
  await engine.start()
  return {
    bench: over,
    engine,
    told: () =>
      events.flatMap((event) =>
        event.type === 'account.transferred' ? [Math.round(whole(event.amountUsd) / 100)] : [],
      ),
    causes: () => engine.status().halts.map(({ cause }) => cause),
  }
}

function walletUsdc({ venue }: KindsBench): bigint {
  return holdingOf(venue.venueState, signer.address, usdc)
}

/** Somebody sends USDC to the account (positive) or away from it. */
function send(at: KindsBench, dollars: number): void {
  const balance = walletUsdc(at) + BigInt(dollars) * 1_000_000n
  const balances = { USDC: formatUnits(balance, 6) }
  expect(changeAccount(at.venue.venueState, { address: signer.address, balances })).toBeTypeOf('object')
}

async function open(engine: Engine, id: string, size: string, leverage: string): Promise<void> {
  const order = {
    type: 'open',
    id,
    market: ethSymbol,
    direction: 'long',
    collateral: 'short',
    isPreview: false,
  } as const
  const answer = await engine.operate({ ...order, size, leverage }, { by: 'ann', via: 'control' })
  expect(answer).toMatchObject({ ok: true })
}

const whole = (amount: Usd = 0n): number => Number(amount / usd(1))

test('a withdrawal of most of the wallet is no loss and no drawdown, and a deposit no gain', async () => {
  const { bench: at, engine, told, causes } = await world()
  await at.clock.advance(60_000)
  const first = engine.status().equity
  send(at, -80_000)
  for (let second = 0; second < 120; second += 5) {
    await at.clock.advance(5_000)
    expect(causes()).toEqual([])
  }
  expect(told()).toEqual([-800])
  const after = engine.status().equity
  // A dollar of the wallet is a cent or so less.
  expect((whole(first?.equityUsd) - whole(after?.equityUsd)) / 80_000).toBeCloseTo(1, 2)
  expect(whole(after?.peakUsd) / whole(after?.equityUsd)).toBeCloseTo(1, 3)
  expect(whole(after?.dayTransfersUsd) / -80_000).toBeCloseTo(1, 2)
  expect(absOf((after?.dayStartUsd ?? 0n) - (after?.equityUsd ?? 0n))).toBeLessThan(usd(20))
  send(at, 50_000)
  await at.clock.advance(120_000)
  expect(told()).toEqual([-800, 500])
  const last = engine.status().equity
  expect(absOf((last?.dayStartUsd ?? 0n) - (last?.equityUsd ?? 0n))).toBeLessThan(usd(20))
  expect(causes()).toEqual([])
})

test.each([
  ['withdrawal', -60_000],
  ['deposit', 60_000],
])('a real loss on the day of a %s halts as it would without one', async (_, dollars) => {
  const {
    bench: at,
    engine,
    told,
    causes,
  } = await world([
    [0, 1_800],
    [600, 1_800],
    [640, 1_600],
    [7_200, 1_600],
  ])
  await at.clock.advance(60_000)
  send(at, dollars)
  await at.clock.advance(90_000)
  expect(told()).toEqual([dollars / 100])
  // A tenth of the price of three times the equity that is left.
  const equityUsd = whole(engine.status().equity?.equityUsd)
  await open(engine, 'one', String(Math.round(equityUsd / 2)), '2')
  await at.clock.advance(120_000)
  expect(causes()).toEqual([])
  await at.clock.advance(600_000)
  expect(causes().toSorted()).toEqual(['daily-loss', 'drawdown'])
  expect(told()).toEqual([dollars / 100])
})

test('what moved while no perpd ran is told by the next one, once', async () => {
  const first = await world()
  await first.bench.clock.advance(60_000)
  await open(first.engine, 'one', '1000', '2')
  await first.bench.clock.advance(120_000)
  const before = first.engine.status().equity
  // Killed: nothing is written any more.
  first.engine.abort()
  await first.bench.clock.advance(1_000)
  send(first.bench, -40_000)
  await first.bench.clock.advance(600_000)
  const second = await world(calm, first.bench)
  for (let at = 0; at < 90; at += 5) {
    await first.bench.clock.advance(5_000)
    expect(second.causes()).toEqual([])
  }
  expect(second.told()).toEqual([-400])
  expect((whole(before?.equityUsd) - whole(second.engine.status().equity?.equityUsd)) / 40_000).toBeCloseTo(
    1,
    2,
  )
  second.engine.abort()
  await first.bench.clock.advance(1_000)
  const third = await world(calm, first.bench)
  await first.bench.clock.advance(120_000)
  expect(third.told()).toEqual([])
  expect(third.causes()).toEqual([])
  expect(third.engine.status().equity).toMatchObject({
    dayTransfersUsd: second.engine.status().equity?.dayTransfersUsd,
  })
})

test.each([
  ['deposit', 150_000],
  ['withdrawal', -80_000],
])('a kill between a %s and its judgement makes neither peak nor loss of it', async (_, dollars) => {
  const first = await world()
  await first.bench.clock.advance(120_000)
  send(first.bench, dollars)
  await first.bench.clock.advance(12_000)
  expect(first.told()).toEqual([])
  first.engine.abort()
  await first.bench.clock.advance(1_000)
  const second = await world(calm, first.bench)
  for (let at = 0; at < 120; at += 5) {
    await first.bench.clock.advance(5_000)
    expect(second.causes()).toEqual([])
  }
  expect(second.told()).toHaveLength(1)
  const { equityUsd = 0n, peakUsd = 0n, dayStartUsd = 0n } = second.engine.status().equity ?? {}
  expect(whole(peakUsd) / whole(equityUsd)).toBeCloseTo(1, 3)
  expect(whole(dayStartUsd) / whole(equityUsd)).toBeCloseTo(1, 3)
})

test('orders alone are no transfer, and what comes in while they trade is told beside them', async () => {
  const { bench: at, engine, told, causes } = await world()
  await at.clock.advance(60_000)
  for (const id of ['one', 'two', 'three']) {
    await open(engine, id, '2000', '2')
    await at.clock.advance(50_000)
  }
  expect(told()).toEqual([])
  await open(engine, 'four', '2000', '2')
  await at.clock.advance(5_000)
  send(at, 3_000)
  await at.clock.advance(120_000)
  expect(told()).toEqual([30])
  await engine.operate(
    { type: 'close', id: 'all', market: ethSymbol, direction: 'long', shareBps: 10_000 },
    { by: 'ann', via: 'control' },
  )
  await at.clock.advance(120_000)
  expect(told()).toHaveLength(1)
  expect(causes()).toEqual([])
})

test('a liquidation whose side is opened anew at once is a loss, and no withdrawal', async () => {
  const {
    bench: at,
    engine,
    told,
  } = await world([
    [0, 1_800],
    [300, 1_800],
    [310, 1_700],
    [7_200, 1_700],
  ])
  await open(engine, 'first', '80000', '40')
  await at.clock.advance(200_000)
  const before = engine.status().equity
  expect(engine.status().positions).toHaveLength(1)
  for (let second = 0; engine.status().positions.length > 0 && second < 300; second += 2)
    await at.clock.advance(2_000)
  expect(engine.status().positions).toHaveLength(0)
  await open(engine, 'again', '5000', '5')
  for (let second = 0; second < 240; second += 5) await at.clock.advance(5_000)
  expect(engine.status().positions).toHaveLength(1)
  expect(told()).toEqual([])
  const after = engine.status().equity
  // All that was put into it is lost, and counts as that.
  expect(whole((before?.equityUsd ?? 0n) - (after?.equityUsd ?? 0n))).toBeGreaterThan(1_500)
  expect(after?.dayTransfersUsd ?? 0n).toBe(0n)
})

test('one host of two moves no figure that the other contradicts', () => {
  const votes = createTransferVotes()
  votes.tell('one', usd(-500), 0)
  expect(votes.agreed(['one', 'two'], 5_000)).toBeUndefined()
  votes.tell('two', usd(-100), 5_000)
  expect(votes.agreed(['one', 'two'], 5_000)).toBeUndefined()
  votes.tell('two', usd(-501), 10_000)
  expect(votes.agreed(['one', 'two'], 10_000)).toBe(usd(-500))
  expect(votes.agreed(['two'], 10_000)).toBe(usd(-501))
  // Long ago.
  expect(votes.agreed(['one', 'two'], 61_000)).toBeUndefined()
  votes.clear()
  expect(votes.agreed(['two'], 10_000)).toBeUndefined()
})

/** A step of a day: the equity changes by a share, or money comes in or leaves. */
const step = fc.oneof(
  fc.record({ kind: fc.constant('trade' as const), bps: fc.integer({ min: -300, max: 300 }) }),
  fc.record({ kind: fc.constant('transfer' as const), bps: fc.integer({ min: -9_000, max: 50_000 }) }),
)

test('whatever comes in and leaves, loss limits judge the shares that trading lost', () => {
  const nowMs = Date.UTC(2026, 10, 20, 12)
  const quiet: BreakerFacts = {
    nowMs,
    endings: [],
    releasedAtMs: {},
    oldestUnresolvedMs: 0,
    accountAgeMs: 0,
    openDiscrepancies: 0,
  }
  const settings = { maxDrawdownBps: 1_000, maxDailyLossEquityBps: 700, sets: {} }
  const begun = {
    equityUsd: usd(10_000),
    peakUsd: usd(10_000),
    dayStartMs: dayStartOf(nowMs),
    dayStartUsd: usd(10_000),
  }
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      let [mark, plain, tradedUsd] = [begun as Parameters<typeof movedMark>[0], begun, 0n]
      for (const { kind, bps } of steps) {
        const changeUsd = (mark.equityUsd * BigInt(bps)) / 10_000n
        if (kind === 'transfer') {
          mark = movedMark(mark, changeUsd, mark.equityUsd + changeUsd)
          continue
        }
        tradedUsd += changeUsd
        const equityUsd = mark.equityUsd + changeUsd
        mark = { ...mark, equityUsd, peakUsd: equityUsd > mark.peakUsd ? equityUsd : mark.peakUsd }
        // The same trading without transfers.
        const plainUsd = plain.equityUsd + (plain.equityUsd * BigInt(bps)) / 10_000n
        plain = {
          ...plain,
          equityUsd: plainUsd,
          peakUsd: plainUsd > plain.peakUsd ? plainUsd : plain.peakUsd,
        }
        // The day's result in USD is what trading brought, to the last unit.
        expect(mark.equityUsd - mark.dayStartUsd).toBe(tradedUsd)
        const causes = (equity: typeof mark) =>
          tripsOf({ ...quiet, equity }, settings).map(({ cause }) => cause)
        const fallBps = (from: Usd, to: Usd) => Number(((from - to) * 1_000_000n) / from)
        const near = [
          Math.abs(fallBps(plain.peakUsd, plain.equityUsd) - 100_000),
          Math.abs(fallBps(plain.dayStartUsd, plain.equityUsd) - 70_000),
        ]
        // Rounding alone may tell them apart, at the limit itself.
        if (Math.min(...near) > 1) expect(causes(mark)).toEqual(causes(plain))
      }
    }),
    { seed: 15, numRuns: 500 },
  )
})

test('a host that hides a part of the wallet moves no figure that the other host shows', async () => {
  let lies = false
  const hidden = await kindsBench({
    path: calm,
    lie: (url, text) => {
      if (!lies || !url.includes('/balances/wallet') || !url.includes('/api/0')) return undefined
      const rows = JSON.parse(text) as { balance: string }[]
      return JSON.stringify(rows.map((row) => ({ ...row, balance: (BigInt(row.balance) / 2n).toString() })))
    },
  })
  const { engine, told, causes } = await world(calm, hidden)
  await hidden.clock.advance(90_000)
  const before = engine.status().equity
  lies = true
  await hidden.clock.advance(25_000)
  expect([told(), causes()]).toEqual([[], []])
  await hidden.clock.advance(180_000)
  expect(told()).toEqual([])
  const { peakUsd = 0n, dayTransfersUsd } = engine.status().equity ?? {}
  expect([whole(peakUsd) / whole(before?.peakUsd), dayTransfersUsd]).toEqual([
    expect.closeTo(1, 3),
    undefined,
  ])
  // What one host shows to be lost counts, as ever: the larger loss of two.
  expect(causes()).toContain('drawdown')
})
