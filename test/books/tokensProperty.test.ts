/** Tokens and collateral of the books against a position kept as the venue keeps it, over made-up histories that are told in full. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Book } from '../../src/books/books.ts'
import { UNATTRIBUTED } from '../../src/books/sideParts.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, execution, type Fill, raised, reopened, side } from './history.ts'

/** Index tokens have 18 decimals: base units of a size at a price, USD per whole token. */
const tokensAt = (sizeUsd: bigint, price: bigint) => sizeUsd / (price * 10n ** 12n)

/** One position as the contract counts it: tokens of a reduction are rounded against the holder, and the last one takes all. */
class VenuePosition {
  sizeUsd = 0n
  tokens = 0n
  readonly isLong: boolean

  constructor(isLong: boolean) {
    this.isLong = isLong
  }

  /** Tokens that come with a size. */
  increase(sizeUsd: bigint, price: bigint): bigint {
    const tokens = tokensAt(sizeUsd, price)
    this.sizeUsd += sizeUsd
    this.tokens += tokens
    return tokens
  }

  /** Tokens that leave with a size. */
  decrease(sizeUsd: bigint): bigint {
    const product = this.tokens * sizeUsd
    const rounded = this.isLong ? (product + this.sizeUsd - 1n) / this.sizeUsd : product / this.sizeUsd
    const tokens = sizeUsd === this.sizeUsd ? this.tokens : rounded
    this.sizeUsd -= sizeUsd
    this.tokens -= tokens
    return tokens
  }
}

interface Step {
  readonly what: 'increase' | 'decrease' | 'close' | 'hand-in' | 'hand-out' | 'liquidation' | 'taken-back'
  readonly strategy: string
  readonly sizeUsd: bigint
  readonly shareBps: bigint
  readonly price: bigint
  readonly collateral: bigint
  readonly isLong: boolean
  readonly isTold: boolean
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom(
    'increase',
    'increase',
    'increase',
    'decrease',
    'decrease',
    'close',
    'hand-in',
    'hand-out',
    'liquidation',
    'taken-back',
  ),
  strategy: fc.constantFrom('trend', 'grid', 'guard', '@operator'),
  sizeUsd: fc.bigInt({ min: usd('0.01'), max: usd(1_000_000) }),
  shareBps: fc.bigInt({ min: 1n, max: 10_000n }),
  price: fc.bigInt({ min: 500n, max: 9_000n }),
  collateral: fc.bigInt({ min: 0n, max: 10n ** 21n }),
  isLong: fc.boolean(),
  isTold: fc.boolean(),
})

/**
 * Plays steps as records. Reductions are of the whole position, whosever they are: they take of others where the own part is less.
 * `after` is told each whole step, with the venue's position and what was paid in on its side so far.
 */
function play(
  steps: readonly Step[],
  fold: (record: AnyRecord) => void,
  after: (step: Step, position: VenuePosition, paidIn: bigint) => void,
): void {
  const positions = { long: new VenuePosition(true), short: new VenuePosition(false) }
  const paidIn = { long: 0n, short: 0n }
  for (const [n, step] of steps.entries()) {
    const direction = step.isLong ? 'long' : 'short'
    const position = positions[direction]
    const atMs = 1_800_000_000_000 + n * 1_000
    const adds = step.what === 'increase' || step.what === 'hand-in' || step.what === 'taken-back'
    if (!adds && position.sizeUsd === 0n) continue
    const isWhole = step.what === 'close' || step.what === 'liquidation'
    const share = (position.sizeUsd * step.shareBps) / 10_000n
    const sizeUsd = adds ? step.sizeUsd : isWhole || share === 0n ? position.sizeUsd : share
    const before = { sizeUsd: position.sizeUsd, tokens: position.tokens }
    const tokens = adds ? position.increase(sizeUsd, step.price) : position.decrease(sizeUsd)
    const byOthers = {
      'hand-in': 'manual-increase',
      'hand-out': 'manual-decrease',
      liquidation: 'liquidation',
    }
    const found = byOthers[step.what as keyof typeof byOthers] as 'liquidation' | undefined
    // What rounds down to the last unit as the books do need not be told.
    const isTold = step.isTold || adds || step.isLong
    if (found !== undefined) {
      const told = isTold ? { sizeDeltaInTokens: tokens } : {}
      fold(
        raised(`trade:${n}`, found, adds ? sizeUsd : -sizeUsd, { atMs, on: { ...side, direction }, ...told }),
      )
      after(step, position, paidIn[direction])
      continue
    }
    const fill: Fill = {
      n,
      strategy: step.strategy,
      kind: adds ? 'increase' : 'decrease',
      direction,
      atMs,
      isProvisional: step.what === 'taken-back',
      settlement: { sizeDeltaUsd: sizeUsd, ...(isTold ? { sizeDeltaInTokens: tokens } : {}) },
      terms: { collateralDelta: adds ? step.collateral : 0n },
    }
    for (const record of executed(fill)) fold(record)
    if (step.what === 'taken-back') {
      fold(reopened(fill))
      Object.assign(position, before)
      after(step, position, paidIn[direction])
      // It is executed in another block after all.
      fold(execution(fill, true))
      position.increase(sizeUsd, step.price)
    }
    fold(closed(fill))
    if (adds) paidIn[direction] += step.collateral
    after(step, position, paidIn[direction])
  }
}

const booksOn = (books: readonly Book[], isLong: boolean) =>
  books.filter(({ direction }) => (direction === 'long') === isLong)

const sum = (amounts: readonly bigint[]) => amounts.reduce((all, each) => all + each, 0n)

test('after any history the tokens of all books and what is nobody’s add up to the position’s, to the last unit', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const ledger = createLedger()
      play(
        steps,
        (record) => ledger.fold(record),
        ({ isLong }, { sizeUsd, tokens }) => {
          const own = booksOn(ledger.books().all(), isLong)
          expect(sum(own.map((book) => book.sizeUsd))).toBe(sizeUsd)
          expect(sum(own.map((book) => book.sizeInTokens))).toBe(tokens)
        },
      )
    }),
    { seed: 20_270_119, numRuns: 400 },
  )
})

test('collateral of a book is what its orders paid in; it leaves in proportion to the size, and nothing is left of it in the end', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
      const ledger = createLedger()
      let before: readonly Book[] = []
      play(
        steps,
        (record) => ledger.fold(record),
        ({ isLong }, _position, paidIn) => {
          const now = ledger.books().all()
          for (const book of booksOn(now, isLong)) {
            expect(book.collateral).toBeGreaterThanOrEqual(0n)
            if (book.sizeUsd === 0n || book.strategy === UNATTRIBUTED) expect(book.collateral).toBe(0n)
            const last = booksOn(before, isLong).find(({ strategy }) => strategy === book.strategy)
            if (last === undefined || last.sizeUsd <= book.sizeUsd) continue
            // What stays is the share of what stayed of the size, within a unit.
            const apart = book.collateral * last.sizeUsd - last.collateral * book.sizeUsd
            expect(apart).toBeGreaterThanOrEqual(0n)
            expect(apart).toBeLessThan(last.sizeUsd)
          }
          expect(sum(booksOn(now, isLong).map(({ collateral }) => collateral))).toBeLessThanOrEqual(paidIn)
          before = now
        },
      )
    }),
    { seed: 20_270_120, numRuns: 300 },
  )
})
