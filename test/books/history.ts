/** Made-up histories of an account, as records: fills that may be taken back, what others did, and restarts. */
import type {
  AccountRecord,
  DiscrepancyKind,
  PositionSide,
} from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { ArmedFacts, Evidence, Intent, IntentKind, Settlement } from '../../src/domain/order/intent.ts'
import type { OrderTerms } from '../../src/domain/order/orderTerms.ts'
import type { AnyRecord, JournalRecord } from '../../src/domain/records.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { UpdateOrderParams } from '../../src/protocol/batch.ts'
import { hexOf, storyOf } from '../journal/story.ts'

/** The one side of most tests: ETH long on the index token of `test/journal/story.ts`. */
export const side: PositionSide = {
  marketToken: '0x3333333333333333333333333333333333333333',
  direction: 'long',
  collateralToken: '0x2222222222222222222222222222222222222222',
}

/** An order that was executed. */
export interface Fill {
  readonly n: number
  readonly strategy?: string
  readonly kind?: IntentKind
  readonly direction?: 'long' | 'short'
  readonly settlement: Settlement
  readonly atMs?: number
  /** Where the log of its execution is on the chain; absent: its evidence is no endpoint's. */
  readonly log?: { readonly block: bigint; readonly logIndex: number }
  readonly isProvisional?: boolean
  readonly relayFeeAmount?: bigint
  /** Where it is not the market of the stories. */
  readonly terms?: Partial<OrderTerms>
  /** A stop-loss that comes with it, and rests. */
  readonly hasStop?: boolean
  /** The trigger of that stop, contract price; the order says none when absent. */
  readonly stopTrigger?: bigint
}

/** The key of its order, and of the stop that came with it. */
export const keyOf = (n: number): Hex => hexOf(`order-${n}`)
export const stopKeyOf = (n: number): Hex => hexOf(`stop-${n}`)

const at = (fill: Fill) => fill.atMs ?? 1_800_000_000_000 + fill.n

function intentParts({
  n,
  strategy = 'trend',
  kind = 'increase',
  direction = 'long',
  terms = {},
  ...rest
}: Fill): Partial<Intent> {
  const { intent } = storyOf(n)
  return {
    strategy,
    kind,
    decisionKey: `key-${n}`,
    acceptedAtMs: at({ n, ...rest }),
    terms: { ...intent.terms, ...terms, direction },
  }
}

function evidence(fill: Fill, isFinal: boolean): Evidence {
  const { log, settlement } = fill
  const timestampSeconds = settlement.timestampSeconds ?? 0
  return {
    level: isFinal ? 'chain-final' : 'chain-latest',
    atMs: at(fill),
    statement: 'seen in a test',
    ...(log === undefined
      ? {}
      : {
          block: { number: log.block, hash: hexOf(`block-${log.block}`), timestampSeconds },
          logIndex: log.logIndex,
        }),
  }
}

/** Records up to its execution. */
export function executed(fill: Fill): readonly JournalRecord[] {
  return [...landed(fill), execution(fill, fill.isProvisional !== true)]
}

/** What its message creates, where the trigger of its stop is told. */
function createsOf({ direction = 'long', stopTrigger, settlement }: Fill): Pick<ArmedFacts, 'creates'> {
  if (stopTrigger === undefined) return { creates: [] }
  const { sizeDeltaUsd = 0n } = settlement
  const kept = { ...side, direction, acceptableContractPrice: 0n, minOutputAmount: 0n, autoCancel: true }
  const order = (orderType: number, triggerContractPrice: bigint) => ({
    ...{ orderType, sizeDeltaUsd, collateralAmount: 0n },
    kept: { ...kept, triggerContractPrice },
  })
  return { creates: [order(2, 0n), order(6, stopTrigger)] }
}

/** A whole message that moves a resting order: accepted, and what comes of it, which is `landed` or nothing. */
export function moved(
  fill: Omit<Fill, 'settlement' | 'kind'>,
  orderKey: Hex,
  triggerPrice: bigint,
): { readonly accepted: readonly JournalRecord[]; readonly landed: readonly JournalRecord[] } {
  const edit = { orderKey, sizeDeltaUsd: 0n, triggerContractPrice: triggerPrice } as OrderTerms['edit']
  const made = { ...fill, kind: 'edit' as const, settlement: {}, terms: { edit } } as Fill
  const story = storyOf(made.n, intentParts(made))
  const update = { key: orderKey, sizeDeltaUsd: 0n, triggerPrice, acceptablePrice: 0n } as UpdateOrderParams
  return {
    accepted: [story.accepted(), story.preparing(), story.armed(1, { updates: [update] }), story.sent()],
    landed: [
      { ...story.landed(), orderKeys: [], roles: [], evidence: evidence(made, true) } as JournalRecord,
      closed(made),
    ],
  }
}

/** Records up to its landing: it rests. */
export function landed(fill: Fill): readonly JournalRecord[] {
  const story = storyOf(fill.n, intentParts(fill))
  const { relayFeeAmount = 0n, hasStop = false } = fill
  const orders = {
    orderKeys: hasStop ? [keyOf(fill.n), stopKeyOf(fill.n)] : [keyOf(fill.n)],
    roles: hasStop ? ['main', 'stop-loss'] : ['main'],
  }
  return [
    story.accepted(),
    story.preparing(),
    story.armed(1, { relayFeeAmount, ...createsOf(fill) }),
    story.sent(),
    { ...story.landed(), ...orders, evidence: evidence(fill, true) } as JournalRecord,
  ]
}

/** The stop that came with it fires. */
export function stopped(fill: Fill, settlement: Settlement): JournalRecord {
  const orderKey = stopKeyOf(fill.n)
  return { ...execution({ ...fill, settlement }, true), child: 1, orderKey } as JournalRecord
}

/** A whole message that cancels orders: it landed, and did so. */
export function cancelled(
  fill: Omit<Fill, 'settlement' | 'kind'>,
  keys: readonly Hex[],
): readonly JournalRecord[] {
  const made: Fill = { ...fill, kind: 'cancel', settlement: {}, terms: { cancelOrderKeys: keys } }
  const records = landed(made).map((record) =>
    record.kind === 'landed' ? { ...record, orderKeys: [], roles: [] } : record,
  )
  return [...records, closed(made)]
}

/** A whole message whose order filled nothing: it landed, and was cancelled. */
export function lost(fill: Fill): readonly JournalRecord[] {
  return [...landed(fill), orderCancelled(fill, 0), closed(fill)]
}

/** An order of a message was cancelled: its own, or the stop that came with it. */
export function orderCancelled(fill: Fill, child: 0 | 1): JournalRecord {
  const { settlement: _, ...record } = execution(fill, true) as JournalRecord & { settlement?: unknown }
  const orderKey = child === 0 ? keyOf(fill.n) : stopKeyOf(fill.n)
  return { ...record, kind: 'child.cancelled', child, orderKey } as JournalRecord
}

/** The record of its execution, provisional or final. */
export function execution(fill: Fill, isFinal: boolean): JournalRecord {
  const story = storyOf(fill.n, intentParts(fill))
  return {
    ...story.childExecuted(),
    evidence: evidence(fill, isFinal),
    settlement: fill.settlement,
  } as JournalRecord
}

/** The chain took it back. */
export function reopened(fill: Fill): JournalRecord {
  const { intentId } = storyOf(fill.n)
  return {
    v: RECORD_VERSION,
    atMs: at(fill) + 7,
    intentId,
    kind: 'child.reopened',
    attempt: 1,
    child: 0,
    orderKey: hexOf(`order-${fill.n}`),
    evidence: evidence(fill, false),
  }
}

/** It is over. */
export function closed(fill: Fill): JournalRecord {
  return storyOf(fill.n, intentParts(fill)).closed()
}

/** Something that others did. */
export function raised(
  id: string,
  kind: DiscrepancyKind,
  sizeDeltaUsd: bigint,
  more: {
    readonly pnlUsd?: bigint
    readonly fundingReceivedUsd?: bigint
    readonly atMs?: number
    readonly sizeDeltaInTokens?: bigint
    readonly on?: PositionSide
  } = {},
): AccountRecord {
  const { atMs = 1_800_000_000_000, on = side, ...rest } = more
  return {
    v: RECORD_VERSION,
    atMs,
    intentId: '@account',
    kind: 'discrepancy.raised',
    discrepancy: {
      discrepancyId: id,
      kind,
      ...on,
      statement: 'made up',
      sizeDeltaUsd,
      atSeconds: Math.floor(atMs / 1000),
      ...rest,
    },
  }
}

/** What became of it. */
export function settled(
  discrepancyId: string,
  as: 'adopted' | 'ignored' | 'gone',
  atMs = 1_800_000_000_000,
): AnyRecord {
  return { v: RECORD_VERSION, atMs, intentId: '@account', kind: 'discrepancy.settled', discrepancyId, as }
}

/** An operator let it go on. */
export function resumed(strategy: string, atMs: number): AnyRecord {
  const by = { by: 'ann', reason: 'it was looked at' }
  return {
    v: RECORD_VERSION,
    atMs,
    intentId: '@account',
    kind: 'strategy.switched',
    strategy,
    to: 'running',
    ...by,
  }
}
