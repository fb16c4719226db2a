/** Since when a side is without its stop: by the journal, over restarts, and whoever looks how often. */
import { expect, test } from 'vitest'
import { createUnprotectedPositions } from '../../src/account/holdings/unprotectedPositions.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, type Fill, orderCancelled, side } from '../books/history.ts'

const startMs = 1_800_000_000_000
const bareSide = { ...side, uncoveredUsd: usd(500) }
const minuteMs = 60_000

function told(records: readonly AnyRecord[], isRestarted = false): Ledger {
  let ledger = createLedger()
  for (const record of records) {
    ledger.fold(record)
    if (!isRestarted) continue
    const { seq, head, part } = ledger.snapshot()
    ledger = createLedger(decodeSnapshot({ seq, head, parts: [part] }))
  }
  return ledger
}

const opens = (n: number, more: Partial<Fill> = {}): Fill => ({
  n,
  atMs: startMs + n * minuteMs,
  settlement: { sizeDeltaUsd: usd(500) },
  ...more,
})

/** Whole minutes since when, at the first look of a process at so many minutes. */
function minutes(ledger: Ledger, nowMinutes: number): readonly number[] {
  const facts = { held: [side], bare: [bareSide], books: ledger.books(), discrepancies: [] }
  return createUnprotectedPositions()({ ...facts, nowMs: startMs + nowMinutes * minuteMs }).map(
    ({ sinceMs }) => Math.floor((sinceMs - startMs) / minuteMs),
  )
}

test.each([false, true])(
  'a position that was opened without a stop has none since its first fill, at the first look of any process (restarted: %s)',
  (isRestarted) => {
    const all = [...executed(opens(1)), closed(opens(1)), ...executed(opens(9)), closed(opens(9))]
    expect(minutes(told(all, isRestarted), 18)).toEqual([1])
    const close = opens(11, { kind: 'decrease', settlement: { sizeDeltaUsd: usd(1_000), pnlUsd: 0n } })
    const again = [...all, ...executed(close), closed(close), ...executed(opens(15))]
    expect(minutes(told(again, isRestarted), 18)).toEqual([15])
  },
)

test.each([false, true])(
  'a position that had a stop is without one since that ended (restarted: %s)',
  (isRestarted) => {
    const entry = opens(1, { hasStop: true })
    const ended = { ...orderCancelled(entry, 1), atMs: startMs + 7 * minuteMs } as AnyRecord
    expect(minutes(told([...executed(entry), ended], isRestarted), 18)).toEqual([7])
  },
)

test('a stop of another client’s counts by the looks of the process, and one that comes back begins anew', () => {
  const books = told(executed(opens(1))).books()
  const look = createUnprotectedPositions()
  const at = (minute: number, isBare: boolean) =>
    look({
      held: [side],
      bare: isBare ? [bareSide] : [],
      books,
      discrepancies: [],
      nowMs: startMs + minute * minuteMs,
    }).map(({ sinceMs }) => (sinceMs - startMs) / minuteMs)
  expect(at(4, false)).toEqual([])
  expect(at(5, true)).toEqual([4])
  expect(at(20, true)).toEqual([4])
  expect(at(21, false)).toEqual([])
  expect(at(22, true)).toEqual([21])
})

test('a position that the journal does not know counts from when it was told, else from the first look', () => {
  const books = createLedger().books()
  const look = createUnprotectedPositions()
  const facts = { held: [side], bare: [bareSide], books, nowMs: startMs + minuteMs }
  expect(look({ ...facts, discrepancies: [] })[0]?.sinceMs).toBe(startMs + minuteMs)
  const discrepancy = {
    discrepancyId: 'a',
    kind: 'unexplained-position',
    statement: 'it is',
    ...side,
  } as const
  const discrepancies = [{ discrepancy: { ...discrepancy, sizeDeltaUsd: usd(5) }, raisedAtMs: startMs }]
  expect(createUnprotectedPositions()({ ...facts, discrepancies })[0]?.sinceMs).toBe(startMs)
})

test('the end of a stop while a side is bare anyway does not let its time begin anew; a new position does', () => {
  const entry = opens(1, { hasStop: true })
  const ledger = told(executed(entry))
  const look = createUnprotectedPositions()
  const at = (minute: number) =>
    look({
      held: [side],
      bare: [bareSide],
      books: ledger.books(),
      discrepancies: [],
      nowMs: startMs + minute * minuteMs,
    }).map(({ sinceMs }) => Math.floor((sinceMs - startMs) / minuteMs))
  expect(at(3)).toEqual([1])
  ledger.fold({ ...orderCancelled(entry, 1), atMs: startMs + 7 * minuteMs } as AnyRecord)
  expect(at(9)).toEqual([1])
  const close = opens(11, { kind: 'decrease', settlement: { sizeDeltaUsd: usd(500), pnlUsd: 0n } })
  for (const record of [...executed(close), closed(close), ...executed(opens(15))]) ledger.fold(record)
  expect(at(16)).toEqual([15])
})
