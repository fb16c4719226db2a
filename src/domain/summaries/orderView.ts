/** Orders as people and scripts see them: a row of a list, and the whole story of one. Pure projections of records. */
import { isoTime } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'
import { filledAtMs } from '../accountRecords/fills.ts'
import {
  type Child,
  type ChildRole,
  type Intent,
  type IntentState,
  type Label,
  lastAttempt,
} from '../order/intent.ts'
import {
  inForceOf,
  isOpened,
  type LegLookups,
  legsOf,
  type OrderLeg,
  ownEntryUsdOf,
} from '../order/orderLegs.ts'
import { termsInForce } from '../order/termsInForce.ts'
import type { StoredRecord } from '../records.ts'
import type { OrderMarks } from './orderMarks.ts'

/** A folded intent with its label. */
export interface LabelledState extends OrderMarks, LegLookups {
  readonly state: IntentState
  readonly label: Label
  /** The venue's last word on an unresolved attempt. */
  readonly observedStatus?: string
  /** Size of the position on its side, USD: resting exits reduce no more than that. Absent: not known. */
  readonly heldUsd?: Usd
}

/** One row of `perpd orders --json` and `/api/orders`. Times are ISO 8601, UTC. Null means: not yet, or never. */
export interface OrderRow {
  readonly intentId: string
  readonly status: Label
  readonly strategy: string
  /** The market's symbol. */
  readonly market: string
  readonly direction: Direction
  readonly kind: string
  /**
   * Type of the order that it makes: `market`, `limit`, `stop-market`, `take-profit`, `stop-loss` or `twap`; null for an intent that makes none, and
   * for a batch.
   */
  readonly orderType: string | null
  /** As it is in force, with the edits of it: decimal text of the integer with 30 decimals. */
  readonly sizeDeltaUsd: string
  /** The price in force of an order that waits for one: decimal text of the integer with 30 decimals. */
  readonly triggerPrice: string | null
  /** The strategy's reason for the order. */
  readonly decisionReason: string
  readonly digest: Hex | null
  readonly requestId: string | null
  readonly taskId: string | null
  readonly host: string | null
  readonly acceptedAt: string
  readonly armedAt: string | null
  readonly sentAt: string | null
  /** Its message can land until then, as it was signed. */
  readonly deadlineAt: string | null
  readonly closedAt: string | null
  readonly outcome: string | null
  readonly reason: string | null
  /** The venue's last word on an order whose fate is not proven. */
  readonly observedStatus: string | null
  /** Warnings of the venue before signing and the action taken, `CODE: action`; empty when there were none. */
  readonly warnings: readonly string[]
  /** The person or strategy who requested its unwind: it is unwound if it lands. */
  readonly unwantedBy: string | null
  /** Seconds past its signed deadline without evidence of its fate, where no chain is configured: an operator must decide. */
  readonly presumedDeadForSeconds: number | null
  /** `open` when its entry is filled and its exits rest: then it is a position; else as `status`. */
  readonly standing: Label | 'open'
  /** Its created orders; empty before it landed. */
  readonly legs: readonly OrderLegRow[]
}

/**
 * The PnL of a fill and its parts; decimal texts of the integers with 30 decimals. `pnlUsd` is `venuePnlUsd` and `fundingReceivedUsd`, less
 * `sendingUsd`, `entryCostsUsd` and `cancellingUsd`, and `ownEntryUsd`.
 */
export interface PnlParts {
  /** After all costs (docs/reference/glossary.md); null where there is none, or it is not known. */
  readonly pnlUsd: string | null
  /** The venue's own figure of the fill, after its price impact, fees, funding and borrowing. Null for an entry. */
  readonly venuePnlUsd: string | null
  /** Funding received by the position that the fill put aside for the account. Null for an entry, and where the chain does not show it. */
  readonly fundingReceivedUsd: string | null
  /** Cost of sending its message at most, execution fees included; 0 for an exit. Null before it filled. */
  readonly sendingUsd: string | null
  /** Share by size of the cost of opening the position. Null for an entry. */
  readonly entryCostsUsd: string | null
  /** Cost of cancelling the exits that it left behind. Null for an entry. */
  readonly cancellingUsd: string | null
  /** Result of the reduced parts from their own entry price and their own funding and borrowing. Null for an entry. */
  readonly ownEntryUsd: string | null
  /** False: others opened some of the reduced size, and the cost of that is unknown and in no figure. Null for an entry. */
  readonly isEntryKnown: boolean | null
}

/** The parts of a leg. */
export function pnlParts({ pnlUsd, venuePnlUsd, fundingReceivedUsd, costs }: OrderLeg): PnlParts {
  const reduces = venuePnlUsd !== undefined ? costs : undefined
  return {
    pnlUsd: pnlUsd?.toString() ?? null,
    venuePnlUsd: venuePnlUsd?.toString() ?? null,
    fundingReceivedUsd: fundingReceivedUsd?.toString() ?? null,
    sendingUsd: costs?.sendingUsd.toString() ?? null,
    entryCostsUsd: reduces?.entryCostsUsd.toString() ?? null,
    cancellingUsd: reduces?.cancellingUsd.toString() ?? null,
    ownEntryUsd:
      venuePnlUsd === undefined || costs === undefined
        ? null
        : ownEntryUsdOf(venuePnlUsd, costs, fundingReceivedUsd).toString(),
    isEntryKnown: reduces?.isEntryKnown ?? null,
  }
}

/** One created order of a row. Amounts and prices are decimal texts of the integers with 30 decimals. */
export interface OrderLegRow extends PnlParts {
  readonly role: ChildRole
  readonly status: 'resting' | 'frozen' | 'filled' | 'cancelled'
  readonly orderKey: Hex
  /** Trigger and size as they are in force at the venue. */
  readonly triggerPrice: string | null
  readonly sizeDeltaUsd: string | null
  /** Resting exits: their size, or the position where that is less. Null for all other orders, and where the position is not known. */
  readonly inForceUsd: string | null
  /** Another client changed it: trigger and size as perpd signed them. Null: it is in force as it was signed. */
  readonly changedFrom: { readonly triggerPrice: string | null; readonly sizeDeltaUsd: string | null } | null
  readonly executionPrice: string | null
  /** By the chain's clock where the chain showed it. */
  readonly filledAt: string | null
  readonly feesUsd: string | null
  /** The chain may take its fill back. */
  readonly isProvisional: boolean
}

/** One record of a story with its distance from the first, ms. */
export interface StoryStep {
  readonly seq: number
  readonly at: string
  readonly sinceAcceptedMs: number
  readonly kind: string
  readonly record: StoredRecord['record']
}

/** Content of `perpd explain --json` and `/api/orders/:intentId`, before `toPlain`. */
export interface OrderStory {
  readonly order: OrderRow
  readonly intent: IntentState['intent']
  readonly attempts: IntentState['attempts']
  readonly closing?: IntentState['closing']
  readonly steps: readonly StoryStep[]
}

const legStatus: Readonly<Record<Child['phase'], OrderLegRow['status']>> = {
  OPEN: 'resting',
  FROZEN: 'frozen',
  EXECUTED: 'filled',
  CANCELLED: 'cancelled',
}

function legRow(leg: OrderLeg, heldUsd: Usd | undefined, atMs: number | undefined): OrderLegRow {
  return {
    role: leg.role,
    status: legStatus[leg.phase],
    orderKey: leg.orderKey,
    triggerPrice: leg.triggerPrice?.toString() ?? null,
    sizeDeltaUsd: leg.sizeDeltaUsd?.toString() ?? null,
    inForceUsd: inForceOf(leg, heldUsd)?.toString() ?? null,
    changedFrom:
      leg.changedFrom === undefined
        ? null
        : {
            triggerPrice: leg.changedFrom.triggerPrice?.toString() ?? null,
            sizeDeltaUsd: leg.changedFrom.sizeDeltaUsd?.toString() ?? null,
          },
    executionPrice: leg.executionPrice?.toString() ?? null,
    filledAt: isoOrNull(atMs),
    feesUsd: leg.feesUsd?.toString() ?? null,
    ...pnlParts(leg),
    isProvisional: leg.isProvisional,
  }
}

/** Kinds that make no order of one type. */
const makesNone: ReadonlySet<Intent['kind']> = new Set([
  'edit',
  'cancel',
  'batch',
  'collateral-in',
  'collateral-out',
])

/** The row of an intent. */
export function orderRow(labelled: LabelledState): OrderRow {
  const { state, label, observedStatus } = labelled
  const { unwantedBy, presumedDeadForSeconds, heldUsd } = labelled
  const { intent, closing, closedAtMs } = state
  const attempt = lastAttempt(state)
  const armed = attempt?.armed
  const terms = { ...intent.terms, ...termsInForce(state, labelled) }
  return {
    intentId: intent.intentId,
    status: label,
    strategy: intent.strategy,
    market: intent.terms.symbol,
    direction: intent.terms.direction,
    kind: intent.kind,
    orderType: makesNone.has(intent.kind) ? null : terms.orderType,
    sizeDeltaUsd: terms.sizeDeltaUsd.toString(),
    triggerPrice: terms.triggerPrice?.toString() ?? null,
    decisionReason: intent.decision.reason,
    digest: armed?.digest ?? null,
    requestId: armed?.requestId ?? null,
    taskId: attempt?.send?.taskId ?? null,
    host: attempt?.host ?? null,
    acceptedAt: iso(intent.acceptedAtMs),
    armedAt: isoOrNull(attempt?.armedAtMs),
    sentAt: isoOrNull(attempt?.sentAtMs),
    deadlineAt: isoOrNull(armed === undefined ? undefined : armed.deadlineSeconds * 1_000),
    closedAt: isoOrNull(closedAtMs),
    outcome: closing?.outcome ?? null,
    reason: closing?.reason ?? null,
    observedStatus: (closing === undefined ? observedStatus : undefined) ?? null,
    warnings: state.attempts.flatMap(({ warned = [] }) =>
      warned.flatMap(({ warnings, action }) => warnings.map(({ code }) => `${code}: ${action}`)),
    ),
    unwantedBy: unwantedBy ?? null,
    presumedDeadForSeconds: presumedDeadForSeconds ?? null,
    standing: isOpened(state) ? 'open' : label,
    legs: legsOf(state, labelled).map((leg, at) => {
      const child = attempt?.children[at]
      const isFilled = child?.phase === 'EXECUTED'
      return legRow(
        leg,
        isOpened(state) ? heldUsd : undefined,
        isFilled ? filledAtMs(state, child) : undefined,
      )
    }),
  }
}

/** The whole story of an intent. Signatures are left out: nobody needs them to understand an order. */
export function orderStory(labelled: LabelledState, records: readonly StoredRecord[]): OrderStory {
  const { intent, attempts, closing } = labelled.state
  return {
    order: orderRow(labelled),
    intent,
    attempts: attempts.map((attempt) =>
      attempt.armed === undefined ? attempt : { ...attempt, armed: withoutSignature(attempt.armed) },
    ),
    ...defined({ closing }),
    steps: records.map(({ seq, record }) => ({
      seq,
      at: iso(record.atMs),
      sinceAcceptedMs: record.atMs - intent.acceptedAtMs,
      kind: record.kind,
      record: record.kind === 'attempt.armed' ? { ...record, armed: withoutSignature(record.armed) } : record,
    })),
  }
}

function withoutSignature<T extends { readonly signature: Hex }>(armed: T): T {
  return { ...armed, signature: '0x' }
}

/** A value as JSON carries it: bigints are decimal text. */
export type Plain<T> = T extends bigint
  ? string
  : T extends string | number | boolean | null | undefined
    ? T
    : { readonly [K in keyof T]: Plain<T[K]> }

/** The value with bigints as decimal text, ready for JSON. */
export function toPlain<T>(value: T): Plain<T> {
  return plainOf(value) as Plain<T>
}

function plainOf(value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString()
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainOf(inner)]))
}

function isoOrNull(atMs: number | undefined): string | null {
  return atMs === undefined ? null : iso(atMs)
}

function iso(atMs: number): string {
  return isoTime(atMs)
}
