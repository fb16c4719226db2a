/** The legacy liquidity fields of the tickers decide nothing (docs/reference/api-coverage.md A3). */
import { expect, test } from 'vitest'
import type { FetchAnswer } from '../../src/api/transport/route.ts'
import { isOrderDecision } from '../../src/domain/order/decision.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import { marketOf } from '../../src/domain/snapshot.ts'
import { callKind } from '../../src/engine/callKind.ts'
import { readSnapshot } from '../../src/engine/snapshotReader.ts'
import { usd } from '../../src/protocol/units.ts'
import { admit } from '../../src/risk/admit.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { exitsNow } from '../../src/strategy/fileExits.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import type { CheckedTurn } from '../../src/strategy/kindMemory.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import type { CandleNeed, Needs } from '../../src/strategy/strategy.ts'
import type { StrategyDecision } from '../../src/strategy/strategyDecision.ts'
import { position } from '../risk/world.ts'
import { account } from '../support/intents.ts'
import { loadShippedFiles } from '../support/shippedFiles.ts'
import { type Between, venueBench } from '../support/venue.ts'

/** Rewrites the legacy fields of every ticker on their way to the client; counts how many it changed. */
function rewriting(value: string, seen: { changed: number }): Between {
  return async (url, init, next) => {
    const answer = await next(url, init)
    if (!url.includes('/markets/tickers')) return answer
    const rows = JSON.parse(await answer.text()) as Record<string, unknown>[]
    for (const row of rows) {
      seen.changed += 1
      row.availableLiquidityLong = value
      row.availableLiquidityShort = value
    }
    const changed: FetchAnswer = {
      ...answer,
      status: answer.status,
      headers: answer.headers,
      text: async () => JSON.stringify(rows),
    }
    return changed
  }
}

/** Somebody else's long near its liquidation, for those that keep positions. */
const kept = position({ account, liquidationPrice: usd(1_650), markPrice: usd(1_750) })

/** All that the files need, as one. */
function allNeeds(files: readonly LoadedStrategy[]): Needs {
  const needs = files.map((each) => each.needs)
  const candles = new Map<string, CandleNeed>()
  for (const need of needs.flatMap((each) => each.candles ?? [])) {
    const key = `${need.symbol}:${need.period}`
    if ((candles.get(key)?.limit ?? 0) < need.limit) candles.set(key, need)
  }
  return {
    symbols: [...new Set(needs.flatMap(({ symbols }) => symbols))],
    candles: [...candles.values()],
    balances: true,
    allPositionMarkets: true,
  }
}

const files = await loadShippedFiles()

/** What every shipped file decides in one reading of the venue, and what becomes of it, by kind. */
async function decidedWith(between?: Between): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const { api, clock } = venueBench(between === undefined ? {} : { between })
  const read = await readSnapshot({ api, clock, account, onFeed: () => undefined }, allNeeds(files))
  const all = new Map<string, readonly unknown[]>()
  for (const loaded of files) {
    const { strategy, limits, name, exits } = loaded
    const positions = strategy.opensPositions ? read.positions : { ...read.positions, value: [kept] }
    const snapshot = { ...read, positions }
    const signal = {
      strategy: name,
      action: 'long',
      symbol: loaded.symbols[0] ?? '',
      number: 1,
      sentAtMs: snapshot.atMs,
      receivedAtMs: snapshot.atMs,
      expiresAtMs: snapshot.atMs + 60_000,
      isExpired: false,
    } as const
    const scene = { snapshot, openIntents: [], own: [], restingOrders: [], tasks: [] }
    const signals = strategy.takesSignals === true ? [signal] : []
    const past = strategy.memory === undefined ? undefined : { events: [], eventsMissed: 0, signals }
    const { returned } = await callKind(loaded, scene, past)
    const decisions = (
      past === undefined ? returned : (returned as CheckedTurn).decisions
    ) as readonly StrategyDecision[]
    const judged = decisions.map((decision) => {
      if (!isOrderDecision(decision)) return decision
      const view = marketOf(snapshot, decision.marketToken)
      return admit(decision, {
        snapshot,
        exposure: exposureOf(snapshot, []),
        limits,
        ...(exits === undefined ? {} : { exits: exitsNow(exits, view, snapshot.atMs) ?? 'unknown' }),
        usage: { acceptedLastHour: { strategy: 0, account: 0 } },
        trading: { state: 'active' },
        equity: { equityUsd: usd(10_000) },
        impact: {},
        venue: {},
        maker: { strategy: name },
        intent: {
          intentId: 'i',
          decisionKey: 'k',
          account,
          chain: 'arbitrum',
          lane: 'order-chain',
          expiresAtMs: snapshot.atMs + 60_000,
        },
        slippageBps: 100,
        nowMs: snapshot.atMs,
      })
    })
    all.set(`${strategy.kind} ${name}`, judged)
  }
  return all
}

const plain = await decidedWith()

test('every built-in kind has a shipped file', () => {
  const kinds = files.map(({ strategy }) => strategy.kind)
  expect([...new Set(kinds)].toSorted()).toEqual(Object.keys(builtInKinds).toSorted())
})

test.each(['0', '-5', '999999999999999999999999999999999999999999999999'])(
  'legacy liquidity of %s changes no decision, no size and no exit of any kind',
  async (value) => {
    const seen = { changed: 0 }
    const changed = await decidedWith(rewriting(value, seen))
    expect(seen.changed).toBeGreaterThan(0)
    expect(changed).toEqual(plain)
    const acts = [...plain].filter(([, judged]) => judged.length > 0).map(([key]) => key.split(' ')[0])
    // The others find nothing to do in this reading, with legacy fields or without.
    expect([...new Set(acts)].toSorted()).toEqual([
      'claimer',
      'grid',
      'guard',
      'ladder',
      'rebalancer',
      'rotation',
      'signal',
      'target-exposure',
      'trend',
    ])
    const intents = [...plain.values()].flat() as readonly {
      readonly kind: string
      readonly intent?: Intent
    }[]
    expect(intents.some(({ intent }) => (intent?.terms.tpsl ?? []).length > 0)).toBe(true)
  },
)
