/** The page's state, and the change that each message makes to it. Pure: the page draws this and nothing else. */
import type { SentMove } from '../chart/levelMoves.ts'
import type {
  AccountListed,
  Book,
  Decision,
  EquityPoint,
  Host,
  LimitLine,
  LogLine,
  LogLines,
  Market,
  Order,
  Session,
  Status,
  Story,
  Task,
} from '../pageWire.ts'
import { type KnownOrders, withNewest, withOlder, withOpen } from './pageOrders.ts'
import { sameWhereEqual } from './sameRows.ts'

/** State that the page draws. */
export interface PageState extends KnownOrders {
  /** `over`: it ended by another hand, or by itself. */
  readonly session: Session | 'unknown' | 'none' | 'over' | 'link-over'
  /** Accounts of a daemon with several; empty: it has one without a name. */
  readonly accounts: readonly AccountListed[]
  /** State of the stream's connection. */
  readonly stream: 'connecting' | 'open' | 'lost'
  /** When the daemon was last heard of, by the page's own clock, Unix ms. */
  readonly heardAtMs?: number
  readonly status?: Status
  /** Lead of the daemon's clock over the page's, ms. */
  readonly aheadMs: number
  readonly tasks: readonly Task[]
  readonly books: readonly Book[]
  readonly decisions: readonly Decision[]
  readonly markets: readonly Market[]
  readonly hosts: readonly Host[]
  readonly limits?: readonly LimitLine[]
  /** Oldest first, and of which run of the daemon. */
  readonly log: { readonly runId: string; readonly lines: readonly LogLine[] }
  /** Oldest first. */
  readonly equity: readonly EquityPoint[]
  /** The order whose story is open; its story once it was read. */
  readonly shown?: { readonly intentId: string; readonly story?: Story; readonly problem?: string }
  /** Moves of resting orders that were sent from this page, until the venue shows them. */
  readonly moves: readonly SentMove[]
  /** Text that rows must contain, in lower case; empty: all rows are shown. */
  readonly find: string
}

/** A change of the page's state. `nowMs`: the page's clock, Unix ms. */
export type Change =
  | { readonly type: 'session'; readonly session: PageState['session'] }
  | { readonly type: 'stream'; readonly stream: PageState['stream'] }
  | { readonly type: 'heard'; readonly nowMs: number }
  | { readonly type: 'status'; readonly status: Status; readonly nowMs: number }
  | { readonly type: 'orders'; readonly orders: readonly Order[] }
  | { readonly type: 'all-orders'; readonly orders: readonly Order[]; readonly asked: number }
  | { readonly type: 'tasks'; readonly tasks: readonly Task[] }
  | { readonly type: 'books'; readonly books: readonly Book[] }
  | { readonly type: 'accounts'; readonly accounts: readonly AccountListed[] }
  | { readonly type: 'decisions'; readonly decisions: readonly Decision[] }
  | { readonly type: 'markets'; readonly markets: readonly Market[] }
  | { readonly type: 'hosts'; readonly hosts: readonly Host[] }
  | { readonly type: 'limits'; readonly limits: readonly LimitLine[] }
  | { readonly type: 'lines'; readonly lines: readonly LogLine[] }
  | { readonly type: 'log'; readonly log: LogLines }
  | { readonly type: 'equity'; readonly points: readonly EquityPoint[] }
  | { readonly type: 'show'; readonly intentId?: string }
  | { readonly type: 'story'; readonly intentId: string; readonly story: Story }
  | { readonly type: 'no-story'; readonly intentId: string; readonly problem: string }
  | { readonly type: 'find'; readonly text: string }
  | { readonly type: 'moved'; readonly move: SentMove }
  | { readonly type: 'move-over'; readonly orderKey: string }

/** Most lines of the log and figures of the equity that the page keeps. */
export const mostLines = 2_000
const mostPoints = 6_000

/** Before anything was heard. */
export const emptyPage: PageState = {
  session: 'unknown',
  stream: 'connecting',
  accounts: [],
  aheadMs: 0,
  orders: [],
  isAllOrders: false,
  tasks: [],
  books: [],
  decisions: [],
  markets: [],
  hosts: [],
  log: { runId: '', lines: [] },
  equity: [],
  moves: [],
  find: '',
}

/** The state after a change. What did not change stays the same value, so that nothing of it is drawn again. */
export function fold(state: PageState, change: Change): PageState {
  switch (change.type) {
    case 'session':
      // Whoever logs out leaves nothing of the account on the screen.
      return typeof change.session === 'string' && change.session !== 'unknown'
        ? { ...emptyPage, session: change.session }
        : { ...state, session: change.session }
    case 'accounts':
      return { ...state, accounts: change.accounts }
    case 'stream':
      return state.stream === change.stream ? state : { ...state, stream: change.stream }
    case 'heard':
      return { ...state, heardAtMs: change.nowMs }
    case 'status':
      return withStatus(state, change.status, change.nowMs)
    case 'orders':
      return { ...state, ...withNewest(state, change.orders) }
    case 'all-orders':
      return { ...state, ...withOlder(state, change.orders, change.asked) }
    case 'tasks':
      return { ...state, tasks: sameWhereEqual(state.tasks, change.tasks, ({ taskId }) => taskId) }
    case 'books':
      return { ...state, books: change.books }
    case 'decisions':
      return {
        ...state,
        decisions: sameWhereEqual(state.decisions, change.decisions, ({ strategy }) => strategy),
      }
    case 'markets':
      return { ...state, markets: change.markets }
    case 'hosts':
      return { ...state, hosts: sameWhereEqual(state.hosts, change.hosts, ({ name }) => name) }
    case 'limits':
      return { ...state, limits: sameWhereEqual(state.limits ?? [], change.limits, limitKey) }
    case 'lines':
      return { ...state, log: { ...state.log, lines: withLines(state.log.lines, change.lines) } }
    case 'log':
      return { ...state, log: withLog(state.log, change.log) }
    case 'equity':
      return { ...state, equity: mergedPoints(change.points, state.equity) }
    case 'find':
      return { ...state, find: change.text.trim().toLowerCase() }
    case 'moved':
      return { ...state, moves: [...withoutMove(state, change.move.orderKey), change.move] }
    case 'move-over':
      return { ...state, moves: withoutMove(state, change.orderKey) }
    default:
      return shownAfter(state, change)
  }
}

/** The order whose story is open, after a change of it. A story that comes late, of one that is open no more, is left out. */
function shownAfter(
  state: PageState,
  change: Extract<Change, { readonly type: 'show' | 'story' | 'no-story' }>,
): PageState {
  if (change.type === 'show') {
    const { shown: _, ...rest } = state
    return change.intentId === undefined ? rest : { ...rest, shown: { intentId: change.intentId } }
  }
  if (state.shown?.intentId !== change.intentId) return state
  const { intentId } = change
  return change.type === 'story'
    ? { ...state, shown: { intentId, story: change.story } }
    : { ...state, shown: { intentId, problem: change.problem } }
}

function withStatus(state: PageState, status: Status, nowMs: number): PageState {
  const { equity } = status
  const point =
    equity?.equityAtMs === undefined ? [] : [{ atMs: equity.equityAtMs, equityUsd: equity.equityUsd }]
  const newest = state.equity.at(-1)
  const isNew = point.some(({ atMs }) => newest === undefined || atMs > newest.atMs)
  return {
    ...state,
    ...withOpen(state, status.openIntents),
    aheadMs: status.nowMs - nowMs,
    status: {
      ...status,
      strategies: sameWhereEqual(state.status?.strategies ?? [], status.strategies, nameOf),
    },
    equity: isNew ? thinned([...state.equity, ...point]) : state.equity,
  }
}

function withoutMove({ moves }: PageState, orderKey: string): PageState['moves'] {
  return moves.filter((move) => move.orderKey !== orderKey)
}

const nameOf = ({ name }: Status['strategies'][number]): string => name

function withLog(known: PageState['log'], { runId, lines }: LogLines): PageState['log'] {
  // Numbers of another run say nothing here.
  return { runId, lines: runId === known.runId ? withLines(known.lines, lines) : lines.slice(-mostLines) }
}

/** Lines with those that came, each number once. A stream that begins anew tells some of them again. */
function withLines(known: readonly LogLine[], came: readonly LogLine[]): readonly LogLine[] {
  const newest = known.at(-1)?.seq ?? 0
  const isInOrder = came.every(({ seq }, index) => seq > (came[index - 1]?.seq ?? newest))
  if (isInOrder) return [...known, ...came].slice(-mostLines)
  const bySeq = new Map([...known, ...came].map((line) => [line.seq, line]))
  return [...bySeq.values()].toSorted((one, other) => one.seq - other.seq).slice(-mostLines)
}

function mergedPoints(before: readonly EquityPoint[], own: readonly EquityPoint[]): readonly EquityPoint[] {
  const lastMs = before.at(-1)?.atMs ?? 0
  return thinned([...before, ...own.filter(({ atMs }) => atMs > lastMs)])
}

/** No more points than the page keeps: of the older half every second one goes. */
function thinned(points: readonly EquityPoint[]): readonly EquityPoint[] {
  if (points.length <= mostPoints) return points
  const half = Math.floor(points.length / 2)
  return thinned(points.filter((_, index) => index >= half || index % 2 === 0))
}

const limitKey = ({ scope, limit }: LimitLine): string => `${scope} ${limit}`
