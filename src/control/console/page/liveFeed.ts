/**
 * Keeps the page's state up to date: by the daemon's stream, and by reading now and then what is not in it. What comes is taken in
 * batches, so that a flood of log lines draws no more than ten times a second.
 */
import { type Answered, read, send } from './pageApi.ts'
import { mostOrders } from './pageOrders.ts'
import type { Change } from './pageState.ts'
import type { PageStore } from './pageStore.ts'
import type {
  Book,
  Decision,
  EquityPoint,
  Host,
  LimitLine,
  LogLine,
  LogLines,
  Market,
  NoSession,
  Order,
  Session,
  Status,
  Task,
} from './pageWire.ts'

/** The feed. */
export interface LiveFeed {
  /** Finds out who is logged in, and begins. */
  begin(): Promise<void>
  /** Reads what a command may have changed. */
  refresh(): void
  /** Loads orders that are older than the newest. */
  loadOlder(): Promise<void>
  /** Asks for a change with the session's word. */
  change<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered<T>>
  /** Ends the session; the page goes on where the daemon did not say that it is ended. */
  logOut(): Promise<Answered<unknown>>
}

const sessionPath = '/console/session'
/** Between two takings, ms. */
const batchMs = 100
/** Between two tries to open the stream, ms. */
const retryMs = 3_000
/** How long the beginning of the stream is waited for, ms. */
const firstMs = 1_500
/** How often what is not in the stream is read, ms. */
const [booksMs, limitsMs, marketsMs] = [5_000, 10_000, 20_000]
/** Lines read at the beginning. */
const firstLines = 500
/** So many orders more are asked for each time, of what the page keeps. */
const olderOrders = 1_000

/** A feed into a store. */
export function createLiveFeed(store: PageStore): LiveFeed {
  let waiting: Change[] = []
  let stream: EventSource | undefined
  const timers = new Set<ReturnType<typeof setInterval>>()
  let retry: ReturnType<typeof setTimeout> | undefined
  let first: ReturnType<typeof setTimeout> | undefined

  function take(...changes: readonly Change[]): void {
    if (waiting.length === 0) setTimeout(flush, batchMs)
    waiting.push(...changes)
  }

  function flush(): void {
    const changes = waiting
    waiting = []
    // Lines of one batch are one change: each by itself would copy the log once.
    const lines = changes.flatMap((change) => (change.type === 'lines' ? change.lines : []))
    const rest = changes.filter(({ type }) => type !== 'lines')
    // What was on its way when the session ended is of nobody any more.
    if (typeof store.get().session === 'string') return
    store.take(...rest, ...(lines.length === 0 ? [] : [{ type: 'lines', lines } as const]))
  }

  async function load<T>(path: string, changeOf: (value: T) => Change): Promise<void> {
    const answer = await read<T>(path)
    if (answer.ok) take(changeOf(answer.value), heard())
    else if (answer.status === 401) end()
  }

  const heard = (): Change => ({ type: 'heard', nowMs: Date.now() })
  const statusOf = (status: Status): Change => ({ type: 'status', status, nowMs: Date.now() })

  function readBooks(): void {
    void load<readonly Book[]>('/api/books', (books) => ({ type: 'books', books }))
    void load<readonly Decision[]>('/api/decisions', (decisions) => ({ type: 'decisions', decisions }))
    void load<readonly Host[]>('/api/hosts', (hosts) => ({ type: 'hosts', hosts }))
  }

  function readMarkets(): void {
    void load<readonly Market[]>('/api/markets', (markets) => ({ type: 'markets', markets }))
  }

  function readLimits(): void {
    void load<readonly LimitLine[]>('/api/limits', (limits) => ({ type: 'limits', limits }))
  }

  function readStreamed(): void {
    void load<Status>('/api/status', statusOf)
    void load<readonly Order[]>('/api/orders', (orders) => ({ type: 'orders', orders }))
    void load<readonly Task[]>('/api/tasks', (tasks) => ({ type: 'tasks', tasks }))
    void load<LogLines>(`/api/logs?limit=${firstLines}`, (log) => ({ type: 'log', log }))
  }

  function readAll(): void {
    clearTimeout(first)
    readStreamed()
    readBooks()
    readMarkets()
    readLimits()
    // A daemon that keeps no curve answers 404, and the page's own goes on.
    void load<readonly EquityPoint[]>('/api/equity', (points) => ({ type: 'equity', points }))
  }

  function listen(): void {
    stream?.close()
    const opened = new EventSource('/api/stream')
    stream = opened
    const on = <T>(name: string, changeOf: (value: T) => Change) =>
      opened.addEventListener(name, ({ data }: MessageEvent<string>) =>
        take(changeOf(JSON.parse(data) as T), heard()),
      )
    on<Status>('status', statusOf)
    on<readonly Order[]>('orders', (orders) => ({ type: 'orders', orders }))
    on<readonly Task[]>('tasks', (tasks) => ({ type: 'tasks', tasks }))
    on<LogLine>('log', (line) => ({ type: 'lines', lines: [line] }))
    opened.addEventListener('reset', readAll)
    opened.addEventListener('open', () => take({ type: 'stream', stream: 'open' }, heard()))
    opened.addEventListener('error', () => {
      take({ type: 'stream', stream: 'lost' })
      // A browser tries again by itself, but for an answer that is no stream: then the session may be over.
      if (opened.readyState === EventSource.CLOSED) again()
    })
  }

  function again(): void {
    clearTimeout(retry)
    retry = setTimeout(() => void begin(), retryMs)
  }

  function every(ms: number, act: () => void): void {
    timers.add(setInterval(() => document.visibilityState === 'visible' && act(), ms))
  }

  function stop(): void {
    stream?.close()
    stream = undefined
    clearTimeout(retry)
    clearTimeout(first)
    for (const timer of timers) clearInterval(timer)
    timers.clear()
  }

  /** Nobody is logged in any more, or nobody was. */
  function end(): void {
    stop()
    const { session } = store.get()
    store.take({ type: 'session', session: session === 'unknown' || session === 'none' ? 'none' : 'over' })
  }

  async function change<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered<T>> {
    const ask = () => {
      const { session } = store.get()
      const csrf = typeof session === 'string' ? '' : session.csrf
      return send<T>(method, path, { csrf, ...(body === undefined ? {} : { body }) })
    }
    const answer = await ask()
    if (answer.ok) return answer
    if (answer.status === 401) end()
    if (answer.code !== 'CSRF_REFUSED') return answer
    // Nothing was done: another log-in of this browser took the session's place, as in another tab, and has a word of its own.
    const now = await readSession()
    if (!now.ok || now.value.role === null) return answer
    store.take({ type: 'session', session: now.value })
    return await ask()
  }

  const readSession = (): Promise<Answered<Session | NoSession>> => read(sessionPath)

  async function begin(): Promise<void> {
    const answer = await readSession()
    if (!answer.ok) {
      if (answer.status === 401) return end()
      return again()
    }
    if (answer.value.role === null) return end()
    stop()
    store.take({ type: 'session', session: answer.value })
    listen()
    // The stream begins with a reset, which reads all; where there is no stream, what can be read is shown all the same.
    first = setTimeout(readAll, firstMs)
    every(booksMs, readBooks)
    every(limitsMs, readLimits)
    every(marketsMs, readMarkets)
  }

  return {
    begin,
    refresh() {
      readStreamed()
      readBooks()
      readLimits()
    },
    loadOlder: () => {
      const asked = Math.min(mostOrders, store.get().orders.length + olderOrders)
      return load<readonly Order[]>(`/api/orders?limit=${asked}`, (orders) => ({
        ...{ type: 'all-orders', orders, asked },
      }))
    },
    change,
    async logOut() {
      // First: the daemon cuts the stream of a session that ended.
      stop()
      const answer = await change('DELETE', sessionPath)
      if (answer.ok) store.take({ type: 'session', session: 'none' })
      else if (typeof store.get().session !== 'string') void begin()
      return answer
    },
  }
}
