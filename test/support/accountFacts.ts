/** Facts of an account that nothing holds back: each test changes the group that it is about. */
import type { AccountFacts } from '../../src/account/facts.ts'
import { type ConfiguredLimits, limitsInForce } from '../../src/account/limitsInForce.ts'
import { noTrackRecord } from '../../src/books/trackRecord.ts'
import type { Snapshot } from '../../src/domain/snapshot.ts'
import { exposureOf } from '../../src/risk/exposure/accountExposure.ts'
import { ACCOUNT, NOW_MS, signedAs, snapshot } from '../risk/world.ts'

/** Makes them on a snapshot, with limits as configured. */
export function accountFacts(
  world: Snapshot = snapshot(),
  limits: Partial<ConfiguredLimits> = {},
): AccountFacts {
  const unlimited: ConfiguredLimits = { account: {}, markets: {}, strategies: {}, breakers: { sets: {} } }
  return {
    nowMs: NOW_MS,
    snapshot: world,
    account: {
      address: ACCOUNT,
      chain: 'arbitrum',
      feeTokenDecimals: 6,
      lane: 'order-chain',
      closeLanes: ['order-chain'],
    },
    standstills: { isStopping: false, isNoHost: false, isJournalShort: false, halts: [], discrepancies: [] },
    limits: limitsInForce({ ...unlimited, ...limits }),
    orders: {
      open: [],
      unseen: [],
      pending: [],
      signedOrder: (orderKey) => {
        const row = world.orders.value.find((each) => each.orderKey === orderKey)
        return row && signedAs(row)
      },
    },
    usage: { acceptedLastHour: [], acceptedToday: [], endings: [], marketDaysUsd: new Map() },
    own: {
      parts: [],
      finalParts: [],
      track: noTrackRecord,
      dayResultUsd: 0n,
      recent: [],
      setBackMs: new Map(),
    },
    known: {
      prices: new Map(),
      symbols: new Map(),
      clockSkewMs: 0,
      exposureOf,
      isVouched: () => true,
    },
    settings: {
      expiryMs: 60_000,
      slippageBps: 100,
      maxPriceImpactBps: { adding: 0, reducing: 0 },
      maxReductionFee: 1_000_000n,
    },
  }
}
