/** One event of every kind, whole and plausible, and the states they speak of. */

import type { Discrepancy } from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Event } from '../../src/domain/event.ts'
import type { TradeSignal } from '../../src/domain/memory/tradeSignal.ts'
import type { Intent, IntentState } from '../../src/domain/order/intent.ts'
import type { OrderLeg } from '../../src/domain/order/orderLegs.ts'
import type { SubaccountReport } from '../../src/domain/subaccountReport.ts'
import type { Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { account, armedFacts, ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'

export const symbol = 'ETH/USD [WETH-USDC]'
export const host = 'https://arbitrum.gmxapi.io/v1'

export const intent: Intent = intentOf()

export const armedState: IntentState = {
  intent,
  attempts: [
    {
      n: 1,
      lane: 'order-chain',
      host,
      phase: 'ACKED',
      armed: armedFacts({ host }),
      armedAtMs: startMs + 20,
      send: { result: 'accepted', taskId: 'task-1' },
      sentAtMs: startMs + 30,
      children: [],
    },
  ],
  updatedAtMs: startMs + 30,
}

export const executedState: IntentState = {
  ...armedState,
  closing: {
    outcome: 'EXECUTED',
    code: 'EXECUTED',
    reason: 'The venue shows the order as executed.',
    evidence: { level: 'api', atMs: startMs + 1_600, statement: 'The pinned host and a trade agree.' },
    settlement: { executionPrice: usd('1739.51'), feesUsd: usd('0.3'), pnlUsd: usd(0) },
  },
  closedAtMs: startMs + 1_600,
  updatedAtMs: startMs + 1_600,
}

const tradeSignal: TradeSignal = {
  strategy: 'tv',
  number: 3,
  action: 'long',
  symbol,
  sentAtMs: startMs,
  receivedAtMs: startMs + 40,
  expiresAtMs: startMs + 300_000,
}

export const position: Position = {
  positionKey: `${account}:${ethMarket}:${usdc}:true`,
  contractKey: `0x${'0b'.repeat(32)}`,
  account,
  marketToken: ethMarket,
  collateralToken: usdc,
  direction: 'long',
  sizeInUsd: usd(500),
  sizeInTokens: 287_437_000_000_000_000n,
  collateralAmount: 250_000_000n,
  collateralUsd: usd(250),
  remainingCollateralUsd: usd('249.9'),
  markPrice: usd(1744),
  entryPrice: usd('1739.51'),
  liquidationPrice: usd(900),
  pnlUsd: usd('1.29'),
  pnlAfterFeesUsd: usd('0.99'),
  positionValueInUsd: usd('250.9'),
  netValueUsd: usd('250.9'),
  leverageBps: 19_900n,
  increasedAtSeconds: startMs / 1_000,
  decreasedAtSeconds: 0,
}

const filledEntry: OrderLeg = {
  index: 0,
  orderKey: `0x${'0c'.repeat(32)}`,
  role: 'main',
  phase: 'EXECUTED',
  isProvisional: false,
  sizeDeltaUsd: usd(500),
  executionPrice: usd('1739.51'),
  feesUsd: usd('0.3'),
}

const restingStop: OrderLeg = {
  index: 1,
  orderKey: `0x${'0d'.repeat(32)}`,
  role: 'stop-loss',
  phase: 'OPEN',
  isProvisional: false,
  triggerPrice: usd(1_600),
  sizeDeltaUsd: usd(500),
}

const liquidation: Discrepancy = {
  discrepancyId: 'trade-77',
  kind: 'liquidation',
  statement: 'The venue liquidated the long ETH/USD [WETH-USDC].',
  marketToken: ethMarket,
  direction: 'long',
  collateralToken: usdc,
  sizeDeltaUsd: usd(-500),
  pnlUsd: usd(-240),
}

const approval: SubaccountReport = {
  ...{ address: account, isActive: true, isApprovalWaiting: false },
  ...{ remainingActions: 12, neededActions: 4, expiresAtSeconds: 1_800_003_600 },
}

export const symbols = { [ethMarket.toLowerCase()]: symbol }

const base = { strategy: 'eth-trend', decisionKey: intent.decisionKey, decision: intent.decision, symbol }

/** Every kind of event once, in the order of a run. */
export const everyEvent: readonly Event[] = [
  {
    type: 'daemon.started',
    version: '0.1.0',
    profile: 'paper',
    chain: 'arbitrum',
    account,
    strategies: ['eth-trend', 'guard'],
    journalPath: '/var/perpd/journal.db',
    statusUrl: 'http://127.0.0.1:9464',
    apiHosts: [host],
    oracleHosts: ['https://arbitrum-api.gmxinfra.io'],
    notes: ['Play money.'],
  },
  {
    type: 'daemon.resumed',
    records: 12,
    intents: 2,
    openIntents: 1,
    unresolved: 1,
    tasks: ['b1 (bracket)'],
    tookMs: 12.4,
  },
  { type: 'daemon.clockSetBack', backMs: 86_400_000, against: 'itself', hostsAheadMs: 200 },
  { type: 'daemon.recovering', reason: 'Open orders are looked at first.' },
  { type: 'daemon.ready' },
  { type: 'feed.read', feed: 'tickers', ageMs: 120 },
  { type: 'capacity.read', symbol, direction: 'long', roomUsd: usd(1_234_567) },
  { type: 'tick.done', strategy: 'eth-trend', durationMs: 12, decisions: 1 },
  { type: 'tick.skipped', strategy: 'eth-trend', reason: 'its last turn still runs' },
  {
    type: 'tick.failed',
    strategy: 'eth-trend',
    reason: 'No host answered.',
    failures: 1,
    cause: 'unanswered',
  },
  { type: 'tick.failed', strategy: 'mine', reason: 'mine.ts: it hangs', failures: 2, ended: 'timeout' },
  {
    type: 'decision.invalid',
    strategy: 'mine',
    denial: { code: 'DECISION_INVALID', reason: "the decision's sizeDeltaUsd is NaN; expected a bigint" },
    cause: 'increase sizeDeltaUsd',
    field: 'sizeDeltaUsd',
    place: 'strategies/mine.ts:14',
  },
  { type: 'strategy.slow', strategy: 'mine', spentMs: 81.4, limitMs: 50 },
  { type: 'strategy.paused', strategy: 'mine', failures: 5, forMs: 60_000, reason: 'mine.ts:3: no luck' },
  { type: 'strategy.said', strategy: 'mine', text: 'hello' },
  { type: 'signal.accepted', signal: tradeSignal },
  { type: 'signal.refused', code: 'SIGNAL_STALE', reason: 'it was sent at another time', strategy: 'tv' },
  { type: 'signal.refused', code: 'SIGNAL_UNAUTHORIZED', reason: 'it has no proof of its sender that holds' },
  { type: 'signal.taken', signal: tradeSignal, isExpired: false },
  { type: 'signal.taken', signal: { ...tradeSignal, name: 'late' }, isExpired: true },
  { type: 'signal.unserved', strategy: 'tv', signal: 7, reason: 'its own long is held already' },
  { type: 'notice.ended', sink: 'phone', kind: 'order-unknown', result: 'sent' },
  { type: 'notice.ended', sink: 'phone', kind: 'test', result: 'failed', reason: 'no answer in 10 s' },
  { type: 'notice.dropped', sink: 'phone', kind: 'order-executed' },
  { type: 'decision.made', ...base },
  {
    type: 'decision.made',
    ...base,
    decision: { kind: 'stop-task', label: 'dip-1800', reason: 'the signal is gone' },
  },
  {
    type: 'decision.denied',
    ...base,
    denial: {
      code: 'EXCEEDS_AVAILABLE_LIQUIDITY',
      reason: 'The venue has too little room.',
      wanted: '$500.00',
      allowed: '$4.00',
    },
  },
  { type: 'decision.admitted', intent },
  {
    type: 'journal.committed',
    record: { v: RECORD_VERSION, kind: 'intent.accepted', atMs: startMs, intentId: intent.intentId, intent },
    state: { intent, attempts: [], updatedAtMs: startMs },
    commitMs: 0.21,
  },
  {
    type: 'order.warned',
    intent,
    host,
    requestId: 'req-1',
    warnings: [{ code: 'HIGH_PRICE_IMPACT', message: 'Price impact is 1.2 %.', action: 'sign' }],
    action: 'sign',
  },
  {
    type: 'order.payload_rejected',
    intent,
    host,
    requestId: 'req-1',
    differences: [{ field: 'message.receiver', expected: account, found: '0xBad0' }],
  },
  { type: 'order.timing', intentId: intent.intentId, step: 'submit', durationMs: 12 },
  { type: 'order.observed', intent, attempt: 1, status: 'relay_accepted', host, traceId: 'trace-1' },
  {
    type: 'order.moved',
    intent,
    from: 'planned',
    to: 'pending',
    reason: 'Signed and sent.',
    state: armedState,
  },
  {
    type: 'order.moved',
    intent,
    from: 'pending',
    to: 'unknown',
    reason: 'The answer to the submit did not come.',
    state: armedState,
  },
  {
    type: 'order.moved',
    intent,
    from: 'unknown',
    to: 'executed',
    reason: 'The venue shows the order as executed.',
    state: executedState,
  },
  {
    type: 'order.untidy',
    strategy: 'order-janitor',
    orderKey: `0x${'0d'.repeat(32)}`,
    symbol: 'ETH/USD [WETH-USDC]',
    direction: 'long',
    cause: 'unreachable',
    reason: 'An entry waits more than 3000 bps from the price.',
    isOver: false,
  },
  {
    type: 'order.untidy',
    strategy: 'order-janitor',
    orderKey: `0x${'0d'.repeat(32)}`,
    symbol: 'ETH/USD [WETH-USDC]',
    direction: 'long',
    cause: 'unreachable',
    reason: 'The order no longer rests.',
    isOver: true,
  },
  {
    type: 'daemon.portMoved',
    wanted: '127.0.0.1:9464',
    url: 'http://127.0.0.1:40123',
    reason: 'EADDRINUSE',
  },
  { type: 'journal.replication', isSynchronous: false, standbys: 1 },
  { type: 'journal.replication', isSynchronous: true, standbys: 1 },
  { type: 'log.output', state: 'stuck', lines: 1 },
  { type: 'log.output', state: 'taken', lines: 240 },
  { type: 'log.output', state: 'lost', lines: 0 },
  { type: 'claim.read', worthUsd: usd('41.5') },
  { type: 'claim.prepared', file: 'var/live/claim.json', worthUsd: usd('41.5'), calls: 1, pairs: 3 },
  { type: 'claim.over', file: 'var/live/claim.json' },
  {
    type: 'subaccount.renewed',
    report: {
      ...{ address: account, isActive: true, isApprovalWaiting: true },
      ...{ remainingActions: 1_000, neededActions: 4, expiresAtSeconds: 1_800_604_800 },
    },
  },
  { type: 'unwind.requested', intent, by: 'Ada', reason: 'The market turned.' },
  { type: 'unwind.waits', intentId: intent.intentId, reason: 'close: DATA_TOO_OLD, the prices are old' },
  {
    type: 'unwind.ended',
    intentId: intent.intentId,
    by: 'Ada',
    outcome: 'flat',
    statement: 'the long of $500.00 that it opened is closed',
  },
  {
    type: 'strategy.changed',
    strategy: 'eth-trend',
    file: '/srv/perpd/strategies/eth-trend.yaml',
    change: 'changed',
    fields: [{ field: 'size.usd', from: '250', to: '300' }],
    onRemove: 'keep',
    by: 'Ada',
  },
  { type: 'strategy.switched', strategy: 'eth-trend', to: 'paused', reason: 'The market turned.', by: 'Ada' },
  { type: 'windDown.waits', strategy: 'eth-trend', reason: 'close: DATA_TOO_OLD, the prices are old' },
  { type: 'windDown.ended', strategy: 'eth-trend', statement: 'it has no resting order and no position' },
  {
    type: 'task.started',
    taskId: 'twap:a1b2',
    by: 'Ada',
    asked: 'open ETH long by 500 USD in 10 parts over 60 min',
  },
  { type: 'task.waits', taskId: 'twap:a1b2', reason: 'trading is halted: Ada says so' },
  {
    type: 'task.ended',
    taskId: 'twap:a1b2',
    by: 'Ada',
    outcome: 'done',
    statement: '$500.00 of $500.00 by 10 orders: all of it is filled',
  },
  { type: 'account.positions', positions: [position], symbols },
  {
    type: 'host.attempt',
    route: '/markets/tickers',
    method: 'GET',
    host,
    attempt: 1,
    status: 503,
    durationMs: 31,
    traceId: 'trace-2',
    outcome: 'not-now',
  },
  { type: 'host.cooldown', host, cooldownMs: 30_000, reason: 'Five failures in a row.' },
  { type: 'host.prices', host, isStale: true, ageMs: 600_000 },
  {
    type: 'rows.missing',
    route: '/positions',
    host,
    rows: [
      {
        problem: '[1].sizeInUsd is not an unsigned whole number of at most 256 bits',
        marketToken: ethMarket,
      },
    ],
  },
  { type: 'rows.foreign', route: '/trades', host, rows: 500 },
  { type: 'account.transferred', amountUsd: usd('250.5'), afterUsd: usd(1_000) },
  { type: 'account.transferred', amountUsd: usd(-40), afterUsd: usd(960) },
  { type: 'account.discrepanciesDeferred', held: 8_000, isJournalShort: false },
  { type: 'account.discrepanciesDeferred', held: 1, isJournalShort: true },
  {
    type: 'account.booksDiffer',
    marketToken: ethMarket,
    direction: 'long',
    booksUsd: usd(400),
    expectedUsd: usd(500),
  },
  {
    type: 'account.booksDiffer',
    marketToken: ethMarket,
    direction: 'long',
    booksUsd: usd(400),
    expectedUsd: usd(400),
    booksTokens: 199_999n,
    expectedTokens: 200_000n,
  },
  { type: 'chat.restored', sink: 'phone', what: 'answers' },
  { type: 'account.booksAgree', marketToken: ethMarket, direction: 'long' },
  { type: 'subaccount.unread', reason: 'approval.json cannot be read: it is no JSON.' },
  { type: 'subaccount.fileRight' },
  { type: 'price.fallback', symbol, source: 'ticker', ageMs: 400 },
  {
    type: 'price.contested',
    symbol,
    contested: {
      lowest: usd(2_000),
      highest: usd(2_001),
      words: [
        { kind: 'oracle', host: 'https://oracle.one', price: usd(1_000), isTaken: false },
        { kind: 'mark', host: 'https://api.one/v1', price: usd(2_000), isTaken: true },
      ],
    },
  },
  {
    type: 'trading.state',
    scope: 'strategy:eth-trend',
    state: 'reducing',
    cause: 'daily-loss',
    reason: 'Its loss limit was reached.',
  },
  {
    type: 'market.contradicted',
    contradictions: [
      { host, address: ethMarket, statement: 'says that the longToken of ETH/USD is 0x0, and not 0x82' },
    ],
    symbols: [symbol],
  },
  {
    type: 'market.settled',
    contradictions: [
      { host, address: ethMarket, statement: 'says that the longToken of ETH/USD is 0x0, and not 0x82' },
    ],
    symbols: [symbol],
    by: 'Ada',
  },
  { type: 'market.proven', symbol, marketToken: ethMarket },
  {
    type: 'strategy.unfit',
    strategy: 'mine',
    reason: 'its memory has another version',
    facts: { version: 2 },
  },
  { type: 'strategy.forgotten', strategy: 'mine', by: 'Ada' },
  { type: 'chat.update', sink: 'phone', result: 'stranger' },
  { type: 'chat.failed', sink: 'phone', what: 'commands', reason: 'no answer in 10 s' },
  { type: 'order.filled', intent, leg: filledEntry, isTakenBack: false },
  { type: 'order.exits', intent, exits: [restingStop] },
  {
    type: 'order.not_signed',
    intent,
    host,
    requestId: 'req-1',
    code: 'FEE_ABOVE_LIMIT',
    differences: [{ field: 'executionFee', expected: 'at most 5', found: '6' }],
  },
  {
    type: 'evidence.chosen',
    source: 'chain',
    endpoints: 2,
    text: 'safe blocks of the chain, through two RPC endpoints',
    isWeak: false,
  },
  { type: 'chain.read', endpoint: 'rpc.example', durationMs: 12, outcome: 'ok', latest: 100n, final: 90n },
  { type: 'chain.skew', skewSeconds: 40, isTooLarge: true },
  { type: 'chain.time', endpoint: 'rpc.example', aheadSeconds: 900, isSetAside: true, healthy: 1 },
  {
    type: 'account.unmanaged',
    symbol,
    direction: 'long',
    sizeUsd: usd(500),
    madeBy: ['eth-trend'],
    seenBy: ['guard'],
  },
  { type: 'account.discrepancy', discrepancy: liquidation, isPausing: true },
  { type: 'account.discrepancySettled', discrepancy: liquidation, as: 'adopted' },
  { type: 'account.equityJumped', readingUsd: usd(90_000), equityUsd: usd(1_000) },
  { type: 'subaccount.read', report: approval },
  { type: 'subaccount.low', report: approval, secondsLeft: 3_600 },
  {
    type: 'subaccount.renewal',
    file: 'var/live/approval.json',
    actions: 1_000,
    usedActions: 40,
    by: 'the chain',
    expiresAtSeconds: 1_800_604_800,
  },
  { type: 'kill.step', step: 'closing', positions: 2 },
  { type: 'kill.step', step: 'stuck', reason: 'the price of ETH is too old' },
  { type: 'limits.changed', statement: 'maxOrderUsd from 500 to 250', by: 'Ada' },
  { type: 'limits.started', statement: 'maxOrderUsd from 250 to 500', isLooser: true },
  { type: 'market.trusted', symbol, marketToken: ethMarket, by: 'Ada' },
  { type: 'daemon.heartbeat', openIntents: 1, unresolved: 0, positions: 1, exposureUsd: usd(500) },
  { type: 'daemon.draining', signal: 'SIGTERM', openIntents: 1, underWay: 1, drainMs: 10_000 },
  {
    type: 'daemon.stopped',
    openIntents: 0,
    positions: ['long ETH/USD [WETH-USDC] of $500.00'],
    uptimeMs: 3_725_000,
  },
]
