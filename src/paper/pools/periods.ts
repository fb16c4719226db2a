/** Periods of history and the windows they make (docs/reference/api-coverage.md GET /rates). */
import { badFields, type HttpFailure, parseAddress } from '../http/http.ts'
import type { VenueState } from '../state/venueState.ts'
import { ledgerOf, type MarketLedger } from './ledger.ts'

/** Periods by name, in hours; `total` reaches back to the listing. */
export const periodHours: Readonly<Record<string, number>> = {
  '1d': 24,
  '7d': 24 * 7,
  '30d': 24 * 30,
  '90d': 24 * 90,
  '180d': 24 * 180,
  '1y': 24 * 365,
  total: Number.POSITIVE_INFINITY,
}

/** Creates a service's refusal of a parameter: the two services have different bodies. */
export type Refusal = (name: string, text: string, value?: string) => HttpFailure

/** Refusals of the application API: a field map. */
export const fieldRefusal: Refusal = (name, text, value) =>
  badFields({ [name]: value === undefined ? { message: text } : { message: text, value } })

/** A period of the query. Throws the refusal of the service. */
export function periodOf(
  query: URLSearchParams,
  name: string,
  standard: string | undefined,
  refusal: Refusal,
  allowed: readonly string[] = Object.keys(periodHours),
): string | undefined {
  const values = query.getAll(name)
  const value = values[0] ?? standard
  if (value === undefined) return undefined
  if (values.length > 1 || !allowed.includes(value)) {
    throw refusal(name, `'${name}' must be one of ${allowed.join(', ')}`, value)
  }
  return value
}

/** Books of the markets that repeated addresses name; all without one. Throws the refusal of the service. */
export function booksOf(
  venueState: VenueState,
  query: URLSearchParams,
  name: string,
  refusal: Refusal,
): readonly MarketLedger[] {
  const { byMarket } = ledgerOf(venueState)
  const texts = query.getAll(name)
  if (texts.length === 0) return [...byMarket.values()]
  const wanted = new Set<string>()
  for (const text of texts) {
    const address = parseAddress(text)
    if (address === undefined) throw refusal(name, `'${name}' holds a malformed address`, text)
    wanted.add(address.toLowerCase())
  }
  return [...byMarket].filter(([key]) => wanted.has(key)).map(([, books]) => books)
}

/** Hours since 1970 between which a row of a market stands: a young market's window begins with its listing. */
export function windowOf(
  books: MarketLedger,
  period: string,
  nowSeconds: number,
): { readonly fromHour: number; readonly toHour: number } {
  const toHour = Math.floor(nowSeconds / 3600)
  const hours = periodHours[period] ?? 0
  return { fromHour: Math.min(toHour, Math.max(books.history.listedHour, toHour - hours)), toHour }
}
