/**
 * Records about the account that the journal persists besides our intents: discrepancies, their outcome, how far the account's history was read, and
 * an operator's statements about lost records. They share the file and hash chain of the intents, but belong to no intent.
 */
import { defined } from '../../base/defined.ts'
import type { Address, Hex } from '../../protocol/address.ts'
import type { Direction } from '../../protocol/market.ts'
import type { TokenAmount, Usd } from '../../protocol/units.ts'
import {
  applyMemoryEntry,
  type Memories,
  type MemoryEntry,
  memoryKinds,
  noMemories,
} from '../memory/memoryRecord.ts'
import {
  applySignalEntry,
  applyTakenSignals,
  forgetSignals,
  noSignals,
  type SignalEntry,
  type SignalFold,
  signalKinds,
} from '../memory/tradeSignal.ts'
import type { Intent } from '../order/intent.ts'
import type { ListedOrder } from '../order/signedOrder.ts'
import { applyTaskEntry, noTasks, type TaskEntry, type Tasks, taskKinds } from '../taskStates/taskRecord.ts'
import { applyHandPlan, type HandPlan } from './handPlan.ts'
import {
  applyMarketEntry,
  emptyMarketFold,
  type MarketEntry,
  type MarketFold,
  marketKinds,
} from './marketEntry.ts'
import { applyNoticeEntry, type NoticeEntry, type NoticeFold, noticeEntryKinds } from './noticeEntry.ts'
import type { RECORD_VERSION } from './recordVersion.ts'
import {
  applyStrategyEntry,
  type KeptStrategies,
  noKeptStrategies,
  type StrategyEntry,
  strategyKinds,
} from './strategyEntry.ts'
import {
  applyTradingEntry,
  emptyTradingFold,
  type TradingEntry,
  type TradingFold,
  type TradingHalt,
  tradingKinds,
} from './tradingState.ts'

/** Stands where an intent's id stands in a record of the account. */
export const ACCOUNT_ID = '@account'

/** One side of one market. */
export interface MarketSide {
  readonly marketToken: Address
  readonly direction: Direction
}

/** One side of one market with one collateral: a position in the protocol's terms. */
export interface PositionSide extends MarketSide {
  readonly collateralToken: Address
}

/**
 * Kinds of discrepancies.
 *
 * `liquidation`, `adl`: the protocol moved the position. `external-close`, `manual-decrease`, `manual-increase`: an order of the account that is not
 * ours was executed. `unexplained-order`: such an order rests. `changed-order`: an order of ours rests with other fields than we signed.
 * `unexplained-position`: sizes do not match the sum of our fills and earlier discrepancies.
 */
export type DiscrepancyKind =
  | 'liquidation'
  | 'adl'
  | 'external-close'
  | 'manual-decrease'
  | 'manual-increase'
  | 'unexplained-order'
  | 'changed-order'
  | 'unexplained-position'

/** Something on the account that the journal cannot explain. */
export interface Discrepancy extends PositionSide {
  /** Derived from the observation, so that the same thing is reported once: a trade's id, an order's key, a size. */
  readonly discrepancyId: string
  readonly kind: DiscrepancyKind
  /** One sentence with the facts. */
  readonly statement: string
  /** Change of the position, USD, signed; 0 for a resting order. */
  readonly sizeDeltaUsd: Usd
  /** The same in index tokens, base units, not signed; absent where the venue does not say it. */
  readonly sizeDeltaInTokens?: TokenAmount
  /** Realized result of a liquidation or deleveraging, USD, signed: it counts as a loss of the day. */
  readonly pnlUsd?: Usd
  /** Funding that it put aside for the account by the chain's own event, USD: in no other figure. Absent: none, or not known. */
  readonly fundingReceivedUsd?: Usd
  /** unexplained-position only: expected and actual size, USD. */
  readonly expectedUsd?: Usd
  readonly foundUsd?: Usd
  readonly orderKey?: Hex
  /** changed-order only: the order as it rests at the venue. */
  readonly listed?: ListedOrder
  readonly transactionHash?: Hex
  /** Unix seconds at the venue, where it says one. */
  readonly atSeconds?: number
  /** True if it existed when the journal first looked at the account: a starting inventory, and not unexplained. */
  readonly isInitial?: true
}

/** The way a discrepancy was settled: by an operator, or by disappearing. */
export type DiscrepancyEnd = 'adopted' | 'ignored' | 'gone'

interface AccountBase {
  readonly v: typeof RECORD_VERSION
  readonly atMs: number
  readonly intentId: typeof ACCOUNT_ID
}

/** A record of the account. */
export type AccountRecord =
  | (AccountBase & { readonly kind: 'discrepancy.raised'; readonly discrepancy: Discrepancy })
  | (AccountBase & {
      readonly kind: 'discrepancy.settled'
      readonly discrepancyId: string
      readonly as: DiscrepancyEnd
      /** The operator; absent when it went away by itself. */
      readonly by?: string
    })
  /** The account's trades were read and judged up to here, Unix seconds. */
  | (AccountBase & { readonly kind: 'account.reconciled'; readonly throughSeconds: number })
  /** An operator resumes with a journal that lost records; no order is made before the last lost signature has expired. */
  | (AccountBase & {
      readonly kind: 'loss.accepted'
      readonly by: string
      /** Number of the newest record that had been written, and of the newest that is left. */
      readonly lastWritten: number
      readonly lastFound: number
      /** Unix ms; a signature among the lost records cannot land later. */
      readonly quietUntilMs: number
    })
  /** The server of the journal was replaced before it was opened: records behind the newest that is left may be gone, and nobody can tell. */
  | (AccountBase & {
      readonly kind: 'loss.possible'
      readonly lastFound: number
      /** As of `loss.accepted`. */
      readonly quietUntilMs: number
    })
  /** Halts of trading, commands of operators, and the account's equity. */
  | (AccountBase & TradingEntry)
  /** Processes of several steps: kills, and orders to unwind. */
  | (AccountBase & TaskEntry)
  /** The persisted memory of strategies. */
  | (AccountBase & MemoryEntry)
  /** Strategy files that changed while perpd ran, and instances that an operator paused. */
  | (AccountBase & StrategyEntry)
  /** Signals from outside. */
  | (AccountBase & SignalEntry)
  /** Hosts that contradicted the facts of markets, and markets that an operator trusts. */
  | (AccountBase & MarketEntry)
  /** Notices that have not ended. */
  | (AccountBase & NoticeEntry)

/** Kinds of account records. */
export const accountRecordKinds: ReadonlySet<string> = new Set<AccountRecord['kind']>([
  ...tradingKinds,
  ...taskKinds,
  ...memoryKinds,
  ...strategyKinds,
  ...signalKinds,
  ...marketKinds,
  ...noticeEntryKinds,
  'discrepancy.raised',
  'discrepancy.settled',
  'account.reconciled',
  'loss.accepted',
  'loss.possible',
])

/** A discrepancy and its outcome. */
export interface DiscrepancyState {
  readonly discrepancy: Discrepancy
  readonly raisedAtMs: number
  readonly end?: DiscrepancyEnd
  readonly endedAtMs?: number
  readonly by?: string
}

/** The account's discrepancies, settled ones too. */
export interface Discrepancies {
  /** By id, oldest first. */
  readonly discrepancies: ReadonlyMap<string, DiscrepancyState>
}

/** A loss of records that an operator accepted, or without `by` a possible one. Times are Unix ms. */
interface RecordLoss {
  readonly by?: string
  readonly atMs: number
  /** Nothing new is made before. */
  readonly quietUntilMs: number
  /** Beside an accepted loss: the end of a possible one. */
  readonly possibleUntilMs?: number
}

/** The fold of the account's records. */
export interface AccountState extends Discrepancies {
  /** Time through which trades were judged; absent before the very first pass. */
  readonly throughSeconds?: number
  /** Second up to which trades were read at the journal's first look; older trades are outside its story. Absent before. */
  readonly firstLookSeconds?: number
  readonly trading: TradingFold
  /** Kills and unwinds, running or ended; absent before the first. */
  readonly tasks?: Tasks
  /** Persisted memories of strategies; absent before the first. */
  readonly memories?: Memories
  /** Instances of which something is kept besides: how their removal ends, and pauses by an operator. */
  readonly strategies?: KeptStrategies
  /** Signals from outside that wait for their strategies, and their nonces; absent before the first. */
  readonly signals?: SignalFold
  /** Contradicted and trusted facts of markets; absent before the first. */
  readonly markets?: MarketFold
  /** Notices that people received and that have not ended; absent before the first. */
  readonly noticed?: NoticeFold
  /** Exits that an operator planned by hand; absent before the first. */
  readonly handPlans?: readonly HandPlan[]
  /** Lost records, until none of their signatures can land; absent before the first loss. */
  readonly loss?: RecordLoss
}

const noPlans: readonly HandPlan[] = []

/** Before the first record. */
export const emptyAccountState: AccountState = { discrepancies: new Map(), trading: emptyTradingFold }

/** The state after one more record. Pure; a settlement of an unknown discrepancy changes nothing. */
export function applyAccountRecord(state: AccountState, record: AccountRecord): AccountState {
  switch (record.kind) {
    case 'account.reconciled':
      return {
        ...state,
        throughSeconds: record.throughSeconds,
        ...defined({
          firstLookSeconds: state.throughSeconds === undefined ? record.throughSeconds : undefined,
        }),
      }
    case 'loss.accepted': {
      const { by, atMs, quietUntilMs } = record
      return { ...state, loss: { by, atMs, quietUntilMs, possibleUntilMs: possibleUntilMs(state.loss) } }
    }
    case 'loss.possible': {
      const untilMs = Math.max(record.quietUntilMs, possibleUntilMs(state.loss))
      // The stricter one stays: an accepted loss halts more.
      if (state.loss?.by !== undefined && state.loss.quietUntilMs > record.atMs)
        return { ...state, loss: { ...state.loss, possibleUntilMs: untilMs } }
      return { ...state, loss: { atMs: record.atMs, quietUntilMs: untilMs } }
    }
    case 'discrepancy.raised': {
      const { discrepancy, atMs } = record
      const discrepancies = new Map(state.discrepancies).set(discrepancy.discrepancyId, {
        discrepancy,
        raisedAtMs: atMs,
      })
      return { ...state, discrepancies }
    }
    case 'discrepancy.settled': {
      const known = state.discrepancies.get(record.discrepancyId)
      if (known === undefined) return state
      const { as, by, atMs } = record
      const settled = { ...known, end: as, endedAtMs: atMs, ...defined({ by }) }
      return { ...state, discrepancies: new Map(state.discrepancies).set(record.discrepancyId, settled) }
    }
    case 'task.started':
    case 'task.changed':
    case 'task.ended':
      return { ...state, tasks: applyTaskEntry(state.tasks ?? noTasks, record, record.atMs) }
    case 'strategy.changed':
    case 'strategy.switched': {
      const kept = applyStrategyEntry(state.strategies ?? noKeptStrategies, record, record.atMs)
      return { ...state, strategies: kept }
    }
    case 'strategy.remembered': {
      const { strategy, signals: taken } = record
      const remembered = { ...state, memories: applyMemoryEntry(state.memories ?? noMemories, record) }
      return taken === undefined
        ? remembered
        : { ...remembered, signals: applyTakenSignals(state.signals, strategy, taken) }
    }
    case 'strategy.forgotten': {
      const signals = forgetSignals(state.signals, record.strategy)
      const memories = applyMemoryEntry(state.memories ?? noMemories, record)
      return { ...state, memories, ...defined({ signals }) }
    }
    case 'signal.received':
      return { ...state, signals: applySignalEntry(state.signals ?? noSignals, record, record.atMs) }
    case 'market.contradicted':
    case 'market.settled':
    case 'market.trusted':
      return { ...state, markets: applyMarketEntry(state.markets ?? emptyMarketFold, record, record.atMs) }
    case 'notices.open':
    case 'notices.approval':
      return { ...state, noticed: applyNoticeEntry(state.noticed, record) }
    case 'operator.command': {
      const before = state.handPlans ?? noPlans
      const handPlans = applyHandPlan(before, record)
      const trading = applyTradingEntry(state.trading, record, record.atMs)
      return { ...state, trading, ...defined({ handPlans: handPlans === before ? undefined : handPlans }) }
    }
    default:
      return { ...state, trading: applyTradingEntry(state.trading, record, record.atMs) }
  }
}

/**
 * Returns the halt that lost records put on everything until their time is over; no operator lifts it. An accepted loss stops all but ways out by hand.
 * A possible one holds back what adds to a position: a lost record may have signed the same.
 */
export function lossHaltOf({ loss }: AccountState, nowMs: number): TradingHalt | undefined {
  if (loss === undefined) return undefined
  const base = { scope: 'global', cause: 'lost-records', sinceMs: loss.atMs, releasedBy: 'itself' } as const
  if (loss.by !== undefined && nowMs < loss.quietUntilMs)
    return {
      ...base,
      state: 'halted',
      reason: `the journal lost records, and a lost signature may land until ${new Date(loss.quietUntilMs).toISOString()}`,
      by: loss.by,
    }
  const possibleMs = possibleUntilMs(loss)
  if (nowMs >= possibleMs) return undefined
  return {
    ...base,
    state: 'reducing',
    reason: `the server of the journal was replaced, and a signature of a record that was lost with it may land until ${new Date(possibleMs).toISOString()}`,
    by: 'perpd',
  }
}

/** The end of a possible loss, Unix ms; 0 without one. */
function possibleUntilMs(loss: AccountState['loss']): number {
  return (loss?.by === undefined ? loss?.quietUntilMs : loss.possibleUntilMs) ?? 0
}

const pausing: ReadonlySet<DiscrepancyKind> = new Set([
  'external-close',
  'manual-decrease',
  'manual-increase',
  'unexplained-order',
  'changed-order',
  'unexplained-position',
])

/** Tells whether increases on the discrepancy's market wait for an operator. The protocol's own acts are no anomaly. */
export function pauses({ discrepancy, end }: DiscrepancyState): boolean {
  return end === undefined && pausing.has(discrepancy.kind)
}

/** Tells whether the discrepancy counts as unexplained: it happened outside the journal, and did not exist before the journal began. */
export function isUnexplained(state: DiscrepancyState): boolean {
  return pauses(state) && state.discrepancy.isInitial !== true
}

/** The key of a position's side in maps. */
export function sideKeyOf({ marketToken, direction, collateralToken }: PositionSide): string {
  return `${marketToken}:${direction}:${collateralToken}`.toLowerCase()
}

/** The side that an intent is about. */
export function sideOfIntent({ terms }: Intent): PositionSide {
  const { marketToken, direction, collateralToken } = terms
  return { marketToken, direction, collateralToken: collateralToken.address }
}

/**
 * Returns the contribution of a discrepancy to the expected size of its side, USD, signed. An executed trade counts at once, until a reorganisation
 * takes it back. An unexplained position counts once an operator adopts it.
 */
export function expectedDeltaOf({ discrepancy, end }: DiscrepancyState): Usd {
  if (end === 'gone') return 0n
  if (discrepancy.kind === 'unexplained-position') return end === 'adopted' ? discrepancy.sizeDeltaUsd : 0n
  return discrepancy.sizeDeltaUsd
}
