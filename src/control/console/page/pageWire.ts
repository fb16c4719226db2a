/**
 * Responses of the control port as the daemon's code types them. The page imports types alone, so a browser loads nothing of the daemon, and a
 * changed response is a type error here. Amounts are integers as decimal text with 30 decimals; token amounts have the token's decimals.
 */
import type { BookRow } from '../../../books/bookView.ts'
import type { FleetReport } from '../../../domain/summaries/fleetReport.ts'
import type { OrderRow, OrderStory, Plain } from '../../../domain/summaries/orderView.ts'
import type { TaskReport } from '../../../domain/summaries/taskReport.ts'
import type { ExplainedOrder } from '../../../monitor/explain/explainParts.ts'
import type { HostRow } from '../../../monitor/hostFigures.ts'
import type { Incident } from '../../../monitor/incidents/incidents.ts'
import type { LastDecision } from '../../../monitor/lastDecisions.ts'
import type { KeptLine, KeptLines } from '../../../monitor/log/logRing.ts'
import type { OperatorAnswer } from '../../../operator/operatorAnswer.ts'
import type { MarketFigures } from '../../../operator/operatorReads.ts'
import type { EngineApi, EngineStatus } from '../../../operator/port/engineStatus.ts'
import type { CandleReport } from '../../../operator/port/readCandles.ts'
import type { AccountRow } from '../../guard/accountRefusals.ts'
import type { FillsBody, PnlBody, RoundTripsBody } from '../resultBodies.ts'
import type { RunRow, RunsReport } from '../runDesk.ts'
import type { SessionRow } from '../sessions.ts'
import type { StartReport } from '../startReport.ts'

/** A row of `GET /api/accounts`. */
export type AccountListed = AccountRow

/** `GET /api/fleet`; null: the daemon is in no fleet. */
export type Fleet = FleetReport

/** `GET /api/status`. */
export type Status = Plain<
  Omit<EngineStatus, 'openIntents'> & {
    readonly openIntents: readonly OrderRow[]
    readonly incidents: readonly Incident[]
  }
>
/** One position of it. */
export type PositionRow = Status['positions'][number]
/** One resting order of it. */
export type RestingOrder = Status['restingOrders'][number]
/** One strategy of it. */
export type StrategyRow = Status['strategies'][number]
/** A row of `GET /api/orders`. */
export type Order = OrderRow
/** `GET /api/orders/:intentId`. */
export type Story = Plain<OrderStory & { readonly explained?: ExplainedOrder }>
/** A row of `GET /api/tasks`. */
export type Task = Plain<TaskReport>
/** A row of `GET /api/books`. */
export type Book = Plain<BookRow>
/** A row of `GET /api/decisions`. */
export type Decision = LastDecision
/** A row of `GET /api/markets`. */
export type Market = Plain<MarketFigures>
/** `GET /api/candles`. */
export type Candles = CandleReport
/** `GET /api/config`. */
export type Start = StartReport
/** A row of `GET /api/hosts`. */
export type Host = HostRow
/** A row of `GET /api/console/sessions`. */
export type OpenSession = SessionRow & { readonly isOwn: boolean }
/** `GET /api/runs`; `page`: where the report of a run is, for this session. */
export type Runs = Omit<RunsReport, 'runs'> & {
  readonly runs: readonly (RunRow & { readonly page?: string })[]
}
/** `GET /api/logs`, and one line of it. */
export type LogLines = KeptLines
/** A line of the log. */
export type LogLine = KeptLine
/** Response to a command that was carried out. */
export type Answer = Extract<Plain<OperatorAnswer>, { readonly ok: true }>
/** A limit in force. */
export type LimitLine = NonNullable<Answer['limits']>[number]

/** `GET /api/round-trips`, and one closed trade of it. */
export type RoundTrips = Plain<RoundTripsBody>
export type ClosedTrade = RoundTrips['rows'][number]
/** `GET /api/pnl`, and one row of it. */
export type PnlAnswer = Plain<PnlBody>
export type PnlLine = PnlAnswer['rows'][number]
/** `GET /api/fills`. */
export type DayFills = Plain<FillsBody>

/** The session of the person logged in. */
export interface Session {
  readonly role: 'read' | 'operate'
  /** Unix ms. */
  readonly expiresAtMs: number
  /** Share of the equity above which the size of an order is typed before it is sent, bps. */
  readonly typedSizeBps: number
}

/** A session that began just now. */
export interface BegunSession {
  /** The half of it that this page keeps. */
  readonly pageKey: string
}

/** The same where nobody is logged in. */
export interface NoSession {
  readonly role: null
}

/** `GET /api/strategies/:name/file`. */
export type StrategyFile = Plain<NonNullable<ReturnType<EngineApi['fileOf']>>>

/** One figure of `GET /api/equity`. */
export interface EquityPoint {
  /** Unix ms. */
  readonly atMs: number
  /** USD. */
  readonly equityUsd: string
}
