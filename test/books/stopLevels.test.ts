/** How near to profit the stops of a part rested, by the journal: over losses, edits, restarts and what the chain takes back. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import { usd } from '../../src/protocol/units.ts'
import {
  closed,
  executed,
  execution,
  type Fill,
  landed,
  moved,
  orderCancelled,
  reopened,
  side,
  stopKeyOf,
  stopped,
} from './history.ts'

type Direction = 'long' | 'short'

const entry = (n: number, stopTrigger: bigint, direction: Direction = 'long'): Fill => ({
  ...{ n, direction, hasStop: true, stopTrigger },
  settlement: { sizeDeltaUsd: usd(100) },
})
const exit = (n: number, sizeUsd: number, direction: Direction = 'long'): Fill => ({
  ...{ n, direction, kind: 'close' },
  settlement: { sizeDeltaUsd: usd(sizeUsd), pnlUsd: 0n },
})

function restarted(ledger: Ledger): Ledger {
  const { seq, head, part } = ledger.snapshot()
  return createLedger(decodeSnapshot({ seq, head, parts: [part] }))
}

function told(records: readonly AnyRecord[]): Ledger {
  const ledger = createLedger()
  for (const record of records) ledger.fold(record)
  return ledger
}

const levelOf = (ledger: Ledger, direction: Direction = 'long') =>
  ledger.books().nearestStopOf('trend', { ...side, direction })

test.each([
  ['long', [1_900n, 2_010n, 1_950n]],
  ['short', [2_100n, 1_990n, 2_050n]],
] as const)(
  'a stop that was moved and lost is known by the nearest that it lay, of a %s',
  (direction, [first, best, back]) => {
    const opened = entry(1, first, direction)
    const near = moved({ n: 2, direction }, stopKeyOf(1), best)
    const away = moved({ n: 3, direction }, stopKeyOf(1), back)
    const records = [...executed(opened), ...near.accepted, ...near.landed, ...away.accepted, ...away.landed]
    expect(levelOf(told(records), direction)).toBe(best)
    const ledger = told([...records, orderCancelled(opened, 1), closed(opened)])
    expect(levelOf(ledger, direction)).toBe(best)
    expect(levelOf(restarted(ledger), direction)).toBe(best)
    const other: Direction = direction === 'long' ? 'short' : 'long'
    expect(levelOf(ledger, other)).toBeUndefined()
    expect(ledger.books().nearestStopOf('grid', { ...side, direction })).toBeUndefined()
  },
)

test('a part that went to nothing and is opened anew begins anew, and so it stays over a restart', () => {
  const opened = entry(1, 1_900n)
  const lost = [...executed(opened), orderCancelled(opened, 1), closed(opened)]
  const ended = [...lost, ...executed(exit(2, 100)), closed(exit(2, 100))]
  expect(levelOf(told(ended))).toBeUndefined()
  const again = told([...ended, ...executed({ ...entry(3, 1_800n) })])
  expect(levelOf(again)).toBe(1_800n)
  expect(levelOf(restarted(again))).toBe(1_800n)
})

test('a stop that rests on from the part before says nothing of the new one', () => {
  const [opened, close] = [entry(1, 1_900n), exit(2, 100)]
  const again = told([...executed(opened), ...executed(close), closed(close), ...executed(entry(3, 1_800n))])
  expect(levelOf(again)).toBe(1_800n)
  again.fold(orderCancelled(opened, 1))
  again.fold(closed(opened))
  expect(levelOf(again)).toBe(1_800n)
})

test('the stop of an entry that has not filled, and one that fired, say nothing', () => {
  const ledger = told([...executed(entry(1, 1_900n)), ...landed(entry(2, 1_950n))])
  expect(levelOf(ledger)).toBe(1_900n)
  ledger.fold(execution(entry(2, 1_950n), true))
  expect(levelOf(ledger)).toBe(1_950n)
  ledger.fold(stopped(entry(2, 1_950n), { sizeDeltaUsd: usd(100), pnlUsd: 0n }))
  ledger.fold(closed(entry(2, 1_950n)))
  expect(levelOf(ledger)).toBe(1_900n)
})

test('an edit whose end is told after the stop was lost counts as well; one that never landed does not', () => {
  for (const isLanded of [true, false]) {
    const opened = entry(1, 1_900n)
    const { accepted, landed: ends } = moved({ n: 2 }, stopKeyOf(1), 2_010n)
    const ledger = told([...executed(opened), ...accepted, orderCancelled(opened, 1), closed(opened)])
    expect(levelOf(ledger)).toBe(1_900n)
    const [landing, end] = ends
    if (landing === undefined || end === undefined) throw new Error('no end')
    const { evidence, attempt } = landing as AnyRecord & { evidence: unknown; attempt: number }
    const dead = { ...landing, kind: 'attempt.dead', attempt, evidence } as AnyRecord
    for (const record of isLanded ? [landing, end] : [dead, end]) ledger.fold(record)
    expect(levelOf(restarted(ledger))).toBe(isLanded ? 2_010n : 1_900n)
  }
})

test('a closing that the chain takes back gives the part its level again, and one for good does not', () => {
  const [opened, close] = [entry(1, 1_900n), { ...exit(2, 100), isProvisional: true }]
  const ledger = told([...executed(opened), orderCancelled(opened, 1), closed(opened), ...executed(close)])
  expect(levelOf(ledger)).toBeUndefined()
  ledger.fold(reopened(close))
  expect(levelOf(restarted(ledger))).toBe(1_900n)
  ledger.fold(execution(close, true))
  ledger.fold(closed(close))
  expect(levelOf(ledger)).toBeUndefined()
})

test('a closing that is told late, from between two entries, leaves the second one its own level', () => {
  const at = (fill: Fill, atMs: number): Fill => ({
    ...fill,
    atMs,
    settlement: { ...fill.settlement, timestampSeconds: Math.floor(atMs / 1000) },
  })
  const startMs = 1_800_000_000_000
  const [first, second] = [at(entry(1, 1_900n), startMs), at(entry(3, 1_800n), startMs + 20_000)]
  const close = at(exit(2, 100), startMs + 10_000)
  const ledger = told([
    ...executed(first),
    ...executed(second),
    orderCancelled(second, 1),
    closed(second),
    ...executed(close),
  ])
  expect(levelOf(ledger)).toBe(1_800n)
  expect(levelOf(restarted(ledger))).toBe(1_800n)
})

interface Step {
  readonly what: 'enter' | 'move' | 'lose' | 'fire' | 'end' | 'restart'
  readonly pick: number
  readonly trigger: bigint
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('enter', 'enter', 'move', 'move', 'lose', 'fire', 'end', 'restart'),
  pick: fc.nat({ max: 20 }),
  trigger: fc.bigInt({ min: 1_000n, max: 3_000n }),
})

test('whatever befalls the stops of a part, the level is the nearest of those that rest or were lost since it was opened', () => {
  const directions = fc.constantFrom<Direction>('long', 'short')
  fc.assert(
    fc.property(directions, fc.array(anyStep, { maxLength: 30 }), (direction, steps) => {
      let ledger = createLedger()
      const fold = (records: readonly AnyRecord[]) => {
        for (const record of records) ledger.fold(record)
      }
      let open: { readonly fill: Fill; readonly levels: readonly bigint[] }[] = []
      let lost: bigint[] = []
      let heldUsd = 0
      for (const [n, { what, pick, trigger }] of steps.entries()) {
        const stop = open[pick % Math.max(1, open.length)]
        const rest = open.filter((each) => each !== stop)
        if (what === 'enter') {
          const fill = entry(n, trigger, direction)
          fold(executed(fill))
          open = [...open, { fill, levels: [trigger] }]
          heldUsd += 100
        } else if (what === 'move' && stop !== undefined) {
          const { accepted, landed: ends } = moved({ n, direction }, stopKeyOf(stop.fill.n), trigger)
          fold([...accepted, ...ends])
          open = [...rest, { ...stop, levels: [...stop.levels, trigger] }]
        } else if (what === 'lose' && stop !== undefined) {
          fold([orderCancelled(stop.fill, 1), closed(stop.fill)])
          open = rest
          lost = [...lost, ...stop.levels]
        } else if (what === 'fire' && stop !== undefined) {
          fold([stopped(stop.fill, { sizeDeltaUsd: usd(100), pnlUsd: 0n }), closed(stop.fill)])
          open = rest
          heldUsd -= 100
        } else if (what === 'end' && heldUsd > 0) {
          for (const { fill } of open) fold([orderCancelled(fill, 1), closed(fill)])
          fold([...executed(exit(n, heldUsd, direction)), closed(exit(n, heldUsd, direction))])
          open = []
          heldUsd = 0
        } else if (what === 'restart') ledger = restarted(ledger)
        if (heldUsd === 0) lost = []
        const levels = heldUsd === 0 ? [] : [...lost, ...open.flatMap((each) => each.levels)]
        const nearest = levels.toSorted((one, other) => ((direction === 'long') === one > other ? -1 : 1))[0]
        expect(levelOf(ledger, direction)).toBe(nearest)
        expect(levelOf(restarted(ledger), direction)).toBe(nearest)
      }
    }),
    { numRuns: 100 },
  )
})
