/**
 * The position reads (docs/reference/api-coverage.md A5). All rows of an account are of one moment and hold for a second;
 * a position that an execution changed shows at once (test/paper/conformance-behaviours.test.ts, C.4).
 */
import { type Address, hexKey } from '../../protocol/address.ts'
import { badFields, HttpFailure, type Json, notFound, parseAddress, requiredAddress } from '../http/http.ts'
import type { PositionState } from '../math/positionState.ts'
import { orderRow, ordersOfAccount, positionKeyText, positionRow } from '../prepare/positionRows.ts'
import { positionsOfAccount } from '../state/accounts.ts'
import { namesMarket } from '../state/dataFaults.ts'
import type { OrderRecord, PositionRecord } from '../state/venueRecords.ts'
import type { VenueState } from '../state/venueState.ts'

const WINDOW_MS = 1000
/** Accounts whose rows are kept; the oldest go first. */
const MAX_SHOWN = 1000

/** Rows of an account as they were shown. */
interface Shown {
  readonly fromMs: number
  /** The states shown: every change of a position makes a new one. */
  readonly states: readonly PositionState[]
  readonly rows: readonly Readonly<Record<string, Json>>[]
}

const shownByWorld = new WeakMap<VenueState, Map<string, Shown>>()

/** Rows of an account's positions, of this moment or of one within the window. */
function rowsOf(venueState: VenueState, records: readonly PositionRecord[], nowMs: number): Shown['rows'] {
  const [first] = records
  if (first === undefined) return []
  let byAccount = shownByWorld.get(venueState)
  if (byAccount === undefined) {
    byAccount = new Map()
    shownByWorld.set(venueState, byAccount)
  }
  const key = hexKey(first.account)
  const known = byAccount.get(key)
  if (
    known !== undefined &&
    nowMs >= known.fromMs &&
    nowMs < known.fromMs + WINDOW_MS &&
    known.states.length === records.length &&
    records.every(({ state }, i) => state === known.states[i])
  ) {
    return known.rows
  }
  const rows = records.map((record) => positionRow(venueState, record, nowMs))
  byAccount.delete(key)
  byAccount.set(key, { fromMs: nowMs, states: records.map(({ state }) => state), rows })
  for (const oldest of byAccount.keys()) {
    if (byAccount.size <= MAX_SHOWN) break
    byAccount.delete(oldest)
  }
  return rows
}

function includeRelated(query: URLSearchParams): boolean {
  const value = query.get('includeRelatedOrders')
  if (value === null || value === 'false') return false
  if (value === 'true') return true
  throw badFields({
    includeRelatedOrders: { message: "'includeRelatedOrders' must be true or false", value },
  })
}

function relatedOrders(venueState: VenueState, record: PositionRecord): OrderRecord[] {
  return ordersOfAccount(venueState, record.account).filter(
    ({ params }) =>
      hexKey(params.addresses.market) === record.marketKey &&
      params.isLong === (record.state.side === 'long'),
  )
}

/** A revert of the position reader fails the whole request (docs/reference/api-coverage.md A5). */
function mayRead(venueState: VenueState, record: PositionRecord): void {
  if (namesMarket(venueState.dataFaults.readerReverts, record.marketKey)) {
    throw new HttpFailure(500, { message: 'Internal Server Error' })
  }
}

/** A row as it is answered: related orders come from the order store and are not of the common moment. */
function answered(
  venueState: VenueState,
  record: PositionRecord,
  row: Readonly<Record<string, Json>> | undefined,
  related: boolean,
): Json {
  if (row === undefined) throw new RangeError('a position without a row')
  return related ? { ...row, relatedOrders: relatedOrders(venueState, record).map(orderRow) } : row
}

/** `/positions`. Throws HttpFailure 400, 500 when a reader reverts. */
export function positions(venueState: VenueState, query: URLSearchParams, nowMs: number): Json {
  const address: Address = requiredAddress(query, 'address')
  const related = includeRelated(query)
  const records = positionsOfAccount(venueState, address)
  for (const record of records) mayRead(venueState, record)
  const rows = rowsOf(venueState, records, nowMs)
  return records.map((record, i) => answered(venueState, record, rows[i], related))
}

/** The open position of a row key or protocol key, in any case. */
function positionOf(venueState: VenueState, key: string): PositionRecord | undefined {
  const wanted = hexKey(key)
  const account = parseAddress(wanted.slice(0, wanted.indexOf(':')))
  if (account === undefined) return venueState.positions.get(wanted)
  return positionsOfAccount(venueState, account).find((record) => {
    const market = venueState.marketByKey.get(record.marketKey)
    return market !== undefined && hexKey(positionKeyText(record, market)) === wanted
  })
}

/** `/positions/{key}` by row key or protocol key. Throws HttpFailure 400, 404, 500 when the reader reverts. */
export function positionByKey(
  venueState: VenueState,
  key: string,
  query: URLSearchParams,
  nowMs: number,
): Json {
  const related = includeRelated(query)
  const found = positionOf(venueState, key)
  if (found === undefined) throw notFound('Position not found')
  mayRead(venueState, found)
  const records = positionsOfAccount(venueState, found.account)
  return answered(venueState, found, rowsOf(venueState, records, nowMs)[records.indexOf(found)], related)
}
