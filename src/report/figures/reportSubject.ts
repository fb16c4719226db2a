/** The subject of a report: one backtest, or one journal of a paper or live account. Every part of a report reads these values alone. */
import type { Direction } from '../../protocol/market.ts'
import type { Usd } from '../../protocol/units.ts'

/** The account's worth at a moment. */
export interface EquityMoment {
  /** Unix seconds. */
  readonly second: number
  readonly equityUsd: Usd
  /** The worth of the beginning, had it been held in the index assets; null where no prices say so. */
  readonly holdUsd: Usd | null
  /** Open positions by size; null where the source has no figure. */
  readonly longUsd: Usd | null
  readonly shortUsd: Usd | null
}

/** A deposit (positive) or a withdrawal. */
export interface Transfer {
  readonly second: number
  readonly amountUsd: Usd
}

/** One trade: what a strategy did on one side of a market from nothing to nothing. */
export interface Trade {
  readonly strategy: string
  /** Full symbol. */
  readonly market: string
  readonly side: Direction
  readonly openedSecond: number
  /** Null while it is open at the end. */
  readonly closedSecond: number | null
  /** All that was opened, USD. */
  readonly sizeUsd: Usd
  /** USD per whole index token; null where no evidence shows it. */
  readonly entryPrice: Usd | null
  readonly exitPrice: Usd | null
  /** Fees, and what price impact took, USD; positive is a cost. */
  readonly costsUsd: Usd
  /** After all its costs; of an open one what is realized so far. */
  readonly resultUsd: Usd
  /** The strategy's reason for what opened it; the reason or the name of the exit that closed it. */
  readonly openReason: string
  readonly closeReason: string
  /** Stories of its orders, oldest first, each once. */
  readonly intentIds: readonly string[]
}

/** A candle of a market that was traded; USD per whole index token. */
export interface ReportCandle {
  readonly market: string
  readonly second: number
  readonly open: Usd
  readonly high: Usd
  readonly low: Usd
  readonly close: Usd
}

/** Costs by kind, USD; positive is a cost. Their sum is all that trading cost. */
export interface ReportCosts {
  readonly positionFeeUsd: Usd
  readonly impactUsd: Usd
  readonly fundingUsd: Usd
  readonly borrowingUsd: Usd
  /** The keepers' part of sending messages. */
  readonly executionUsd: Usd
  /** The rest of sending messages. */
  readonly relayUsd: Usd
  readonly swapUsd: Usd
  readonly liquidationUsd: Usd
}

/** The story of an order in words, for people; its times are UTC. */
export interface OrderStory {
  /** The order and where it stands. */
  readonly title: string
  /** Decision, events and results, in the order in which they are read. */
  readonly parts: readonly { readonly title: string; readonly texts: readonly string[] }[]
}

/** All that a report is made of. */
export interface ReportSubject {
  /** Names of the strategies, or of the account. */
  readonly title: string
  /** Tells it from others beside it: the name of its folder or file. */
  readonly name: string
  readonly source: 'backtest' | 'journal'
  /** False where price impact was left out: the page then says that it shows no result. */
  readonly isResult: boolean
  /** Sentences, in their order; shown before any figure. */
  readonly assumptions: readonly string[]
  /** Unix seconds. */
  readonly fromSeconds: number
  readonly toSeconds: number
  /** In the order of time. */
  readonly equity: readonly EquityMoment[]
  readonly transfers: readonly Transfer[]
  /** In the order in which they began. */
  readonly trades: readonly Trade[]
  /** The sizes of all fills, added up, USD. */
  readonly turnoverUsd: Usd
  readonly candles: readonly ReportCandle[]
  readonly costs: ReportCosts
  /** Path of the journal that has the orders' stories. */
  readonly journalPath: string
  /** Every setting that decides the result, as text by its name; two reports are compared by it. */
  readonly configuration: Readonly<Record<string, string>>
}
