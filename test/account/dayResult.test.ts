/** What a strategy's orders realized in a day: each order by itself, and over the chain's evidence and a restart. */
import { afterEach, expect, test } from 'vitest'
import { createDayResult } from '../../src/account/watch/dayResult.ts'
import type { DiscrepancyState } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { foldRecords } from '../../src/domain/machine/fold.ts'
import type { Evidence, IntentState, Settlement } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { hexKey } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import { collateralTokenOf, defineStrategy, z } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { engineOver } from '../support/engine.ts'
import { armedFacts, ethMarket, intentOf, startMs } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench } from '../support/kinds.ts'
import { loadedOf } from '../support/loaded.ts'

const final: Evidence = { level: 'chain-final', atMs: startMs, statement: 'seen' }
const keyOf = (n: number) => `0x${n.toString(16).padStart(64, '0')}` as const

interface End {
  readonly role: 'main' | 'stop-loss' | 'part'
  readonly settlement?: Settlement
  readonly level?: Evidence['level']
}

/** An intent that landed with these orders; those with a settlement executed. */
function landed(first: number, ends: readonly End[]): IntentState {
  const intent = intentOf({ intentId: `intent-${first}`, decisionKey: `key-${first}` })
  const base = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId, attempt: 1 } as const
  const orderKeys = ends.map((_, index) => keyOf(first + index))
  const records = [
    { ...base, kind: 'intent.accepted', intent },
    { ...base, kind: 'attempt.preparing', lane: 'order-chain', host: 'h' },
    { ...base, kind: 'attempt.armed', armed: armedFacts() },
    { ...base, kind: 'landed', orderKeys, roles: ends.map(({ role }) => role), evidence: final },
    ...ends.flatMap(({ settlement, level = 'chain-final' }, child) =>
      settlement === undefined
        ? []
        : [
            {
              ...base,
              kind: 'child.executed',
              child,
              orderKey: orderKeys[child],
              evidence: { ...final, level },
              settlement,
            },
          ],
    ),
  ]
  return foldRecords(records as JournalRecord[]) as IntentState
}

const at = startMs / 1_000 + 10
const opened = { feesUsd: usd(1), timestampSeconds: at }
const stopped = { pnlUsd: usd(-40), feesUsd: usd(1), timestampSeconds: at }

test('every order counts at its own end: fees of what opened, and the PnL after fees of what closed, exits too', () => {
  const results = createDayResult([], startMs)
  results.add([landed(1, [{ role: 'main', settlement: opened }, { role: 'stop-loss' }])], startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-1))
  const both = [
    { role: 'main', settlement: opened } as const,
    { role: 'stop-loss', settlement: stopped } as const,
  ]
  results.add([landed(1, both)], startMs)
  results.add([landed(1, both)], startMs)
  // The PnL is after the exit's own fees: they are not counted twice.
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-41))
  const parts = [1, 2, 3].map(() => ({ role: 'part', settlement: stopped }) as const)
  results.add([landed(10, parts)], startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-161))
})

test('all orders of the account count together, from an instant of the day on', () => {
  const results = createDayResult([], startMs)
  results.add([landed(1, [{ role: 'main', settlement: stopped }])], startMs)
  results.add([landed(9, [{ role: 'main', settlement: { ...stopped, timestampSeconds: at + 60 } }])], startMs)
  expect(results.ofAll(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(-80))
  // What an operator accepted as lost is not counted again.
  expect(results.ofAll((at + 1) * 1_000, startMs)).toBe(usd(-40))
  expect(results.ofAll(Number.NEGATIVE_INFINITY, startMs + 86_400_000)).toBe(0n)
})

test('funding that the chain shows to be put aside is of the day, on its market and for the account, and told by itself', () => {
  const results = createDayResult([], startMs)
  const received = { ...stopped, fundingReceivedUsd: usd(15) }
  const before = { ...received, timestampSeconds: at - 86_400 }
  const provisional = { role: 'main', settlement: received, level: 'chain-latest' } as const
  results.add([landed(1, [{ role: 'main', settlement: received }])], startMs)
  results.add([landed(2, [{ role: 'main', settlement: before }]), landed(3, [provisional])], startMs)
  // What only opens settles it too.
  const entry = { ...opened, fundingReceivedUsd: usd(4), timestampSeconds: at + 60 }
  results.add([landed(4, [{ role: 'main', settlement: entry }])], startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-25) + usd(3))
  expect(results.ofAll(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(-22))
  expect(results.receivedSince(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(19))
  expect(results.receivedSince(at * 1_000, startMs)).toBe(usd(4))
  expect(results.receivedSince(Number.NEGATIVE_INFINITY, startMs + 86_400_000)).toBe(0n)
})

test('what may be taken back counts when it stays, and what executed yesterday is not of today', () => {
  const results = createDayResult([], startMs)
  const provisional = { role: 'main', settlement: stopped, level: 'chain-latest' } as const
  results.add([landed(1, [provisional])], startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(0n)
  results.add([landed(1, [{ role: 'main', settlement: stopped }])], startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-40))
  const tomorrowMs = startMs + 86_400_000
  expect(results.byMarket(tomorrowMs).get(hexKey(ethMarket)) ?? 0n).toBe(0n)
  results.add([landed(1, [{ role: 'main', settlement: stopped }])], tomorrowMs)
  expect(results.byMarket(tomorrowMs).get(hexKey(ethMarket)) ?? 0n).toBe(0n)
})

const benches: KindsBench[] = []
const running: { abort(): void }[] = []
afterEach(async () => {
  for (const engine of running.splice(0)) engine.abort()
  for (const bench of benches.splice(0)) await bench.close()
})

/** Always asks for a long with a stop far above where the price goes; loses by that stop alone. */
const loser = defineStrategy({
  kind: 'loser',
  description: 'Opens a long with a stop-loss whenever it holds nothing.',
  params: z.strictObject({}),
  needs: (_params, symbols) => ({ symbols }),
  decide(view): readonly StrategyDecision[] {
    const market = view.market(ethSymbol)
    if (market === undefined || view.positions(ethSymbol).length > 0) return []
    return [
      {
        kind: 'increase',
        marketToken: market.market.marketToken,
        direction: 'long',
        sizeDeltaUsd: usd(500),
        leverageBps: 20_000,
        collateralToken: collateralTokenOf(market, 'short'),
        reason: 'the test wants it',
        tpsl: [{ type: 'stop-loss', triggerPrice: usd(1_900) }],
      },
    ]
  },
})

const strategy: LoadedStrategy = loadedOf(loser, 'loser', [ethSymbol], { cadenceMs: 2_000 })

test('a strategy that loses by its stop-loss is denied by its daily loss, by the chain’s evidence and over a restart', async () => {
  const bench = await kindsBench({
    isByChain: true,
    path: [
      [0, 2_000],
      [20, 2_000],
      [30, 1_850],
      [100_000, 1_850],
    ],
  })
  benches.push(bench)
  const losing = { strategies: [strategy], limits: { loser: { maxDailyLossUsd: usd(20) } } }
  const first = engineOver(bench, losing)
  running.push(first.engine)
  await first.engine.start()
  await bench.clock.advance(90_000)
  const [order] = bench.journal.recentIntents()
  const [main, exit] = order?.attempts[0]?.children ?? []
  expect([main?.phase, exit?.phase]).toEqual(['EXECUTED', 'EXECUTED'])
  expect(exit?.evidence?.level).toBe('chain-final')
  // Collateral of $250 loses 5 % of $500, and the fees of both executions.
  const lost = -(exit?.settlement?.pnlUsd ?? 0n) + (main?.settlement?.feesUsd ?? 0n)
  expect(lost).toBeGreaterThan(usd(20))
  expect(bench.journal.recentIntents()).toHaveLength(1)
  expect(first.codes()).toContain('MAX_DAILY_LOSS')
  first.engine.abort()

  const second = engineOver(bench, losing)
  running.push(second.engine)
  await second.engine.start()
  await bench.clock.advance(10_000)
  expect([...new Set(second.codes())]).toEqual(['MAX_DAILY_LOSS'])
  expect(bench.journal.recentIntents()).toHaveLength(1)
})

test('an order that rests has spent its fees of the day, before it ends', async () => {
  const bench = await kindsBench({ isByChain: true })
  benches.push(bench)
  const rester = defineStrategy({
    kind: 'rester',
    description: 'Rests one order after the other.',
    params: z.strictObject({}),
    needs: (_params, symbols) => ({ symbols }),
    decide(view): readonly StrategyDecision[] {
      const market = view.market(ethSymbol)
      const price = market?.oraclePrice?.value.medianPrice
      if (market === undefined || price === undefined) return []
      return [
        {
          kind: 'increase',
          marketToken: market.market.marketToken,
          direction: 'long',
          sizeDeltaUsd: usd(500),
          leverageBps: 20_000,
          collateralToken: collateralTokenOf(market, 'short'),
          reason: 'the test wants it',
          orderType: 'limit',
          triggerPrice: price / 2n,
        },
      ]
    },
  })
  const { engine, codes } = engineOver(bench, {
    strategies: [{ ...strategy, strategy: rester }],
    account: { executionFeesPerDay: 1n },
  })
  running.push(engine)
  await engine.start()
  await bench.clock.advance(30_000)
  expect(bench.journal.openIntents()).toHaveLength(1)
  expect(bench.journal.recentIntents()).toHaveLength(1)
  expect(codes().at(-1)).toBe('FEES_PER_DAY')
})

test('what the protocol liquidated is a loss of the day once, on its market and for the account', () => {
  const discrepancy = (
    discrepancyId: string,
    atSeconds: number,
    pnlUsd?: bigint,
    fundingReceivedUsd?: bigint,
  ): DiscrepancyState => ({
    raisedAtMs: startMs,
    discrepancy: {
      discrepancyId,
      kind: 'liquidation',
      marketToken: ethMarket,
      direction: 'long',
      collateralToken: ethMarket,
      statement: 'liquidated',
      sizeDeltaUsd: usd(-2_500),
      ...(pnlUsd === undefined ? {} : { pnlUsd }),
      ...(fundingReceivedUsd === undefined ? {} : { fundingReceivedUsd }),
      atSeconds,
    },
  })
  const found = [
    discrepancy('one', at, usd(-310), usd(10)),
    discrepancy('before', at - 86_400, usd(-70)),
    discrepancy('unsaid', at),
  ]
  const account = { discrepancies: new Map(found.map((each) => [each.discrepancy.discrepancyId, each])) }
  const results = createDayResult([], startMs)
  results.addDiscrepancies(account, startMs)
  results.addDiscrepancies(account, startMs)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-300))
  expect(results.ofAll(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(-300))
  expect(results.ofAll(at * 1_000, startMs)).toBe(0n)
  expect(results.receivedSince(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(10))
})

test('a clock that is a day ahead and set back loses nothing of what executed today', () => {
  const results = createDayResult([], startMs)
  results.add([landed(1, [{ role: 'main', settlement: stopped }])], startMs)
  const aheadMs = startMs + 86_400_000
  results.add([landed(2, [{ role: 'main', settlement: stopped }])], aheadMs)
  expect(results.byMarket(aheadMs).get(hexKey(ethMarket)) ?? 0n).toBe(0n)
  expect(results.byMarket(startMs).get(hexKey(ethMarket)) ?? 0n).toBe(usd(-80))
  expect(results.ofAll(Number.NEGATIVE_INFINITY, startMs)).toBe(usd(-80))
  expect(results.byMarket(aheadMs).get(hexKey(ethMarket)) ?? 0n).toBe(0n)
})
