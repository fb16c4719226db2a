/** What is used of limits, as their own checks count it. */
import { afterEach, expect, test } from 'vitest'
import { type UsedFacts, usedOfLimit } from '../../src/account/watch/usedLimits.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Ending } from '../../src/domain/accountRecords/spend.ts'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import type { Address } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { engineOver } from '../support/engine.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined
let running: Engine | undefined
afterEach(async () => {
  running?.abort()
  await bench?.close()
})

const [eth, btc] = ['0xAA', '0xbb'] as readonly Address[] as [Address, Address]
const ending = (over: Partial<Ending> = {}): Ending => ({
  strategy: 'one',
  kind: 'increase',
  marketToken: eth,
  direction: 'long',
  closedAtMs: 1,
  cause: 'executed',
  executionFee: 10n,
  relayFee: 1_000_000n,
  ...over,
})
const failed = ending({ cause: 'CANCELLED x' })
const dayMs = 86_400_000
const facts: UsedFacts = {
  endings: [
    failed,
    ending(),
    failed,
    failed,
    ending({ strategy: 'two', marketToken: btc, kind: 'close' }),
    ending({ strategy: '@operator', kind: 'close' }),
    // What is open has paid and ended by no cause.
    { ...failed, isOpen: true },
  ],
  feeTokenDecimals: 6,
  exposureUsd: usd(700),
  sides: [
    { marketToken: eth, direction: 'long', sizeUsd: usd(300) },
    { marketToken: eth, direction: 'short', sizeUsd: usd(150) },
    { marketToken: btc, direction: 'long', sizeUsd: usd(250) },
  ],
  equity: {
    equityUsd: usd(900),
    peakUsd: usd(1_200),
    dayStartUsd: usd(1_000),
    dayStartMs: 5 * dayMs,
  } as never,
  dayStartMs: 5 * dayMs,
  realizedUsd: -usd(40),
  receivedUsd: 0n,
  dayResultUsd: (strategy) => (strategy === 'one' ? -usd(30) : usd(20)),
  marketDayResultUsd: () => -usd(7),
  accepted: (of) => (of === undefined ? 6 : 'strategy' in of ? 4 : 2),
  tokenOf: (symbol) => ({ ETH: '0xaa' as Address, BTC: btc })[symbol],
  ownSides: (strategy) =>
    strategy === 'two'
      ? [
          { marketToken: eth, direction: 'long', sizeUsd: usd(80) },
          { marketToken: eth, direction: 'short', sizeUsd: usd(60) },
          { marketToken: btc, direction: 'long', sizeUsd: usd(100) },
        ]
      : [],
}
const used = (scope: string, limit: string, over: Partial<UsedFacts> = {}) =>
  usedOfLimit({ ...facts, ...over }, scope, limit)

test('budgets of a day are counted of the account, of a market and of a strategy', () => {
  const of = (limit: string) => ['account', 'ETH', 'strategy two', 'SOL'].map((scope) => used(scope, limit))
  expect(of('executionFeesPerDay')).toEqual([70n, 60n, 10n, undefined])
  expect(of('relayFeesPerDayUsd')).toEqual([usd(7), usd(6), usd(1), undefined])
  // What an operator closes is in no budget of reductions.
  expect(of('reductionFeesPerDayUsd')).toEqual([usd(1), 0n, usd(1), undefined])
  // One that worked in between begins anew.
  expect(of('attemptsPerCause')).toEqual([2n, 2n, 0n, undefined])
  expect(of('maxOrdersPerHour')).toEqual([6n, 2n, 4n, undefined])
  expect(of('maxDailyLossUsd')).toEqual([usd(100), usd(7), 0n, undefined])
  expect(of('maxTotalExposureUsd')).toEqual([usd(700), undefined, usd(240), undefined])
  expect(of('maxSlippageBps')).toEqual([undefined, undefined, undefined, undefined])
})

test('the largest side and the largest market are counted, of a strategy by its own parts alone', () => {
  const of = (limit: string) =>
    ['account', 'ETH', 'strategy two', 'strategy none', 'SOL'].map((scope) => used(scope, limit))
  expect(of('maxPositionSizeUsd')).toEqual([usd(300), usd(300), usd(100), 0n, undefined])
  expect(of('maxMarketExposureUsd')).toEqual([usd(450), usd(450), usd(140), 0n, undefined])
})

test('a drawdown is of the peak, and the equity of a day before says nothing of the loss of this one', () => {
  expect(used('breakers', 'maxDrawdownBps')).toBe(2_500n)
  expect(used('breakers', 'rejectsInRow')).toBeUndefined()
  expect(used('account', 'maxDailyLossUsd', { dayStartMs: 6 * dayMs })).toBe(usd(40))
  // Funding that was put aside is in no list; what was realized has it in there.
  expect(used('account', 'maxDailyLossUsd', { receivedUsd: usd(35) })).toBe(usd(65))
  expect(used('account', 'maxDailyLossUsd', { receivedUsd: usd(70) })).toBe(usd(40))
})

test('the engine tells limits with what is used of them', async () => {
  bench = await kindsBench({})
  const { engine } = engineOver(bench, {
    account: {
      maxOrdersPerHour: 10,
      maxTotalExposureUsd: usd(1_000),
      maxPositionSizeUsd: usd(2_000),
      executionFeesPerDay: 10n ** 18n,
      maxSlippageBps: 100,
    },
    breakers: { sets: {}, maxDrawdownBps: 2_000 },
  })
  running = engine
  await engine.start()
  const opening = { market: ethSymbol, direction: 'long', collateral: 'short', size: '500', leverage: '2' }
  const command = { type: 'open', id: 'one', ...opening, isPreview: false } as OperatorCommand
  expect(await engine.operate(command, { by: 'ann', via: 'control' })).toMatchObject({ ok: true })
  await bench.clock.advance(60_000)
  const rows = new Map(engine.limits().map((row) => [row.limit, row]))
  expect(rows.get('maxOrdersPerHour')).toMatchObject({ value: '10', used: '1', usedShareBps: 1_000 })
  expect(rows.get('maxTotalExposureUsd')).toMatchObject({ used: '$500.00', usedShareBps: 5_000 })
  expect(rows.get('maxPositionSizeUsd')).toMatchObject({ used: '$500.00', usedShareBps: 2_500 })
  expect(Number(rows.get('executionFeesPerDay')?.used)).toBeGreaterThan(0)
  expect(rows.get('maxDrawdownBps')).toMatchObject({ value: '2000', used: expect.stringMatching(/^\d+$/) })
  expect(rows.get('maxSlippageBps')).not.toHaveProperty('used')
})
