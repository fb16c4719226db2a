/**
 * One connection to PostgreSQL, made when it is needed. Of several hosts every one is asked at each connection, and the newest primary is used: after a
 * failover the old one may answer first, and take records. Each request has its own timer: at its end the connection is destroyed and the
 * outcome is not known. The server is never asked to cancel: a cancelled wait would answer with a success that is none. A warning inside a
 * request is the same, since that is how a server says that a commit may not have reached its standby.
 */
import { randomUUID } from 'node:crypto'
import { Socket } from 'node:net'
import type { Client, DatabaseError } from 'pg'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { urlsOf } from '../../base/hostList.ts'
import type { Secret } from '../../base/secret.ts'
import { OutcomeUnknown } from '../fenced/sharedServer.ts'
import { journalFault } from '../journalFaults.ts'
import { askFacts, refusalOf, type ServerFacts } from './postgresDemands.ts'

/** Where a journal is, and what its server must be. */
export interface PostgresPlace {
  readonly url: Secret
  /** The place for messages, without secrets. */
  readonly name: string
  readonly needsStandby: boolean
  /** True: that server must be connected to this one when the connection is made. Not for a daemon that runs. */
  readonly needsFollower?: boolean
  /** Longest time of a request, ms. */
  readonly requestMs: number
  /** The newest timeline that any connection saw. */
  readonly seen: { timeline: number }
}

/** A row as text, number, boolean or null. */
export type Row = Readonly<Record<string, unknown>>

/** The rows of a response, and how many were changed. */
export interface Response {
  readonly rows: readonly Row[]
  readonly count: number
}

/** Codes by which another try, or another server, may do: connections, shutdowns, read-only, resources, deadlocks. */
const passing = /^(?:08|53|57P|25006|40001|40P01)/
/** Codes that the operator must put right: rights, passwords, names. */
const refused = /^(?:28|3D|42501)/

/** A connection. */
export interface PostgresClient {
  /** One statement. `name`: it is prepared once. Throws OutcomeUnknown, or JournalFaultError for a definite refusal. */
  query(text: string, values: readonly unknown[], name?: string): Promise<Response>
  /** The facts of the server as it answered when the connection was made; connects where it is not. */
  facts(): Promise<ServerFacts>
  close(): Promise<void>
}

interface Session {
  readonly client: Client
  readonly socket: Socket
  readonly facts: ServerFacts
  isDoubtful: boolean
  isGone: boolean
}

/**
 * Makes one; nothing is connected before the first request. `isOneSession`: a session that broke is not replaced, since what was begun in it, such as a
 * transaction, is gone with it.
 */
export function createPostgresClient(place: PostgresPlace, isOneSession = false): PostgresClient {
  const { name, seen } = place
  let session: Promise<Session> | undefined
  let isClosed = false
  let wasMade = false

  function drop(gone: Session): void {
    gone.isGone = true
    gone.socket.destroy()
    session = undefined
  }

  async function connect(): Promise<Session> {
    if (isClosed) throw unknown('the connection was closed')
    const urls = urlsOf(place.url.reveal())
    const asked = await Promise.allSettled(urls.map((url) => sessionAt(place, url.href)))
    const answers = asked.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []))
    const newest = newestPrimary(answers)
    for (const other of answers) if (other !== newest) other.socket.destroy()
    if (newest === undefined) throw worstOf(asked.map((each) => (each as PromiseRejectedResult).reason))
    const { facts, mark } = newest
    const { needsStandby, needsFollower = false } = place
    const fault = refusalOf(name, facts, { needsStandby, needsFollower, mark, timeline: seen.timeline })
    if (fault !== undefined) {
      newest.socket.destroy()
      throw fault
    }
    seen.timeline = Math.max(seen.timeline, facts.timeline ?? 0)
    return newest
  }

  async function open(): Promise<Session> {
    const before = await session?.catch(() => undefined)
    if (before !== undefined && !before.isGone) return before
    if (isOneSession && wasMade) throw unknown('the connection broke, and with it the view of one moment')
    const next = connect()
    session = next
    next.catch(() => {
      if (session === next) session = undefined
    })
    const made = await next
    wasMade = true
    return made
  }

  /** One request at a time: what a server says in between belongs to it. */
  let turn: Promise<unknown> = Promise.resolve()
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const next = turn.then(work)
    turn = next.catch(() => undefined)
    return next
  }

  return {
    query: (text, values, statement) =>
      inTurn(async () => {
        const held = await open()
        held.isDoubtful = false
        try {
          const request = held.client.query({
            text,
            values: [...values],
            ...defined({ name: statement }),
          })
          const { rows, rowCount } = await within(place.requestMs, held.socket, request)
          if (held.isDoubtful) throw unknown('the server answered with a warning')
          return { rows, count: rowCount ?? 0 }
        } catch (error) {
          const fault = faultOf(place, error)
          // After a definite answer the session is as good as before.
          if (fault instanceof OutcomeUnknown) drop(held)
          throw fault
        }
      }),
    facts: () => inTurn(async () => (await open()).facts),
    async close() {
      isClosed = true
      const held = await session?.catch(() => undefined)
      session = undefined
      if (held === undefined || held.isGone) return
      const ended = held.client.end().catch(() => undefined)
      await within(place.requestMs, held.socket, ended).catch(() => undefined)
    },
  }
}

interface Answer extends Session {
  /** The text that was set in the session. */
  readonly mark: string
}

/** Connects to one server and asks for its facts. Throws OutcomeUnknown and JournalFaultError. */
async function sessionAt(place: PostgresPlace, url: string): Promise<Answer> {
  const { default: pg } = await import('pg')
  const { requestMs } = place
  const socket = new Socket()
  const client = new pg.Client({
    connectionString: url,
    stream: () => socket,
    keepAlive: true,
    application_name: 'perpd',
    fallback_application_name: 'perpd',
  })
  const made = { client, socket, mark: randomUUID(), isDoubtful: false, isGone: false }
  client.on('notice', ({ severity, code }) => {
    if (severity === 'WARNING' || code?.startsWith('01') === true) made.isDoubtful = true
  })
  // A connection that breaks at rest is found broken by the next request.
  client.on('error', () => {
    made.isGone = true
  })
  const ask = (text: string, values: unknown[] = []) => within(requestMs, socket, client.query(text, values))
  try {
    await within(requestMs, socket, client.connect())
    await ask(
      "SELECT set_config('synchronous_commit', 'on', false), set_config('perpd.session', $1, false)",
      [made.mark],
    )
    const { rows } = await ask(askFacts)
    return Object.assign(made, { facts: factsOf(rows[0] ?? {}) })
  } catch (error) {
    socket.destroy()
    throw faultOf(place, error)
  }
}

/** Returns the primary with the newest history, else any standby: its refusal says what is missing. */
function newestPrimary(answers: readonly Answer[]): Answer | undefined {
  const rank = ({ facts }: Answer): number => (facts.isStandby ? -1 : (facts.timeline ?? 0))
  return answers.toSorted((one, other) => rank(other) - rank(one))[0]
}

/** Returns the fault of hosts of which none answered: one that may pass comes before one for the operator, since a failover is awaited. */
function worstOf(faults: readonly Error[]): Error {
  return (
    faults.find((fault) => fault instanceof OutcomeUnknown) ?? faults[0] ?? unknown('the address has no host')
  )
}

/** Waits for an answer. At the timer's end, or when the connection breaks, the fate of the statement is unknown. */
async function within<T>(forMs: number, socket: Socket, answer: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(unknown(`no answer within ${forMs} ms`))
    socket.destroy()
  }, forMs)
  // Whichever comes first counts.
  answer.catch(() => undefined)
  try {
    return await Promise.race([answer, promise])
  } finally {
    clearTimeout(timer)
  }
}

function unknown(reason: string, cause?: unknown): OutcomeUnknown {
  return new OutcomeUnknown('The server of the journal did not answer for certain.', {
    code: 'JOURNAL_OUTCOME_UNKNOWN',
    facts: { reason },
    ...defined({ cause }),
  })
}

/** Gives the fault that an error of a request stands for. Only a code and the server's sentence are told: details may hold values. */
function faultOf(place: PostgresPlace, error: unknown): Error {
  if (!(error instanceof Error) || 'facts' in error) return error as Error
  const { code } = error as DatabaseError
  if (!isServerCode(code) || passing.test(code)) return unknown(reasonOf(error))
  const facts = { reason: `${error.message} (${code})` }
  if (code === '23505')
    return journalFault(
      'JOURNAL_DIGEST_REUSED',
      place.name,
      'The server has a record, an order or a signed message of the same name already.',
      'perpd stops on purpose: nothing was written. Another account of this database armed the same message, or two daemons have one name (journal.account). An account that gets another name keeps its rows: docs/reference/fleet.md.',
      { facts },
    )
  if (refused.test(code))
    return journalFault(
      'JOURNAL_NOT_PERMITTED',
      place.name,
      'The server of the journal refuses this user, its password or its database.',
      'Nothing was changed. Check journal.url; the user needs its database and the right to make tables in it once.',
      { facts },
    )
  return journalFault(
    'JOURNAL_WRITE_FAILED',
    place.name,
    'The server of the journal refuses a statement.',
    'perpd stops on purpose: it never trades without its journal. Nothing is sent after this. See the reason, then start perpd; it resumes every open order from the journal.',
    { facts },
  )
}

/** Tells codes of the server, five signs, from names of system errors. */
function isServerCode(code: string | undefined): code is string {
  return code !== undefined && /^[0-9A-Z]{5}$/.test(code) && /\d/.test(code)
}

function factsOf(row: Row): ServerFacts {
  return {
    version: Number(row.version),
    isStandby: row.is_standby === true,
    isReadOnly: row.is_read_only === true,
    fsync: String(row.fsync),
    fullPageWrites: String(row.full_page_writes),
    synchronousCommit: String(row.synchronous_commit),
    synchronousStandbys: String(row.synchronous_standbys),
    followers: Number(row.followers),
    encoding: String(row.encoding),
    isEncrypted: row.is_encrypted === true,
    mark: String(row.mark),
    timeline: row.timeline === null ? undefined : Number(row.timeline),
  }
}
