/**
 * Lists row by row: one that cannot be read costs itself and not the list. It is kept with what can be told of it, so that
 * readers know that the list is incomplete and of what. Read whole or not at all are what is signed, and candles: one that
 * is left out would shift every figure that counts them.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import type { MissingRow } from '../../protocol/missing.ts'
import {
  address,
  boolean,
  bytes32,
  type Decoder,
  elements,
  type Fields,
  lenient,
  Malformed,
  object,
  present,
  usd30,
} from '../decode/decode.ts'

/** Reads the fields that identify a row, as far as they can be read. */
export type Tell = (row: Fields) => Omit<MissingRow, 'problem'>

/** Where the fields of a row's market, token or key stand on the wire. */
export interface RowNames {
  readonly market?: string
  readonly token?: string
  readonly orderKey?: string
  /** Its `isLong`, `collateralTokenAddress` and `sizeInUsd` tell of a position. */
  readonly isPosition?: true
}

/** Receivers of the rows of a list that are not among its values. */
type AskedRows = { readonly missing: MissingRow[]; readonly dropForeign?: () => void }

function tellBy(names: RowNames): Tell {
  return (row) => {
    const at = <T>(name: string | undefined, decode: Decoder<T>): T | undefined =>
      name === undefined ? undefined : lenient(row[name], name, decode)
    const isLong = at(names.isPosition && 'isLong', boolean)
    return present({
      marketToken: at<Address>(names.market, address),
      token: at<Address>(names.token, address),
      orderKey: at<Hex>(names.orderKey, bytes32),
      direction: isLong === undefined ? undefined : isLong ? ('long' as const) : ('short' as const),
      collateralToken: at<Address>(names.isPosition && 'collateralTokenAddress', address),
      sizeInUsd: at(names.isPosition && 'sizeInUsd', usd30),
    })
  }
}

/**
 * The rows of a list that can be read; the others are added to `asked.missing`, but for those of another account, which are
 * dropped. `mayBeEmpty` absent: a list of which no row can be read is of another shape, and refused whole; so is one of which
 * every row that can be read is another's. Throws `Malformed`.
 */
export function rows<T>(
  value: unknown,
  name: string,
  item: Decoder<T>,
  asked: AskedRows,
  names: RowNames & { readonly mayBeEmpty?: true } = {},
): T[] {
  const tell = tellBy(names)
  const read: T[] = []
  let first: Malformed | undefined
  let foreign: Malformed | undefined
  for (const [index, each] of elements(value, name).entries()) {
    try {
      read.push(item(each, ''))
    } catch (error) {
      if (!(error instanceof Malformed)) throw error
      const placed = error.under(`${name}[${index}]`)
      // A row of another account shows nothing of ours. A list of nothing else is one to another question, and wrong whole.
      if (error.isOfAnother) {
        foreign ??= placed
        asked.dropForeign?.()
        continue
      }
      first ??= placed
      asked.missing.push({ problem: `${placed.path} ${placed.problem}`, ...toldOf(each, tell) })
    }
  }
  if (foreign !== undefined && read.length === 0) throw foreign
  if (first !== undefined && read.length === 0 && names.mayBeEmpty !== true) throw first
  return read
}

function toldOf(value: unknown, tell: Tell): Omit<MissingRow, 'problem'> {
  try {
    return tell(object(value))
  } catch (error) {
    if (error instanceof Malformed) return {}
    throw error
  }
}

/** The same where documents leave open whether a list comes bare or inside an object. */
export function rowsOrField<T>(
  body: unknown,
  field: string,
  item: Decoder<T>,
  asked: AskedRows,
  names: RowNames,
): T[] {
  return Array.isArray(body)
    ? rows(body, '', item, asked, names)
    : rows(object(body)[field], field, item, asked, names)
}
