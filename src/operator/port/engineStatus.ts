/** Status of the engine: the body of `/api/status`, and the basis of readiness. Plain JSON values. */

import type { ShownEquity, ShownPeak } from '../../account/equity/shownEquity.ts'
import type { BareSide } from '../../account/holdings/unprotectedPositions.ts'
import type { LimitRow } from '../../account/liveLimits.ts'
import type { Unmanaged } from '../../account/watch/unmanaged.ts'
import type { ReplayPlace } from '../../base/candles/replayPlace.ts'
import { defined } from '../../base/defined.ts'
import type { BookRow, DayParts } from '../../books/bookView.ts'
import type { DiscrepancyState } from '../../domain/accountRecords/accountRecord.ts'
import type { UnlistedSide } from '../../domain/accountRecords/held.ts'
import type { Contradiction } from '../../domain/accountRecords/marketEntry.ts'
import type {
  AccountTransfer,
  Commander,
  EquityMark,
  TradingHalt,
} from '../../domain/accountRecords/tradingState.ts'
import type { JournalServer } from '../../domain/journalServer.ts'
import type { TradingState } from '../../domain/limits/limits.ts'
import type { IntentState, Label } from '../../domain/order/intent.ts'
import type { LegLookups } from '../../domain/order/orderLegs.ts'
import type { StoredRecord } from '../../domain/records.ts'
import type { SubaccountReport } from '../../domain/subaccountReport.ts'
import type { HeldRow } from '../../domain/summaries/heldRow.ts'
import type { OrderMarks } from '../../domain/summaries/orderMarks.ts'
import type { RestingRow } from '../../domain/summaries/restingRow.ts'
import type { TaskReport } from '../../domain/summaries/taskReport.ts'
import type { Feed } from '../../domain/venueEvent.ts'
import type { FileField } from '../../engine/roster/setField.ts'
import type { EngineState, StrategyStatus } from '../../engine/strategyStatus.ts'
import type { Address } from '../../protocol/address.ts'
import type { Position } from '../../protocol/position.ts'
import type { KillReport } from '../../running/kill.ts'
import type { UnwindReport } from '../../running/unwinder.ts'
import type { WindDownReport } from '../../running/windDown.ts'
import type { OperatorCommand } from '../commands/index.ts'
import type { OperatorAnswer } from '../operatorAnswer.ts'
import type { BalanceReport, MarketFigures } from '../operatorReads.ts'
import type { CandleReads } from './readCandles.ts'
import type { SignalInbox } from './signalInbox.ts'

/** An open intent or an ended one, with its label. */
export interface LabelledIntent extends OrderMarks, LegLookups {
  /** Size of the position on its side by the journal, USD. */
  readonly heldUsd?: bigint
  readonly state: IntentState
  readonly label: Label
  /** The venue's last word on an unresolved attempt. */
  readonly observedStatus?: string
}

/** A running task that makes orders over time. */
export interface RunningTask {
  readonly taskId: string
  readonly kind: string
  /** The request in words. */
  readonly asked: string
  /** The operator or the instance that started it. */
  readonly by: string
  /** Start, Unix ms. */
  readonly sinceMs: number
}

/** Present and past equity of the account, as people see it. */
export interface ShownMark extends Omit<EquityMark, 'shownPeakUsd' | 'dayOpenUsd'> {
  /** Time when the lists of `equityUsd` were read, Unix ms; absent while no lists of one instant were read. */
  readonly equityAtMs?: number
  /** True if the account has moved since then, so that newer lists may be of different instants. */
  readonly isEquitySettling: boolean
  /** Parts of the day's change; absent where the day's first figure has no results of open parts. */
  readonly dayParts?: DayParts
}

/** The whole status. */
export interface EngineStatus {
  readonly version: string
  readonly profile: string
  readonly chain: string
  readonly account: Address
  readonly state: EngineState
  /** Reasons why the engine is not ready for new orders; empty when it is. */
  readonly notReady: readonly string[]
  readonly startedAtMs: number
  readonly nowMs: number
  /** Since the watch over the account last came round, reading or not, ms; absent before its first round. */
  readonly watchedAgoMs?: number
  /** State of the whole daemon; a single strategy may also be halted. */
  readonly tradingState: TradingState
  /** Halts of trading, oldest first; empty while it is active. */
  readonly halts: readonly TradingHalt[]
  /** The newest kill, done or not; absent when there never was one. */
  readonly kill?: KillReport
  /** Present and past equity of the account; absent before the first reading. */
  readonly equity?: ShownMark
  /** The newest deposits and withdrawals, oldest first. */
  readonly transfers: readonly AccountTransfer[]
  /** Remaining approval; absent when the account's own key signs. */
  readonly subaccount?: SubaccountReport
  readonly strategies: readonly StrategyStatus[]
  readonly positions: readonly Position[]
  /** Notes on each of them, in their order: owners, resting exits, collateral. */
  readonly held: readonly HeldRow[]
  /** Positions whose makers do not run: nobody acts on them as it was meant. */
  readonly unmanaged: readonly Unmanaged[]
  /**
   * Positions among `positions` that stop-losses able to fire would not fully close: the remainder (`uncoveredUsd`), and its start. Absent before the
   * first look at the orders.
   */
  readonly withoutStop?: readonly BareSide[]
  /** Number of orders in the account's newest list that no record of ours explains; absent before the first look at the orders. */
  readonly othersOrders?: number
  /** Market symbol by lower-cased market token, for the rows above. */
  readonly symbols: Readonly<Record<string, string>>
  readonly openIntents: readonly LabelledIntent[]
  /** Orders that rest at the venue, other clients' too: by market and side, the highest trigger first. */
  readonly restingOrders: readonly RestingRow[]
  /** Number of orders that can still fill: those that rest, and those in flight. */
  readonly openOrders: number
  /** Discrepancies of the account that the journal cannot explain, and nobody settled. */
  readonly discrepancies: readonly DiscrepancyState[]
  /** Hosts' statements about markets and tokens that contradict our facts, and nobody settled; oldest first. */
  readonly contradictions: readonly (Contradiction & { readonly sinceMs: number })[]
  /** Sides of which a list shows less than the journal knows, a sentence each; increases on their markets wait. */
  readonly hidden: readonly string[]
  /** Positions without a row that can be read, by the journal. Absent: none. */
  readonly unlisted?: readonly UnlistedSide[]
  /** Orders that are to be unwound if they land, oldest first. */
  readonly unwinds: readonly UnwindReport[]
  /** Strategies whose file was removed and of which something is left to do, oldest first. */
  readonly windDowns: readonly WindDownReport[]
  /** Number of running tasks, by kind. */
  readonly tasksRunning: Readonly<Record<string, number>>
  /** Running tasks that make orders over time, oldest first. */
  readonly tasks: readonly RunningTask[]
  readonly unresolved: number
  readonly oldestUnresolvedSeconds: number
  /** Positions, and possible additions by open orders, USD. */
  readonly exposureUsd: bigint
  /** Part of it that may be one fill counted twice, as a position and as an order in flight, USD. */
  readonly exposureMaybeTwiceUsd: bigint
  /** Fills of ours that `positions` does not show yet, a sentence for each side. */
  readonly unlistedFills: readonly string[]
  /** Positions that orders of ours closed in full and the list shows still, a sentence each: they are not in `positions`. */
  readonly closedFills: readonly string[]
  readonly feedAgesMs: Readonly<Partial<Record<Feed, number>>>
  /** Time for which a feed has been older than increases accept, ms: 0 while it is not, absent while nobody reads it. */
  readonly feedsOverdueMs: Readonly<Partial<Record<Feed, number>>>
  readonly apiHosts: readonly string[]
  readonly oracleHosts: readonly string[]
  readonly journal: {
    readonly path: string
    readonly records: number
    readonly intents: number
    /** Holder, epoch and standbys of the server that keeps it; absent: a file does. */
    readonly server?: JournalServer
  }
  readonly evidence: string
  /** The account's budgets of the limits of all accounts together. Absent: there are no such limits. */
  readonly desk?: readonly LimitRow[]
  /** Position of the replay that the venue's prices follow; absent: none. */
  readonly replay?: ReplayPlace
}

/** Returns the reason why the engine is not ready when the journal reserves the last of its space. */
export function shortOfSpace(journalPath: string): string {
  return `the journal ${journalPath} is short of space, so increases wait: free space on its disk, or raise journal.maxMiB`
}

/**
 * Returns the mark with people's figure in place of the breakers' own, and the highest shown figure in place of their peak. The breakers' peak
 * follows a gain a minute and a quarter later; no figure is shown above the peak next to it.
 */
export function shownOf(
  mark: EquityMark,
  { equityUsd, atMs, isSettling = false }: Partial<ShownEquity>,
  peak: ShownPeak,
): ShownMark {
  const figure = equityUsd ?? mark.equityUsd
  const { shownPeakUsd: _, dayOpenUsd: __, ...own } = mark
  return {
    ...own,
    equityUsd: figure,
    peakUsd: peak.raise(mark.peakUsd, figure),
    isEquitySettling: isSettling,
    ...defined({ equityAtMs: atMs }),
  }
}

/** Requests of the control port to a running engine. */
export interface EngineApi {
  status(): EngineStatus
  /** Carries out an operator's command; it is in the journal before anything is done. */
  operate(command: OperatorCommand, commander: Commander): Promise<OperatorAnswer>
  /** Takes a signal from outside whose sender was proven. */
  readonly signal: SignalInbox['receive']
  /** Every market that is known or listed, with where its facts come from and its figures of now. */
  markets(): Promise<readonly MarketFigures[]>
  /** Returns the clock of a host less ours, ms; undefined before enough of its answers gave the time. */
  clockSkewMs(host: string): number | undefined
  /** The price of a market lately. Undefined: there is no such market, or no price of it. Rejects as reading does. */
  readonly candles: CandleReads['candles']
  /** Reads the content of the wallet and positions. Rejects as reading does. */
  balance(): Promise<BalanceReport>
  /** Returns each strategy's part of each position, and the result of each book; with the newest list of positions. */
  books(): readonly BookRow[]
  /** The limits in force. */
  limits(): readonly LimitRow[]
  /** Returns the file content of a running strategy; undefined when none of that name runs. */
  fileOf(strategy: string): { readonly path: string; readonly fields: readonly FileField[] } | undefined
  /** Tasks that make orders over time: those that run, then the newest that ended. */
  tasks(): Promise<readonly TaskReport[]>
  /** Folded intents with labels, newest first. */
  intents(query?: {
    readonly openOnly?: boolean
    readonly strategy?: string
    readonly limit?: number
  }): Promise<readonly LabelledIntent[]>
  /** One intent's whole story, or undefined. */
  story(
    intentId: string,
  ): Promise<{ readonly intent: LabelledIntent; readonly records: readonly StoredRecord[] } | undefined>
}
