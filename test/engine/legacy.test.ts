/** The legacy liquidity fields of the tickers decide nothing (docs/api-coverage.md A3). */
import { expect, test } from 'vitest'
import type { FetchAnswer } from '../../src/api/transport/route.ts'
import { isOrderDecision } from '../../src/domain/order/decision.ts'
import { readSnapshot } from '../../src/engine/market/snapshotReader.ts'
import { admit } from '../../src/risk/admit.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { loadStrategies } from '../../src/strategy/files/load.ts'
import { viewOf } from '../../src/strategy/strategy.ts'
import { account } from '../support/intents.ts'
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

async function decisionsWith(between?: Between) {
  const { api, clock } = venueBench(between === undefined ? {} : { between })
  const { strategies } = await loadStrategies([new URL('../../strategies', import.meta.url).pathname])
  const all = []
  for (const { strategy, params, instance, needs, limits, name } of strategies) {
    const snapshot = await readSnapshot({ api, clock, account, onFeed: () => undefined }, needs)
    const decisions = strategy.decide(viewOf({ snapshot, params, instance, openIntents: [] }))
    for (const decision of 'decisions' in decisions ? decisions.decisions : decisions) {
      if (!isOrderDecision(decision)) throw new Error('these kinds make orders alone')
      all.push(
        admit(decision, {
          snapshot,
          exposure: exposureOf(snapshot, []),
          limits,
          tradingState: 'active',
          intentId: 'i',
          decisionKey: 'k',
          strategy: name,
          account,
          chain: 'arbitrum',
          lane: 'order-chain',
          slippageBps: 100,
          nowMs: snapshot.atMs,
          expiresAtMs: snapshot.atMs + 60_000,
          acceptedLastHour: { strategy: 0, account: 0 },
        }),
      )
    }
  }
  return all
}

test.each(['0', '-5', '999999999999999999999999999999999999999999999999'])(
  'legacy liquidity of %s changes no decision and no size',
  async (value) => {
    const seen = { changed: 0 }
    const [plain, changed] = [await decisionsWith(), await decisionsWith(rewriting(value, seen))]
    expect(seen.changed).toBeGreaterThan(0)
    expect(plain.some(({ kind }) => kind === 'intent')).toBe(true)
    expect(changed).toEqual(plain)
  },
)
