/** Answers of the daemon for tests of the page: whole ones, with what a test says otherwise. */
import type {
  LogLine,
  Market,
  Order,
  PositionRow,
  RestingOrder,
  Status,
} from '../../src/control/console/page/pageWire.ts'

const dollars = (whole: number): string => `${whole}${'0'.repeat(30)}`

/** A dollar figure of the wire. `whole`: dollars. */
export const usd = dollars

/** The market of the rows below. */
export const ETH = '0x70d95587d40A2caf56bd97485aB3Eec10Bee6336'
const USDC = '0xaf88d065e77c8cC2239327C5EDb3A432268e5831'

/** A long of $500 at a mark of $2,000, which would be liquidated at $1,500. */
export function positionRow(over: Partial<PositionRow> = {}): PositionRow {
  return {
    positionKey: 'key',
    contractKey: '0x01',
    account: '0x0000000000000000000000000000000000000001',
    marketToken: ETH,
    collateralToken: USDC,
    direction: 'long',
    sizeInUsd: dollars(500),
    sizeInTokens: '250000000000000000',
    collateralAmount: '100000000',
    collateralUsd: dollars(100),
    remainingCollateralUsd: dollars(100),
    markPrice: dollars(2_000),
    entryPrice: dollars(1_990),
    liquidationPrice: dollars(1_500),
    leverageBps: '50000',
    pnlUsd: dollars(3),
    pnlAfterFeesUsd: dollars(2),
    pnlAfterAllFeesUsd: dollars(1),
    positionValueInUsd: dollars(101),
    netValueUsd: dollars(102),
    increasedAtSeconds: 1,
    decreasedAtSeconds: 0,
    ...over,
  }
}

/** A stop of $500 by hand at $1,900, with a mark of $2,000. */
export function resting(over: Partial<RestingOrder> = {}): RestingOrder {
  return {
    ...{ orderKey: '0x0a', intentId: 'a', type: 'stop', market: 'ETH/USD [WETH-USDC]', direction: 'long' },
    ...{ marketToken: ETH, collateralToken: USDC, triggerPrice: dollars(1_900), sizeUsd: dollars(500) },
    ...{ isFrozen: false, ownerKind: 'hand', owner: '@operator', sinceMs: 0, markPrice: dollars(2_000) },
    distanceBps100: -50_000,
    ...over,
  }
}

/** A running daemon that holds nothing. */
export function status(over: Partial<Status> = {}): Status {
  return {
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
    account: '0x0000000000000000000000000000000000000001',
    state: 'running',
    notReady: [],
    transfers: [],
    startedAtMs: 0,
    nowMs: 10_000_000,
    tradingState: 'active',
    halts: [],
    strategies: [],
    positions: [],
    unmanaged: [],
    symbols: { [ETH.toLowerCase()]: 'ETH/USD [WETH-USDC]' },
    openIntents: [],
    restingOrders: [],
    held: [],
    tasks: [],
    openOrders: 0,
    discrepancies: [],
    contradictions: [],
    incidents: [],
    hidden: [],
    unwinds: [],
    windDowns: [],
    tasksRunning: {
      kill: 0,
      twap: 0,
      unwind: 0,
      'wind-down': 0,
      accumulate: 0,
      ladder: 0,
      chase: 0,
      bracket: 0,
      rebalance: 0,
    },
    unresolved: 0,
    oldestUnresolvedSeconds: 0,
    exposureUsd: '0',
    exposureMaybeTwiceUsd: '0',
    unlistedFills: [],
    closedFills: [],
    feedAgesMs: {},
    feedsOverdueMs: {},
    apiHosts: [],
    oracleHosts: [],
    journal: { path: 'journal.db', records: 0, intents: 0 },
    evidence: 'the chain',
    ...over,
  }
}

/** An order that waits to be filled. */
export function order(intentId: string, over: Partial<Order> = {}): Order {
  return {
    intentId,
    status: 'pending',
    strategy: 'eth-trend',
    market: 'ETH/USD [WETH-USDC]',
    direction: 'long',
    kind: 'increase',
    orderType: 'market',
    sizeDeltaUsd: dollars(100),
    triggerPrice: null,
    decisionReason: 'the trend is up',
    digest: null,
    requestId: null,
    taskId: null,
    host: null,
    acceptedAt: '1970-01-01T02:00:00.000Z',
    armedAt: null,
    sentAt: null,
    deadlineAt: null,
    closedAt: null,
    outcome: null,
    reason: null,
    observedStatus: null,
    warnings: [],
    unwantedBy: null,
    presumedDeadForSeconds: null,
    standing: 'pending',
    legs: [],
    ...over,
  }
}

/** A line of the log. */
export function line(seq: number, over: Partial<LogLine> = {}): LogLine {
  return {
    seq,
    atMs: seq * 1_000,
    level: 'info',
    word: 'order',
    text: `line ${seq}`,
    event: 'strategy.said',
    ...over,
  }
}

/** A market that trades. */
export function market(symbol: string, over: Partial<Market> = {}): Market {
  return {
    symbol,
    marketToken: '0x0000000000000000000000000000000000000009',
    state: 'shipped',
    status: 'open',
    markPrice: dollars(1),
    fundingLong: '0',
    fundingShort: '0',
    borrowingLong: '0',
    borrowingShort: '0',
    capacityLongUsd: dollars(10),
    capacityShortUsd: dollars(10),
    jitLong: null,
    jitShort: null,
    feeBalancingBps100: 400,
    feeUnbalancingBps100: 600,
    longToken: null,
    shortToken: null,
    maxLeverageBps: 1_000_000,
    readAtMs: 0,
    ...over,
  } as Market
}
