/**
 * Evidence from the chain (docs/reference/evidence.md, "What closes an order"). The chain alone answers "did it land" and "can it still land":
 *
 * - A landing is a used digest together with events of our own account in the transaction that used it. A used digest
 *   alone proves nothing: anybody can sign the parameters of an own-account batch with another key and use it up.
 * - A death is an unused digest at a block later than the signed deadline. Block times never decrease, so no later block
 *   can execute it. The contract accepts a block of exactly the deadline, so the block must be strictly later.
 * - Evidence from one endpoint's latest block is provisional. Evidence that closes something must be final on every configured
 *   endpoint. An endpoint that is silent, lags or disagrees keeps the order open, and the operator sees why.
 */
import { defined } from '../../base/defined.ts'
import { sameHex } from '../../protocol/address.ts'
import type { Usd } from '../../protocol/units.ts'
import {
  type Attempt,
  type Child,
  type ChildRole,
  type Evidence,
  type IntentState,
  isProvisional,
  type Settlement,
} from '../order/intent.ts'
import type { ChainView, EndpointView, OrderLog } from './chainView.ts'
import { type CreatedOrder, type Expected, type ExpectedOrder, expectedOfSigned, fits } from './expected.ts'
import type { End, Landing } from './observation.ts'

/** The orders that the attempt created and where that is shown, or undefined while it is not. */
export function chainLanding(
  state: IntentState,
  attempt: Attempt,
  view: ChainView,
  explained: ReadonlySet<string>,
  atMs: number,
): Landing | undefined {
  const shown = view.endpoints.flatMap((endpoint) => {
    const landing = landingAt(state, attempt, endpoint, explained)
    return landing === undefined ? [] : [{ endpoint, ...landing }]
  })
  const [first] = shown
  if (first === undefined) return undefined
  const agreeing = shown.filter(
    (each) =>
      sameHex(each.consumer.block.hash, first.consumer.block.hash) &&
      each.orders.every((order, index) => sameHex(order.orderKey, first.orders[index]?.orderKey ?? '0x')),
  )
  const isFinal =
    agreeing.length === view.configured &&
    agreeing.every(
      ({ endpoint, consumer }) => isAtFinal(endpoint, consumer.block.number) && endpoint.isDigestUsedAtFinal,
    )
  const { consumer, feeReturnedUsd } = first
  const haveSameFigure = agreeing.every((each) => each.feeReturnedUsd === feeReturnedUsd)
  const sender = consumer.carriesOurSignature ? 'holds our signature' : 'holds the events of our account'
  return {
    orderKeys: first.orders.map(({ orderKey }) => orderKey),
    roles: first.roles,
    evidence: {
      level: isFinal ? 'chain-final' : 'chain-latest',
      atMs,
      statement: `the digest is used, and the transaction that used it ${sender}`,
      orderKeys: first.orders.map(({ orderKey }) => orderKey),
      transactionHashes: [consumer.transactionHash],
      block: consumer.block,
      endpoints: agreeing.map(({ endpoint }) => endpoint.endpoint),
    },
    // The figure is money alone: where endpoints differ about it the landing stands, and the fee counts whole.
    ...defined({ feeReturnedUsd: haveSameFigure ? feeReturnedUsd : undefined }),
  }
}

function landingAt(
  state: IntentState,
  attempt: Attempt,
  endpoint: EndpointView,
  explained: ReadonlySet<string>,
):
  | {
      readonly consumer: NonNullable<EndpointView['consumer']>
      readonly orders: readonly CreatedOrder[]
      readonly roles: readonly ChildRole[]
      readonly feeReturnedUsd: Usd | undefined
    }
  | undefined {
  const { consumer } = endpoint
  if (consumer === undefined || !endpoint.isDigestUsedAtLatest || attempt.armed === undefined)
    return undefined
  const expected = expectedOfSigned(state.intent, attempt.armed)
  const logs = endpoint.logs.filter((log) => sameHex(log.transactionHash, consumer.transactionHash))
  const created = logs.flatMap(({ event, created: order }) =>
    event === 'OrderCreated' && order !== undefined && !explained.has(order.orderKey.toLowerCase())
      ? [order]
      : [],
  )
  const changes = expected.changes.every(({ orderKey, event }) =>
    logs.some((log) => log.event === event && sameHex(log.orderKey, orderKey)),
  )
  const orders = changes ? ownRun(expected.orders, created) : undefined
  if (orders === undefined) return undefined
  // Without our signature in plain sight something of ours must be there: an empty expectation proves nothing.
  if (!consumer.carriesOurSignature && logs.length === 0) return undefined
  // If a relay bundled messages of the account, nobody knows whose fee was returned.
  const isAlone = logs.length === expected.orders.length + expected.changes.length
  return {
    consumer,
    orders,
    roles: expected.orders.map(({ role }) => role),
    feeReturnedUsd: isAlone ? consumer.feeReturnedUsd : undefined,
  }
}

/**
 * Rates how well events of one transaction fit a message: 2 with the requested sizes, 1 with others, 0 not at all. The rating selects among several
 * transactions of a block, and proves nothing.
 */
export function closeness(
  { orders, changes }: Expected,
  logs: readonly Pick<OrderLog, 'event' | 'orderKey' | 'created'>[],
): 0 | 1 | 2 {
  const created = logs.flatMap(({ created: order }) => (order === undefined ? [] : [order]))
  const isChanged = changes.every(({ orderKey, event }) =>
    logs.some((log) => log.event === event && sameHex(log.orderKey, orderKey)),
  )
  const run = isChanged ? ownRun(orders, created) : undefined
  if (run === undefined) return 0
  return isAsAsked(orders, run) ? 2 : 1
}

/**
 * Returns the run of neighbouring orders that the attempt creates. A relay may bundle several operations of one account into one transaction, and
 * each keeps its orders together and in the order of its message. Where several runs fit, the run with the requested sizes and amounts is meant. If
 * none has them, nothing is shown until the others are explained.
 */
function ownRun(
  expected: readonly ExpectedOrder[],
  created: readonly CreatedOrder[],
): readonly CreatedOrder[] | undefined {
  const runs: (readonly CreatedOrder[])[] = []
  for (let at = 0; at + expected.length <= created.length; at += 1) {
    const run = created.slice(at, at + expected.length)
    if (run.every((order, index) => isMeant(expected[index], order))) runs.push(run)
  }
  if (runs.length < 2) return runs[0]
  return runs.find((run) => isAsAsked(expected, run))
}

/** Tells whether orders have the requested sizes and amounts. */
function isAsAsked(expected: readonly ExpectedOrder[], run: readonly CreatedOrder[]): boolean {
  return expected.every(
    ({ askedSizeUsd, askedCollateral }, index) =>
      (askedSizeUsd === undefined || askedSizeUsd === run[index]?.sizeDeltaUsd) &&
      (askedCollateral === undefined || askedCollateral === run[index]?.collateralAmount),
  )
}

function isMeant(expected: ExpectedOrder | undefined, order: CreatedOrder): boolean {
  return expected !== undefined && fits(expected, order) && !holdsLess(expected, order)
}

/**
 * Tells whether a created order was paid less than the message pays. The vault counts payments in; a stranger's gift can raise the count and nothing
 * can lower it. A payout stands in the order as it was requested.
 */
function holdsLess({ askedCollateral }: ExpectedOrder, { collateralAmount }: CreatedOrder): boolean {
  return askedCollateral !== undefined && collateralAmount !== undefined && collateralAmount < askedCollateral
}

/** Tells whether a provisional landing was taken back by a reorganisation: every endpoint answered, and none shows it any more in its block. */
export function chainUnlanding(
  attempt: Attempt,
  view: ChainView,
  landing: Landing | undefined,
  atMs: number,
): Evidence | undefined {
  if (!isProvisional(attempt.evidence) || view.endpoints.length < view.configured) return undefined
  const was = attempt.evidence?.block?.hash
  const isSame =
    landing !== undefined &&
    sameHex(landing.evidence.block?.hash ?? '0x', was ?? '0x') &&
    landing.orderKeys.length === attempt.children.length &&
    landing.orderKeys.every((orderKey, index) => sameHex(orderKey, attempt.children[index]?.orderKey ?? '0x'))
  if (isSame) return undefined
  // An endpoint whose view is older than the landing cannot say that it is gone.
  const number = attempt.evidence?.block?.number ?? 0n
  const isGone = view.endpoints.every(
    ({ latest, isDigestUsedAtLatest, consumer }) =>
      latest.number >= number && (!isDigestUsedAtLatest || consumer !== undefined),
  )
  if (landing === undefined && !isGone) return undefined
  return {
    level: 'chain-latest',
    atMs,
    statement: 'the chain was reorganised: no endpoint shows the landing in its block now',
    endpoints: view.endpoints.map(({ endpoint }) => endpoint),
    ...defined({ block: attempt.evidence?.block }),
  }
}

/** Proof that the digest was used up by somebody else, on every endpoint and final. */
export function chainVoid(view: ChainView, atMs: number): Evidence | undefined {
  if (view.endpoints.length < view.configured || view.configured === 0) return undefined
  const consumers = view.endpoints.flatMap((endpoint) => {
    const { consumer, isDigestUsedAtFinal, logs } = endpoint
    if (consumer === undefined || !isDigestUsedAtFinal || !isAtFinal(endpoint, consumer.block.number))
      return []
    if (consumer.carriesOurSignature) return []
    return logs.some((log) => sameHex(log.transactionHash, consumer.transactionHash)) ? [] : [consumer]
  })
  const [first] = consumers
  if (first === undefined || consumers.length < view.configured) return undefined
  if (!consumers.every((each) => sameHex(each.transactionHash, first.transactionHash))) return undefined
  return {
    level: 'chain-final',
    atMs,
    statement:
      'the digest is used, but by a transaction with neither our signature nor an event of our account',
    transactionHashes: [first.transactionHash],
    block: first.block,
    endpoints: view.endpoints.map(({ endpoint }) => endpoint),
  }
}

/** Proof that the attempt can never land: past its deadline with the digest unused, on every endpoint and final. */
export function chainDeath(attempt: Attempt, view: ChainView, atMs: number): Evidence | undefined {
  const deadlineSeconds = attempt.armed?.deadlineSeconds
  if (deadlineSeconds === undefined || view.configured === 0 || view.endpoints.length < view.configured)
    return undefined
  const isDead = view.endpoints.every(
    ({ final, isDigestUsedAtFinal, isDigestUsedAtLatest }) =>
      final.timestampSeconds > deadlineSeconds && !isDigestUsedAtFinal && !isDigestUsedAtLatest,
  )
  const [first] = view.endpoints
  if (!isDead || first === undefined) return undefined
  const earliest = view.endpoints.reduce((least, each) =>
    each.final.timestampSeconds < least.final.timestampSeconds ? each : least,
  )
  return {
    level: 'chain-final',
    atMs,
    statement: `block ${earliest.final.number} is later than the signed deadline, and the digest is unused there`,
    block: earliest.final,
    endpoints: view.endpoints.map(({ endpoint }) => endpoint),
  }
}

/** State of a created order on chain. */
export type ChainEnd =
  | End
  /** Nothing shows the end that was seen before, or a freeze was lifted. */
  | { readonly kind: 'reopened'; readonly evidence: Evidence }
  | { readonly kind: 'frozen'; readonly evidence: Evidence; readonly cancelReason: string }

/** Returns the end that the chain shows of a created order, when it is news to us. */
export function chainEnd(child: Child, view: ChainView, atMs: number): ChainEnd | undefined {
  const newest = view.endpoints.flatMap((endpoint) => {
    const log = lastLog(endpoint, child)
    return log === undefined ? [] : [{ endpoint, log }]
  })
  const ended = newest.filter(({ log }) => log.event === 'OrderExecuted' || log.event === 'OrderCancelled')
  const [first] = ended
  if (first !== undefined) {
    const { log } = first
    const agreeing = ended.filter(
      (each) => each.log.event === log.event && sameHex(each.log.block.hash, log.block.hash),
    )
    const isExecuted = log.event === 'OrderExecuted'
    // A block has one set of logs: who shows other figures of it lies, and nobody knows who does. Of a cancel they are a fee's rest alone,
    // and hold nothing open.
    const haveSameFigures = agreeing.every((each) => isSameSettlement(each.log.settlement, log.settlement))
    const isFinal =
      (haveSameFigures || !isExecuted) &&
      agreeing.length === view.configured &&
      agreeing.every((each) => isAtFinal(each.endpoint, log.block.number))
    const evidence = logEvidence(
      log,
      isFinal,
      agreeing.map(({ endpoint }) => endpoint.endpoint),
      atMs,
    )
    const settlement = haveSameFigures
      ? withAgreedReturn(agreeing.map((each) => each.log.settlement))
      : undefined
    if (isExecuted) return { kind: 'executed', settlement: settlement ?? {}, evidence }
    const figures = defined({ settlement })
    return { kind: 'cancelled', cancelReason: log.reason ?? '', evidence, ...figures }
  }
  const isWhole = view.endpoints.length === view.configured && view.configured > 0
  const isPast = view.endpoints.every(({ latest }) => latest.number >= (child.evidence?.block?.number ?? 0n))
  if ((child.phase === 'EXECUTED' || child.phase === 'CANCELLED') && isWhole && isPast) {
    return { kind: 'reopened', evidence: goneEvidence(child, view, atMs) }
  }
  // One that lags shows what was before the end: that takes nothing back.
  if (child.phase === 'EXECUTED' || child.phase === 'CANCELLED') return undefined
  const frozen = newest.find(({ log }) => log.event === 'OrderFrozen')
  if (frozen !== undefined) {
    const evidence = logEvidence(frozen.log, false, [frozen.endpoint.endpoint], atMs)
    return { kind: 'frozen', evidence, cancelReason: frozen.log.reason ?? '' }
  }
  if (child.phase === 'FROZEN' && isWhole && isPast) {
    return { kind: 'reopened', evidence: goneEvidence(child, view, atMs) }
  }
  return undefined
}

/**
 * Tells whether figures are the same. A block's time is not compared: an endpoint may once have reported a wrong one, which is retained. Nor is
 * the returned fee, which is money alone (`withAgreedReturn`): its price may be that of the message's transaction, which an endpoint may not have
 * found yet.
 */
function isSameSettlement(one: Settlement = {}, other: Settlement = {}): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]) as Set<keyof Settlement>
  names.delete('timestampSeconds')
  names.delete('executionFeeReturnedUsd')
  return [...names].every((name) => one[name] === other[name])
}

/** Returns the first of equal settlements; where they differ about what came back of the fee, without it: the fee then counts whole. */
function withAgreedReturn(settlements: readonly (Settlement | undefined)[]): Settlement | undefined {
  const [first, ...others] = settlements
  const returnedUsd = first?.executionFeeReturnedUsd
  if (others.every((other) => other?.executionFeeReturnedUsd === returnedUsd)) return first
  const { executionFeeReturnedUsd: _, ...rest } = first ?? {}
  return Object.keys(rest).length === 0 ? undefined : rest
}

function goneEvidence(child: Child, view: ChainView, atMs: number): Evidence {
  return {
    level: 'chain-latest',
    atMs,
    statement: `no endpoint shows the order ${child.phase === 'FROZEN' ? 'frozen' : 'ended'} now`,
    endpoints: view.endpoints.map(({ endpoint }) => endpoint),
  }
}

function logEvidence(log: OrderLog, isFinal: boolean, endpoints: readonly string[], atMs: number): Evidence {
  return {
    level: isFinal ? 'chain-final' : 'chain-latest',
    atMs,
    statement: `${log.event} of the order is in block ${log.block.number}`,
    orderKeys: [log.orderKey],
    transactionHashes: [log.transactionHash],
    block: log.block,
    logIndex: log.logIndex,
    endpoints,
  }
}

/** The newest event of an order: an execution follows its creation, an update lifts a freeze. */
function lastLog({ logs }: EndpointView, child: Child): OrderLog | undefined {
  return logs.filter(({ orderKey }) => sameHex(orderKey, child.orderKey)).at(-1)
}

function isAtFinal({ final }: EndpointView, blockNumber: bigint): boolean {
  return blockNumber <= final.number
}
