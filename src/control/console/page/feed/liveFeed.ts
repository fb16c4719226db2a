/**
 * Keeps the page's state up to date: by the daemon's stream, and by reading now and then what is not in it. What comes is taken in
 * batches, so that a flood of log lines draws no more than ten times a second.
 */

import { settleAccount } from '../pageAccount.ts'
import { type Answered, read, send } from '../pageApi.ts'
import type {
  AccountListed,
  BegunSession,
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
} from '../pageWire.ts'
import { mostOrders } from '../store/pageOrders.ts'
import type { Change } from '../store/pageState.ts'
import type { PageStore } from '../store/pageStore.ts'
import { openStream } from './eventStream.ts'
import { createPageKey, shown, takeLinkKey } from './pageKey.ts'

/** The feed. */
export interface LiveFeed {
  /** Finds out who is logged in, and begins. */
  begin(): Promise<void>
  /** Reads what a command may have changed. */
  refresh(): void
  /** Loads orders that are older than the newest. */
  loadOlder(): Promise<void>
  /** Begins a session with a token. */
  logIn(token: string): Promise<Answered<unknown>>
  /** Asks for a change under the session. */
  change<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered<T>>
  /** Ends the session; the page goes on where the daemon did not say that it is ended. */
  logOut(): Promise<Answered<unknown>>
}

const sessionPath = '/console/session'
const enterPath = '/console/enter'
/** Between two takings, ms. */
const batchMs = 100
/** Between two tries to begin, ms. */
const retryMs = 3_000
/** Longest wait for the beginning of the stream, ms. */
const firstMs = 1_500
/** Intervals at which the page reads the bodies that the stream does not carry, ms. */
const [booksMs, limitsMs, marketsMs] = [5_000, 10_000, 20_000]
/** A tick that comes so late follows a sleep of the machine; browsers slow the ticks of a hidden page to one a minute, ms. */
const sleepMs = 20_000
/** Lines read at the beginning. */
const firstLines = 500
/** So many orders more are asked for each time, of what the page keeps. */
const olderOrders = 1_000

/** A feed into a store. */
export function createLiveFeed(store: PageStore): LiveFeed {
  let waiting: Change[] = []
  /** Counts openings of the stream: an answer that was asked for before the newest one is dropped. */
  let opening = 0
  /** True once a status came since: until then nothing that arrives makes old prices live. */
  let isFresh = false
  let isOpened = false
  let lastTickMs = Date.now()
  let closeStream: (() => void) | undefined
  let linkKey: string | undefined
  let isLinkOver = false
  const pageKey = createPageKey(() => void begin())
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
    // Messages in flight when the session ended are dropped.
    if (typeof store.get().session === 'string') return
    store.take(...rest, ...(lines.length === 0 ? [] : [{ type: 'lines', lines } as const]))
  }

  async function load<T>(path: string, changeOf: (value: T) => Change): Promise<void> {
    const asked = opening
    const answer = await read<T>(path)
    if (answer.ok && asked === opening) arrived(changeOf(answer.value))
    else if (answer.ok) return
    else if (answer.status === 401) end()
  }

  function arrived(change: Change): void {
    if (change.type === 'status') {
      isFresh = true
      if (isOpened) take({ type: 'stream', stream: 'open' })
    }
    take(change, ...(isFresh ? [{ type: 'heard', nowMs: Date.now() } as const] : []))
  }

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
    closeStream?.()
    opening += 1
    isFresh = false
    isOpened = false
    closeStream = openStream('/api/stream', {
      // It is live once it has told a status.
      opened() {
        isFresh = false
        isOpened = true
      },
      event({ name, data }) {
        if (name === 'reset') readAll()
        const change = name === 'reset' ? undefined : told(name, JSON.parse(data))
        if (change !== undefined) arrived(change)
      },
      lost() {
        isOpened = false
        take({ type: 'stream', stream: 'lost' })
      },
      refused() {
        isOpened = false
        take({ type: 'stream', stream: 'lost' })
        // The session may be over.
        again()
      },
    })
  }

  function told(name: string, value: unknown): Change | undefined {
    if (name === 'status') return statusOf(value as Status)
    if (name === 'orders') return { type: 'orders', orders: value as readonly Order[] }
    if (name === 'tasks') return { type: 'tasks', tasks: value as readonly Task[] }
    return name === 'log' ? { type: 'lines', lines: [value as LogLine] } : undefined
  }

  function again(): void {
    clearTimeout(retry)
    retry = setTimeout(() => void begin(), retryMs)
  }

  function every(ms: number, act: () => void): void {
    timers.add(setInterval(() => document.visibilityState === 'visible' && act(), ms))
  }

  /** The machine slept: what arrives on the connection of before may be as old as that, so another one is opened. */
  function wake(): void {
    const nowMs = Date.now()
    const sleptMs = nowMs - lastTickMs
    lastTickMs = nowMs
    if (sleptMs < sleepMs || closeStream === undefined) return
    waiting = []
    store.take({ type: 'stream', stream: 'lost' })
    listen()
  }

  function stop(): void {
    closeStream?.()
    closeStream = undefined
    clearTimeout(retry)
    clearTimeout(first)
    for (const timer of timers) clearInterval(timer)
    timers.clear()
  }

  /** Nobody is logged in any more, or nobody was. */
  function end(): void {
    stop()
    pageKey.drop()
    const { session } = store.get()
    const wasNobody = session === 'unknown' || session === 'none' || session === 'link-over'
    store.take({ type: 'session', session: wasNobody ? 'none' : 'over' })
  }

  async function change<T>(method: 'POST' | 'DELETE', path: string, body?: unknown): Promise<Answered<T>> {
    const answer = await send<T>(method, path, body)
    if (!answer.ok && answer.status === 401) end()
    return answer
  }

  /** The session of this tab, or of another one where this has none. */
  async function readSession(): Promise<Answered<Session | NoSession>> {
    const own = await read<Session | NoSession>(sessionPath)
    if (!own.ok || own.value.role !== null || !(await pageKey.askTabs())) return own
    return await read(sessionPath)
  }

  /** Begins a session: the page's half of it is kept here. */
  async function enter(path: string, body: unknown): Promise<Answered<BegunSession>> {
    const answer = await send<BegunSession>('POST', path, body)
    if (answer.ok) pageKey.begun(answer.value.pageKey)
    return answer
  }

  /** Trades in the key of a link; false where that is to be tried again. */
  async function enterByLink(): Promise<boolean> {
    if (linkKey === undefined) return true
    await shown()
    const entered = await enter(enterPath, { key: linkKey })
    if (!entered.ok && entered.status === 0) return false
    linkKey = undefined
    if (!entered.ok) isLinkOver = true
    return true
  }

  async function begin(): Promise<void> {
    linkKey = takeLinkKey() ?? linkKey
    if (!(await enterByLink())) return again()
    const answer = await readSession()
    if (!answer.ok) {
      if (answer.status === 401) return end()
      return again()
    }
    if (answer.value.role === null) {
      end()
      if (isLinkOver) store.take({ type: 'session', session: 'link-over' })
      isLinkOver = false
      return
    }
    isLinkOver = false
    stop()
    const listed = await read<readonly AccountListed[]>('/api/accounts')
    if (!listed.ok) return again()
    // An account that runs here is shown before one that waits.
    const running = listed.value.toSorted((one, other) => Number(other.isRunning) - Number(one.isRunning))
    settleAccount(running.map(({ name }) => name))
    store.take({ type: 'session', session: answer.value }, { type: 'accounts', accounts: listed.value })
    listen()
    // The stream begins with a reset, which reads all; where there is no stream, what can be read is shown all the same.
    first = setTimeout(readAll, firstMs)
    lastTickMs = Date.now()
    timers.add(setInterval(wake, 1_000))
    every(booksMs, readBooks)
    every(limitsMs, readLimits)
    every(marketsMs, readMarkets)
  }

  // A link that is opened in a tab with the page loads nothing anew.
  addEventListener('hashchange', () => {
    if (location.hash.startsWith('#key=')) void begin()
  })

  return {
    begin,
    async logIn(token) {
      const answer = await enter(sessionPath, { token })
      if (answer.ok) await begin()
      return answer
    },
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
      if (answer.ok) {
        pageKey.drop()
        store.take({ type: 'session', session: 'none' })
      }
      if (!answer.ok && typeof store.get().session !== 'string') void begin()
      return answer
    },
  }
}
