/** An engine seen through its door, for tests of what stands in front of it. */

import { Secret } from '../../src/base/secret.ts'
import { bookRows } from '../../src/books/bookView.ts'
import { noFigures } from '../../src/books/figures.ts'
import { noPart, UNATTRIBUTED } from '../../src/books/sideParts.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import type { StoredRecord } from '../../src/domain/records.ts'
import { createHistoryFold } from '../../src/journal/tradeHistory.ts'
import { createLevelTable } from '../../src/monitor/log/levelTable.ts'
import { createLogRing } from '../../src/monitor/log/logRing.ts'
import type { EngineApi, EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedState, executedState, host, intent, position, symbol, symbols } from '../monitor/events.ts'
import { account, startMs } from '../support/intents.ts'

/** A running engine with one position, one open order and one ended one. */
export const status: EngineStatus = {
  version: '0.1.0',
  profile: 'paper',
  chain: 'arbitrum',
  account,
  state: 'running',
  notReady: [],
  startedAtMs: startMs - 192_000,
  nowMs: startMs + 5_000,
  tradingState: 'active',
  halts: [],
  transfers: [],
  strategies: [
    {
      name: 'eth-trend',
      kind: 'trend',
      opensPositions: true,
      symbols: [symbol],
      cadenceMs: 10_000,
      ticks: 12,
      decisions: 1,
      admitted: 1,
      denied: 0,
      failures: 0,
      tradingState: 'active',
      lastTickAtMs: startMs + 2_000,
      lastAskedAtMs: startMs + 2_000,
    },
  ],
  unmanaged: [],
  positions: [position],
  symbols,
  openIntents: [{ state: armedState, label: 'pending', observedStatus: 'relay_accepted' }],
  restingOrders: [],
  held: [],
  tasks: [],
  openOrders: 1,
  unresolved: 1,
  oldestUnresolvedSeconds: 5,
  exposureUsd: usd(1_000),
  discrepancies: [],
  contradictions: [],
  hidden: [],
  exposureMaybeTwiceUsd: 0n,
  unlistedFills: [],
  closedFills: [],
  unwinds: [],
  windDowns: [],
  tasksRunning: {
    kill: 0,
    unwind: 0,
    'wind-down': 0,
    twap: 0,
    accumulate: 0,
    ladder: 0,
    chase: 0,
    bracket: 0,
    rebalance: 0,
  },
  feedAgesMs: { tickers: 1_200, oracle: 300 },
  feedsOverdueMs: { tickers: 0, oracle: 0 },
  apiHosts: [host],
  oracleHosts: ['https://arbitrum-api.gmxinfra.io'],
  journal: { path: '/var/perpd/journal.db', records: 12, intents: 2 },
  evidence: 'the APIs alone',
}

const book = {
  marketToken: position.marketToken,
  direction: position.direction,
  collateralToken: position.collateralToken,
  ...noPart,
  figures: noFigures,
}

const records: readonly StoredRecord[] = [
  {
    seq: 1,
    record: { v: RECORD_VERSION, kind: 'intent.accepted', atMs: startMs, intentId: intent.intentId, intent },
  },
]

/** Two books of the position. */
const books = bookRows(
  [
    { ...book, strategy: 'eth-trend', sizeUsd: usd(300), sizeInTokens: 10n ** 17n, costUsd: usd(300) },
    { ...book, strategy: UNATTRIBUTED, sizeUsd: usd(200), sizeInTokens: 6n * 10n ** 16n, costUsd: usd(200) },
  ],
  [position],
)

export const engine: EngineApi = {
  status: () => status,
  books: () => books,
  clockSkewMs: () => undefined,
  candles: (market, period) =>
    Promise.resolve(
      market === symbol ? { symbol, period, candles: [], indicators: [], readAtMs: startMs } : undefined,
    ),
  limits: () => [{ scope: 'account', limit: 'maxExposureUsd', value: '5000' }],
  fileOf: () => undefined,
  tasks: () => Promise.resolve([]),
  operate: () => Promise.resolve({ ok: true, statement: 'done' }),
  signal: ({ terms: { market = symbol, ...terms }, ttlMs }) => {
    const expiresAtMs = terms.sentAtMs + ttlMs
    const signal = { ...terms, symbol: market, expiresAtMs, number: 1, receivedAtMs: startMs }
    return Promise.resolve({ ok: true, signal })
  },
  markets: () =>
    Promise.resolve([
      {
        symbol,
        marketToken: position.marketToken,
        state: 'shipped',
        status: 'open',
        markPrice: usd(3_000),
        interestLongUsd: usd(2_000_000),
        interestShortUsd: usd(1_000_000),
        change24hBps: -152n,
        fundingLong: null,
        fundingShort: null,
        borrowingLong: null,
        borrowingShort: null,
        capacityLongUsd: usd(1_000_000),
        capacityShortUsd: null,
        jitLong: { usd: usd(250_000), dataStatus: 'available' },
        jitShort: null,
        feeBalancingBps100: 400,
        feeUnbalancingBps100: 600,
        longToken: null,
        shortToken: position.collateralToken,
        maxLeverageBps: 1_000_000,
        readAtMs: startMs,
      },
    ]),
  balance: () =>
    Promise.resolve({
      account,
      tokens: [],
      walletUsd: 0n,
      gasCoinUsd: 0n,
      ordersUsd: 0n,
      payingOrders: 0,
      executionFeesUsd: 0n,
      sumUsd: 0n,
      positionsUsd: usd(250),
      positions: 1,
      readAtMs: startMs,
      missing: 0,
    }),
  intents: async (query = {}) =>
    [armedState, executedState]
      .filter((state) => !query.openOnly || state.closing === undefined)
      .filter((state) => query.strategy === undefined || state.intent.strategy === query.strategy)
      .slice(0, query.limit)
      .map((state) => ({ state, label: labelOf(state) })),
  story: async (intentId) =>
    intentId === intent.intentId
      ? { intent: { state: executedState, label: labelOf(executedState) }, records }
      : undefined,
}

export const readToken = 'r'.repeat(43)
export const operateToken = 'o'.repeat(43)
export const asReader = { authorization: `Bearer ${readToken}` }
export const asOperator = { authorization: `Bearer ${operateToken}` }

/** Access as the paper profile has it, with a rate that no test reaches by chance. */
export const access = {
  nextStart: () => ({ settings: [{ key: 'log.level', value: 'info', origin: 'default' }], warnings: [] }),
  results: {
    history: async () => createHistoryFold().read(),
    facts: { markets: new Map(), tokens: new Map() } as never,
    nowMs: () => startMs,
  },
  tokens: { read: new Secret(readToken), operate: new Secret(operateToken) },
  recent: {
    log: createLogRing('run-1'),
    levels: createLevelTable({ level: 'info', levels: [{ component: 'host', level: 'debug' }] }),
    decisions: { all: () => [] },
    hosts: { all: () => [] },
    incidents: { open: () => [], blocking: () => [] },
  },
  isMetricsOpen: true,
  isHealthOpen: true,
  requestsPerSecond: 1_000,
}
