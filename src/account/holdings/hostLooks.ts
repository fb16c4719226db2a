/** The newest list of positions of each host, and since when it shows each side. */
import type { Read } from '../../api/transport/route.ts'
import type { MonotonicClock } from '../../base/clock.ts'
import { lastMade } from '../../base/sameAgain.ts'
import { sideKeyOf } from '../../domain/accountRecords/accountRecord.ts'
import type { HeldSide, HeldSides } from '../../domain/accountRecords/held.ts'
import { LIST_LAG_MS } from '../../domain/accountRecords/listLag.ts'
import type { Position } from '../../protocol/position.ts'

/** A list of positions with the host that gave it. */
export type PositionList = Pick<Read<readonly Position[]>, 'value' | 'missing' | 'host' | 'readAtMs'>

/** A row with the key of its side. */
interface KeyedRow {
  readonly key: string
  readonly row: Position
}

/** A host's newest list. Times are monotonic, ms. */
export interface HostList {
  readonly list: PositionList
  readonly rows: readonly KeyedRow[]
  readonly atMs: number
  /** Times from which this host shows each side without a break. */
  readonly shownSinceMs: ReadonlyMap<string, number>
  /** Its rows of sides of which it shows more than the journal knows, and since when it does. */
  readonly beyond: readonly (KeyedRow & { readonly sinceMs: number })[]
}

/** Sizes that hosts show. */
export interface HostLooks {
  /** Takes a list; `known`: sizes by the journal. */
  note(list: PositionList, known: HeldSides): void
  /** Lists that are young enough to say anything. */
  fresh(): readonly HostList[]
  /** Sizes that hosts show beyond the journal for longer than lists lag, of each side the largest. */
  sides(): HeldSides
  /** Returns the sides that every one of the hosts of the newest `vouch` showed in looks that are further apart than lists lag, and one still does. */
  vouched(): ReadonlySet<string>
  /** Looks anew at which sides all of these hosts show. */
  vouch(hosts: readonly string[]): void
}

/** An older list of a host says nothing any more, ms. */
const freshMs = 60_000

/** Makes them; nothing is known of the hosts' lists before the first one. */
export function createHostLooks(clock: MonotonicClock): HostLooks {
  const looks = new Map<string, HostList>()
  let vouched: ReadonlySet<string> = new Set()
  const sidesOf = lastMade<HeldSides>()

  function fresh(): readonly HostList[] {
    const nowMs = clock.monotonicMs()
    return [...looks.values()].filter(({ atMs }) => nowMs - atMs <= freshMs)
  }

  return {
    fresh,
    note(list, known) {
      const nowMs = clock.monotonicMs()
      const before = looks.get(list.host)
      const rows = list.value.map((row): KeyedRow => ({ key: sideKeyOf(row), row }))
      const held = rows.filter(({ row }) => row.sizeInUsd > 0n)
      const isBeyond = ({ key, row }: KeyedRow) => row.sizeInUsd > (known.get(key)?.sizeUsd ?? 0n)
      const earlier = new Map(before?.beyond.map(({ key, sinceMs }) => [key, sinceMs]))
      looks.set(list.host, {
        list,
        rows,
        atMs: nowMs,
        shownSinceMs: since(
          held.map(({ key }) => key),
          before?.shownSinceMs,
          nowMs,
        ),
        beyond: held.filter(isBeyond).map((each) => ({ ...each, sinceMs: earlier.get(each.key) ?? nowMs })),
      })
    },
    sides() {
      const nowMs = clock.monotonicMs()
      // A size that a host shows beyond the journal for as long as lists may lag is lag: the journal knows our own exits first.
      const lasting = fresh().flatMap(({ beyond }) =>
        beyond.filter(({ sinceMs }) => nowMs - sinceMs >= LIST_LAG_MS),
      )
      return sidesOf(lasting, () => largestSides(lasting))
    },
    vouched: () => vouched,
    vouch(hosts) {
      const shown = new Set(fresh().flatMap(({ shownSinceMs }) => [...shownSinceMs.keys()]))
      const now = new Set([...vouched].filter((key) => shown.has(key)))
      const lists = hosts.map((host) => looks.get(host))
      for (const key of shown) {
        const isShownByAll = lists.every(
          (look) =>
            look !== undefined && look.atMs - (look.shownSinceMs.get(key) ?? look.atMs) >= LIST_LAG_MS,
        )
        if (isShownByAll) now.add(key)
      }
      vouched = now
    },
  }
}

function largestSides(rows: readonly KeyedRow[]): HeldSides {
  const sides = new Map<string, HeldSide>()
  for (const { key, row } of rows) {
    const { marketToken, direction, collateralToken, sizeInUsd: sizeUsd } = row
    if (sizeUsd > (sides.get(key)?.sizeUsd ?? 0n))
      sides.set(key, { marketToken, direction, collateralToken, sizeUsd })
  }
  return sides
}

/** Gives of each key when it began, from the look before where it continues. */
export function since(
  keys: readonly string[],
  before: ReadonlyMap<string, number> | undefined,
  nowMs: number,
): ReadonlyMap<string, number> {
  return new Map(keys.map((key) => [key, before?.get(key) ?? nowMs]))
}
