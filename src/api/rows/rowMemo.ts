/**
 * Rows of a polled list, decoded against the row of the poll before. Most texts of a market row repeat from one second to
 * the next, and making a bigint of a text costs several times what comparing two texts does: a field whose raw value is
 * the same keeps the value it was decoded to. Equality of the raw values is all it stands on, so a row compared with a
 * wrong one (another market, another host) costs time and nothing else.
 */
import type { Address, Hex } from '../../protocol/address.ts'
import { address, boolean, bytes32, count, type Fields, int, object, string, uint } from '../decode/decode.ts'
import type { Transport } from '../transport/transportTypes.ts'

/** Rows kept by one decoder; more markets than all chains list. Past it the memory starts anew. */
const MAX_ROWS = 1024

/** Decodes a row whose fields may be taken from `had` where `row` and `was` have the same raw value. */
export type RowDecoder<Row> = (row: Fields, was: Fields, had: Partial<Row>) => Row

/**
 * A decoder of rows that remembers the last row of each identity; of a new identity, the row before it in the list. It
 * keeps copies: what a caller does to the rows it got does not reach the next answer. Throws `Malformed`.
 */
export function createRowMemo<Row extends object>(options: {
  /** Name of the raw field that tells rows apart. */
  readonly identity: string
  readonly decode: RowDecoder<Row>
  /** Copies a decoded row as deep as callers could change it; default: its own fields. */
  readonly copy?: (row: Row) => Row
}): (value: unknown) => Row {
  const { identity, decode, copy = (row) => ({ ...row }) } = options
  const rows = new Map<string, { readonly raw: Fields; readonly decoded: Partial<Row> }>()
  let last: { readonly raw: Fields; readonly decoded: Partial<Row> } = { raw: {}, decoded: {} }
  return (value) => {
    const raw = object(value)
    const key = raw[identity]
    const before = typeof key === 'string' ? (rows.get(key) ?? last) : last
    const decoded = decode(raw, before.raw, before.decoded)
    last = { raw, decoded: copy(decoded) }
    if (typeof key === 'string') {
      if (rows.size >= MAX_ROWS) rows.clear()
      rows.set(key, last)
    }
    return decoded
  }
}

/** Makes one of something for each transport, so that two clients in one process share no memory. */
export function perTransport<T>(create: () => T): (transport: Transport) => T {
  const made = new WeakMap<Transport, T>()
  return (transport) => {
    let own = made.get(transport)
    if (own === undefined) {
      own = create()
      made.set(transport, own)
    }
    return own
  }
}

/** `uint`, kept where the raw value is the same. */
export function keptUint(raw: unknown, was: unknown, had: bigint | undefined, name: string): bigint {
  return raw === was && had !== undefined ? had : uint(raw, name)
}

/** `address`, kept where the raw value is the same. */
export function keptAddress(raw: unknown, was: unknown, had: Address | undefined, name: string): Address {
  return raw === was && had !== undefined ? had : address(raw, name)
}

/** An `address` that may be absent or null, kept where the raw value is the same. */
export function keptAddressIf(
  raw: unknown,
  was: unknown,
  had: Address | undefined,
  name: string,
): Address | undefined {
  if (raw === was) return had
  return raw === undefined || raw === null ? undefined : address(raw, name)
}

/** A `uint` that may be absent or null, kept where the raw value is the same. */
export function keptUintIf(
  raw: unknown,
  was: unknown,
  had: bigint | undefined,
  name: string,
): bigint | undefined {
  if (raw === was) return had
  return raw === undefined || raw === null ? undefined : uint(raw, name)
}

/** An `int` that may be absent or null, kept where the raw value is the same. */
export function keptIntIf(
  raw: unknown,
  was: unknown,
  had: bigint | undefined,
  name: string,
): bigint | undefined {
  if (raw === was) return had
  return raw === undefined || raw === null ? undefined : int(raw, name)
}

/** 32 bytes that may be absent or null, kept where the raw value is the same. */
export function keptHashIf(raw: unknown, was: unknown, had: Hex | undefined, name: string): Hex | undefined {
  if (raw === was) return had
  return raw === undefined || raw === null ? undefined : bytes32(raw, name)
}

/** A flag that may be absent or null. */
export function flagIf(raw: unknown, name: string): boolean | undefined {
  return raw === undefined || raw === null ? undefined : boolean(raw, name)
}

/** A text that may be absent or null. */
export function textIf(raw: unknown, name: string): string | undefined {
  return raw === undefined || raw === null ? undefined : string(raw, name)
}

/** Unix ms, or null where it is null or absent. */
export function timeOrNull(raw: unknown, name: string): number | null {
  return raw === undefined || raw === null ? null : count(raw, name)
}
