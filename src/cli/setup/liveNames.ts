/** Names that the running daemon has, for a shell that completes a word. */
import { BaseError } from '../../base/errors.ts'
import { isThere } from '../../base/isThere.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { StatusBody } from '../../control/routes.ts'
import { addressFileOf } from '../../daemon/controlAddress.ts'
import { shortDiscrepancyId } from '../../domain/accountRecords/discrepancyId.ts'
import type { OrderRow } from '../../domain/summaries/orderView.ts'
import { shortId } from '../../monitor/text.ts'
import type { LiveSubject } from '../../operator/commandLine.ts'
import type { BareCall } from '../call/command.ts'
import type { MarketRow } from '../verbs/marketsCommand.ts'

/** Someone waits at a prompt: a daemon that has not answered by then gives no names, ms. */
const PATIENCE_MS = 1_500
/** Most orders that are offered, the newest first. */
const MOST_ORDERS = 50

/** A name, and a few words that say which thing it is. */
type LiveName = readonly [name: string, about: string]

/** Prints the names of a subject, one a line: the name, and behind a tab a few words on it. */
export async function printNames(call: BareCall, subject: LiveSubject): Promise<number> {
  const lines = (await liveNames(call, subject)).map((name) =>
    name.map((text) => text.replace(/\s+/g, ' ')).join('\t'),
  )
  if (lines.length > 0) call.out(lines.join('\n'))
  return exitCodes.ok
}

/** The names of a subject. Empty where no daemon answers in time, or the configuration does not say which one: a prompt has no place for errors. */
async function liveNames({ readSettings }: BareCall, subject: LiveSubject): Promise<readonly LiveName[]> {
  try {
    const loaded = await readSettings()
    // Most of a look is loading: nothing is loaded to ask a daemon that is not there.
    if (!isThere(addressFileOf(loaded.config))) return []
    const late = systemClock.sleep(PATIENCE_MS).then(() => [])
    return await Promise.race([namesOf(loaded, subject), late])
  } catch (error) {
    if (error instanceof BaseError || error instanceof CommandError) return []
    throw error
  }
}

type Loaded = Awaited<ReturnType<BareCall['readSettings']>>

async function namesOf(loaded: Loaded, subject: LiveSubject): Promise<readonly LiveName[]> {
  const { queryDaemon, queryStatus } = await import('../call/daemonClient.ts')
  if (subject === 'orders')
    return (await queryDaemon(loaded, `/api/orders?limit=${MOST_ORDERS}`, isList<OrderRow>)).map(orderName)
  if (subject === 'markets')
    return (await queryDaemon(loaded, '/api/markets', isList<MarketRow>)).map(({ symbol, state }) => [
      symbol,
      state,
    ])
  return ofStatus[subject](await queryStatus(loaded))
}

const ofStatus: Readonly<
  Record<Exclude<LiveSubject, 'orders' | 'markets'>, (status: StatusBody) => readonly LiveName[]>
> = {
  'open-orders': ({ openIntents }) => openIntents.slice(0, MOST_ORDERS).map(orderName),
  strategies: ({ strategies }) =>
    strategies.map(({ name, kind, symbols }) => [name, [kind, ...symbols.slice(0, 1)].join(' ')]),
  tasks: ({ tasks }) => tasks.map(({ taskId, asked, kind }) => [taskId, asked ?? kind]),
  discrepancies: ({ discrepancies }) =>
    discrepancies.map(({ discrepancy: { discrepancyId, kind, statement } }) => [
      shortDiscrepancyId(discrepancyId),
      `${kind}: ${statement}`,
    ]),
}

function orderName({ intentId, kind, direction, market, standing }: OrderRow): LiveName {
  return [shortId(intentId), `${kind} ${direction} ${market}, ${standing}`]
}

function isList<T>(body: unknown): body is readonly T[] {
  return Array.isArray(body)
}
