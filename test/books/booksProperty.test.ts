/** Whatever happens to an account, its books add up to what the journal says is held, and a restart changes nothing. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wrongSums } from '../../src/books/bookSums.ts'
import type { BookReads, Books } from '../../src/books/books.ts'
import { resultOf } from '../../src/books/figures.ts'
import { UNATTRIBUTED } from '../../src/books/sideParts.ts'
import type { PositionSide } from '../../src/domain/accountRecords/accountRecord.ts'
import type { Settlement } from '../../src/domain/order/intent.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import {
  closed,
  executed,
  execution,
  type Fill,
  raised,
  reopened,
  resumed,
  settled,
  side,
} from './history.ts'
import { rowsOf, toldBy } from './toldBy.ts'

interface Step {
  readonly what: 'fill' | 'final' | 'reopen' | 'close' | 'raise' | 'settle' | 'resume' | 'restart'
  readonly pick: number
  readonly sizeUsd: bigint
  readonly strategy: string
  readonly kind: 'increase' | 'decrease' | 'close'
  readonly direction: 'long' | 'short'
  readonly found:
    | 'liquidation'
    | 'adl'
    | 'external-close'
    | 'manual-decrease'
    | 'manual-increase'
    | 'unexplained-position'
  readonly as: 'adopted' | 'ignored' | 'gone'
  readonly isProvisional: boolean
  readonly isTold: boolean
  readonly moneyUsd: bigint
  readonly passedMs: number
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    'fill',
    'fill',
    'fill',
    'final',
    'reopen',
    'close',
    'raise',
    'settle',
    'resume',
    'restart',
  ),
  pick: fc.nat({ max: 100 }),
  sizeUsd: fc.bigInt({ min: 1n, max: 10n ** 33n }),
  strategy: fc.constantFrom('trend', 'grid', 'guard', '@operator'),
  kind: fc.constantFrom('increase', 'increase', 'decrease', 'close'),
  direction: fc.constantFrom('long', 'short'),
  found: fc.constantFrom(
    'liquidation',
    'adl',
    'external-close',
    'manual-decrease',
    'manual-increase',
    'unexplained-position',
  ),
  as: fc.constantFrom('adopted', 'ignored', 'gone'),
  isProvisional: fc.boolean(),
  isTold: fc.boolean(),
  moneyUsd: fc.bigInt({ min: -(10n ** 31n), max: 10n ** 31n }),
  passedMs: fc.nat({ max: 3_000_000 }),
})

const adds: ReadonlySet<string> = new Set(['manual-increase', 'unexplained-position'])

/** Plays steps as records that fit their stories; `restart` is told where the daemon would start anew. */
function play(steps: readonly Step[], fold: (record: AnyRecord) => void, restart: () => void): void {
  const open: Fill[] = []
  const isOut = new Map<number, boolean>()
  const discrepancies = new Map<string, AnyRecord>()
  let atMs = 1_800_000_000_000
  for (const [n, step] of steps.entries()) {
    atMs += step.passedMs
    const fill = open[step.pick % Math.max(1, open.length)]
    const { isTold, moneyUsd } = step
    if (step.what === 'fill') {
      const fees = moneyUsd < 0n ? -moneyUsd : moneyUsd
      const made: Fill = {
        n,
        strategy: step.strategy,
        kind: step.kind,
        direction: step.direction,
        isProvisional: step.isProvisional,
        atMs,
        relayFeeAmount: BigInt(step.pick),
        settlement: {
          sizeDeltaUsd: step.sizeUsd,
          feesUsd: fees,
          ...(isTold
            ? {
                sizeDeltaInTokens: step.sizeUsd / 2_000_000_000_000_000n,
                borrowingFeeUsd: fees / 3n,
                executionPrice: 2_000n * 10n ** 30n,
              }
            : {}),
          ...(step.kind === 'increase' ? {} : { pnlUsd: moneyUsd }),
        },
      }
      for (const record of executed(made)) fold(record)
      if (step.isProvisional) open.push(made)
      else fold(closed(made))
    }
    if (step.what === 'final' && fill !== undefined) {
      fold(execution(fill, true))
      fold(closed(fill))
      open.splice(open.indexOf(fill), 1)
      isOut.delete(fill.n)
    }
    if (step.what === 'reopen' && fill !== undefined) {
      const isBack = isOut.get(fill.n) === true
      fold(isBack ? execution(fill, false) : reopened(fill))
      isOut.set(fill.n, !isBack)
    }
    if (step.what === 'raise') {
      const id = `trade:${step.pick % 5}`
      const on: PositionSide = { ...side, direction: step.direction }
      const sizeDeltaUsd = adds.has(step.found) ? step.sizeUsd : -step.sizeUsd
      const told = isTold ? { pnlUsd: moneyUsd } : {}
      const record = raised(id, step.found, sizeDeltaUsd, { atMs, on, ...told })
      fold(record)
      discrepancies.set(id, record)
    }
    if (step.what === 'settle') {
      const id = [...discrepancies.keys()][step.pick % Math.max(1, discrepancies.size)]
      if (id !== undefined) fold(settled(id, step.as, atMs))
    }
    if (step.what === 'resume') fold(resumed(step.strategy, atMs))
    if (step.what === 'restart') restart()
  }
}

function checkSums(ledger: Ledger): void {
  expect(wrongSums(ledger)).toEqual([])
  for (const { strategy, sizeUsd } of ledger.books().all()) {
    if (strategy !== UNATTRIBUTED) expect(sizeUsd).toBeGreaterThanOrEqual(0n)
  }
}

test('after any history the books of a side and what is nobody’s add up to the journal’s size, to the last unit', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const ledger = createLedger()
      play(
        steps,
        (record) => {
          ledger.fold(record)
          checkSums(ledger)
        },
        () => undefined,
      )
    }),
    { seed: 20_270_115, numRuns: 300 },
  )
})

test('a fold that goes on from snapshots is the fold from the first record', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      let ledger = createLedger()
      play(
        steps,
        (record) => ledger.fold(record),
        () => {
          const { seq, head, part } = ledger.snapshot()
          ledger = createLedger(decodeSnapshot({ seq, head, parts: [part] }))
        },
      )
      const whole = createLedger()
      const names = () =>
        new Set(
          whole
            .books()
            .all()
            .map(({ strategy }) => strategy),
        )
      const answersOf = (books: BookReads) =>
        [...names()].flatMap((name) =>
          [false, true].map((isFinal) => [
            name,
            isFinal,
            books.partsOf(name, isFinal),
            books.days(0, isFinal, name),
          ]),
        )
      play(
        steps,
        (record) => {
          whole.fold(record)
          // Asked after each record, it gives no answer of before the next one.
          answersOf(whole.books())
        },
        () => undefined,
      )
      expect(answersOf(whole.books())).toEqual(answersOf(ledger.books()))
      expect((ledger.books() as Books).state()).toEqual((whole.books() as Books).state())
      expect(ledger.books().all()).toEqual(whole.books().all())
      expect(ledger.books().days(0)).toEqual(whole.books().days(0))
      expect(ledger.books().days(0, true)).toEqual(whole.books().days(0, true))
      for (const isFinal of [false, true])
        for (const name of names())
          expect(ledger.books().days(0, isFinal, name)).toEqual(
            whole
              .books()
              .days(0, isFinal)
              .filter(({ strategy }) => strategy === name),
          )
      expect(ledger.snapshot().head).toBe(whole.snapshot().head)
    }),
    { seed: 20_270_116, numRuns: 200 },
  )
})

const anyUsd = fc.bigInt({ min: -(10n ** 31n), max: 10n ** 31n })
const told: fc.Arbitrary<Settlement> = fc.record(
  {
    sizeDeltaUsd: fc.bigInt({ min: 1n, max: 10n ** 33n }),
    sizeDeltaInTokens: fc.bigInt({ min: 1n, max: 10n ** 18n }),
    pnlUsd: anyUsd,
    basePnlUsd: anyUsd,
    priceImpactUsd: anyUsd,
    feesUsd: anyUsd,
    borrowingFeeUsd: anyUsd,
    fundingFeeUsd: anyUsd,
    fundingReceivedUsd: fc.bigInt({ min: 0n, max: 10n ** 31n }),
    swapResultUsd: anyUsd,
    timestampSeconds: fc.integer({ min: 1_800_000_000, max: 1_800_200_000 }),
  },
  { requiredKeys: [] },
)

/** A fill as it is told first, in a block that the chain may take back, and the one figure that is another at last. */
const anyRetold = fc.record({
  strategy: fc.constantFrom('trend', 'grid'),
  kind: fc.constantFrom('increase', 'increase', 'decrease', 'swap'),
  first: told,
  other: told,
  field: fc.nat({ max: 10 }),
})

test('a fill that is told anew counts as it was told last, whichever figure is another', () => {
  const fields = ['sizeDeltaUsd', 'sizeDeltaInTokens', 'pnlUsd', 'basePnlUsd', 'priceImpactUsd', 'feesUsd']
  const more = ['borrowingFeeUsd', 'fundingFeeUsd', 'fundingReceivedUsd', 'swapResultUsd', 'timestampSeconds']
  fc.assert(
    fc.property(fc.array(anyRetold, { minLength: 1, maxLength: 8 }), (retold) => {
      const [anew, atOnce] = [createLedger(), createLedger()]
      const fills = retold.map(({ strategy, kind, first, other, field }, n) => {
        const name = ([...fields, ...more][field] ?? 'pnlUsd') as keyof Settlement
        const fill: Fill = { n, strategy, kind, settlement: first, isProvisional: true }
        return { fill, last: { ...fill, settlement: { ...first, [name]: other[name] ?? first[name] } } }
      })
      for (const { fill, last } of fills) {
        for (const record of executed(fill)) anew.fold(record)
        for (const record of executed(last)) atOnce.fold(record)
      }
      // With the word that it is final, or before.
      for (const { last } of fills) if (last.n % 2 === 0) anew.fold(execution(last, false))
      for (const { last } of fills) for (const ledger of [anew, atOnce]) ledger.fold(execution(last, true))
      expect(rowsOf(anew.books().all())).toEqual(rowsOf(atOnce.books().all()))
      expect(rowsOf(anew.books().days(0, true))).toEqual(rowsOf(atOnce.books().days(0, true)))
      for (const { last } of fills) for (const ledger of [anew, atOnce]) ledger.fold(closed(last))
      expect(toldBy(anew)).toEqual(toldBy(atOnce))
    }),
    { seed: 20_270_118, numRuns: 400 },
  )
})

test('money is lost by no share: the books’ results add up to the venue’s, and to what is in the cost of what is held', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      // What was given back late is told by its sum alone, and what nobody knows the result of counts as nothing.
      const made = steps
        .filter(({ what }) => what === 'fill')
        .map((step) => ({ ...step, isProvisional: false }))
      const ledger = createLedger()
      let venueUsd = 0n
      play(
        made,
        (record) => {
          ledger.fold(record)
          if (record.kind !== 'child.executed') return
          const { pnlUsd, feesUsd = 0n, fundingReceivedUsd = 0n } = record.settlement ?? {}
          venueUsd += (pnlUsd ?? -feesUsd) + fundingReceivedUsd
        },
        () => undefined,
      )
      let booksUsd = 0n
      for (const { figures, costUsd, sizeUsd, direction } of ledger.books().all()) {
        const { pricePnlUsd, impactUsd, positionFeesUsd, borrowingUsd, fundingUsd } = figures
        const heldUsd = direction === 'long' ? costUsd - sizeUsd : sizeUsd - costUsd
        booksUsd += pricePnlUsd + impactUsd - positionFeesUsd - borrowingUsd - fundingUsd - heldUsd
      }
      expect(booksUsd).toBe(venueUsd)
    }),
    { seed: 20_270_117, numRuns: 300 },
  )
})

test('after any history the result that protections judge by is what the books brought, and never above its highest', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const ledger = createLedger()
      play(
        steps,
        (record) => {
          ledger.fold(record)
          const books = ledger.books()
          const results = new Map<string, bigint>()
          for (const { strategy, figures } of books.all())
            results.set(strategy, (results.get(strategy) ?? 0n) + resultOf(figures))
          for (const [strategy, resultUsd] of results) {
            const track = books.trackOf(strategy)
            expect(track.resultUsd).toBe(resultUsd)
            expect(track.peakUsd).toBeGreaterThanOrEqual(resultUsd)
            expect([...track.stopsMs]).toEqual([...track.stopsMs].sort((one, other) => one - other))
          }
        },
        () => undefined,
      )
    }),
    { seed: 20_270_118, numRuns: 200 },
  )
})
