/** Books as a snapshot keeps them, and how far back they are kept. */
import type { PositionSide } from '../domain/accountRecords/accountRecord.ts'
import type { FillCosts } from '../domain/order/orderLegs.ts'
import type { ExitOrdersState } from './exitOrders.ts'
import type { Figures } from './figures.ts'
import type { SideState } from './sideLog.ts'
import type { Part } from './sideParts.ts'
import type { StopEndsState } from './stopEnds.ts'
import type { StopLevelsState } from './stopLevels.ts'
import type { TrackRecord } from './trackRecord.ts'

/** Retention of results by day and by fill. */
export interface BooksKept {
  readonly days: number
  readonly fills: number
}

/** Retention of a daemon: today and the day before (clocks differ), and the newest fills. */
export const daemonKeeps: BooksKept = { days: 2, fills: 1_000 }
/** All that there is. */
export const keepsAll: BooksKept = { days: Number.POSITIVE_INFINITY, fills: Number.POSITIVE_INFINITY }

type Entry<T> = readonly [key: string, value: T]

/** Books as a snapshot keeps them. */
export interface BooksState {
  readonly sides: readonly (Omit<SideState, 'parts'> & {
    readonly side: PositionSide
    readonly parts: readonly Entry<Part>[]
  })[]
  readonly totals: readonly KeptFigures[]
  readonly days: readonly (KeptFigures & { readonly dayMs: number })[]
  readonly tracks: readonly Entry<TrackRecord>[]
  readonly fills: readonly Entry<FillCosts>[]
  readonly exitOrders: ExitOrdersState
  readonly stopEnds: StopEndsState
  readonly stopLevels: StopLevelsState
}

/** Results of a book. */
export interface KeptFigures {
  readonly strategy: string
  readonly side: PositionSide
  readonly figures: Figures
}

/** Before the first record. */
export const noBooks: BooksState = {
  ...{ sides: [], totals: [], days: [], tracks: [], fills: [] },
  exitOrders: { orders: [], changes: [] },
  stopEnds: { resting: [], ended: [] },
  stopLevels: { stops: [], lost: [] },
}
