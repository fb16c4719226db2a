/** Books are those of the chain's order, in whatever order fills are told. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { wrongSums } from '../../src/books/bookSums.ts'
import { UNATTRIBUTED } from '../../src/books/sideParts.ts'
import type { AnyRecord } from '../../src/domain/records.ts'
import { createLedger, type Ledger } from '../../src/journal/journalLedger.ts'
import { decodeSnapshot } from '../../src/journal/ledgerState.ts'
import { usd } from '../../src/protocol/units.ts'
import { closed, executed, execution, type Fill, raised, side } from './history.ts'
import { toldBy } from './toldBy.ts'

const startSeconds = 1_800_000_000
const pace = 10n ** 15n

function sizes(ledger: Ledger): Readonly<Record<string, number>> {
  const books = ledger.books().all()
  const held = books.filter(({ sizeUsd }) => sizeUsd !== 0n)
  return Object.fromEntries(held.map(({ strategy, sizeUsd }) => [strategy, Number(sizeUsd / 10n ** 30n)]))
}

function ledgerOf(...told: readonly (readonly AnyRecord[])[]): Ledger {
  const ledger = createLedger()
  for (const record of told.flat()) ledger.fold(record)
  return ledger
}

/** A fill of so many dollars at a second of the venue. */
function fillAt(
  n: number,
  second: number,
  strategy: string,
  kind: 'increase' | 'decrease',
  dollars: number,
): Fill {
  const settlement = { sizeDeltaUsd: usd(dollars), timestampSeconds: startSeconds + second }
  return {
    n,
    strategy,
    kind,
    settlement: kind === 'decrease' ? { ...settlement, pnlUsd: usd(-1) } : settlement,
  }
}

test('an exit left over that is told before the entry that it closed takes it off that entry’s book', () => {
  const entry = fillAt(1, 10, 'trend', 'increase', 2_000)
  const leftOver = fillAt(2, 20, 'grid', 'decrease', 1_500)
  const early = ledgerOf(executed(leftOver))
  expect(sizes(early)).toEqual({ [UNATTRIBUTED]: -1_500 })
  const late = ledgerOf(executed(leftOver), executed(entry))
  expect(sizes(late)).toEqual({ trend: 500 })
  expect(late.books().heldBy('trend', side)).toBe(usd(500))
  expect(toldBy(late)).toEqual(toldBy(ledgerOf(executed(entry), executed(leftOver))))
})

test('of one block the place of the log decides, of one second without blocks what adds came first', () => {
  const close = fillAt(1, 10, 'grid', 'decrease', 1_500)
  const open = fillAt(2, 10, 'trend', 'increase', 2_000)
  expect(sizes(ledgerOf(executed(close), executed(open)))).toEqual({ trend: 500 })
  const after = { ...open, log: { block: 7n, logIndex: 9 } }
  const before = { ...close, log: { block: 7n, logIndex: 8 } }
  const apart = { trend: 2_000, [UNATTRIBUTED]: -1_500 }
  expect(sizes(ledgerOf(executed(before), executed(after)))).toEqual(apart)
  expect(sizes(ledgerOf(executed(after), executed(before)))).toEqual(apart)
})

test('a fill that is told once what came after it is for good comes behind that', () => {
  const leftOver = fillAt(1, 20, 'grid', 'decrease', 1_500)
  const twoHoursLater = 1_800_007_200_100
  const other = { ...fillAt(3, 7_250, 'trend', 'increase', 100), atMs: twoHoursLater }
  const entry = { ...fillAt(2, 10, 'trend', 'increase', 2_000), atMs: twoHoursLater }
  expect(sizes(ledgerOf(executed(leftOver), executed(other), executed(entry)))).toEqual({
    trend: 2_100,
    [UNATTRIBUTED]: -1_500,
  })
})

interface Step {
  readonly what: 'open' | 'open' | 'reduce' | 'stop' | 'hand'
  readonly strategy: string
  readonly sizeUsd: bigint
  readonly moneyUsd: bigint
  readonly passedSeconds: number
  readonly isNextLog: boolean
  readonly isProvisional: boolean
  readonly toldAt: number
}

const anyStep: fc.Arbitrary<Step> = fc.record({
  what: fc.constantFrom('open', 'open', 'reduce', 'stop', 'hand'),
  strategy: fc.constantFrom('trend', 'grid', 'keen', '@operator'),
  sizeUsd: fc.bigInt({ min: 1n, max: 10n ** 33n }),
  moneyUsd: fc.bigInt({ min: -(10n ** 31n), max: 10n ** 31n }),
  passedSeconds: fc.nat({ max: 60 }),
  isNextLog: fc.boolean(),
  isProvisional: fc.boolean(),
  toldAt: fc.nat({ max: 1_000 }),
})

/** What happened once, and what tells it: at first, and where the chain may take it back once more at last. */
interface Told {
  readonly first: readonly AnyRecord[]
  readonly last: readonly AnyRecord[]
  readonly toldAt: number
}

/** A history as the venue makes it: nothing is reduced by more than the position is. */
function historyOf(steps: readonly Step[]): { readonly told: readonly Told[]; readonly positionUsd: bigint } {
  const told: Told[] = []
  let positionUsd = 0n
  let seconds = startSeconds
  let block = 1n
  let logIndex = 0
  for (const [n, step] of steps.entries()) {
    const { what, strategy, moneyUsd, toldAt, isProvisional } = step
    const adds = what === 'open'
    const sizeDeltaUsd = adds || step.sizeUsd < positionUsd ? step.sizeUsd : positionUsd
    if (sizeDeltaUsd === 0n) continue
    // Of a trade by hand no block is told: it has a second of its own.
    const isApart = what === 'hand'
    seconds += isApart ? step.passedSeconds + 1 : step.passedSeconds
    const isSameBlock = step.isNextLog && step.passedSeconds === 0 && !isApart
    block += isSameBlock ? 0n : 1n
    logIndex += 1
    positionUsd += adds ? sizeDeltaUsd : -sizeDeltaUsd
    if (isApart) {
      const more = { pnlUsd: moneyUsd, atMs: seconds * 1_000, sizeDeltaInTokens: sizeDeltaUsd / pace }
      told.push({ first: [raised(`trade:${n}`, 'manual-decrease', -sizeDeltaUsd, more)], last: [], toldAt })
      seconds += 1
      continue
    }
    const fees = moneyUsd < 0n ? -moneyUsd : moneyUsd
    const money = { feesUsd: fees, borrowingFeeUsd: fees / 3n, ...(adds ? {} : { pnlUsd: moneyUsd }) }
    const fill: Fill = {
      ...{ n, strategy, isProvisional, log: { block, logIndex }, kind: adds ? 'increase' : 'decrease' },
      settlement: {
        ...{ sizeDeltaUsd, sizeDeltaInTokens: sizeDeltaUsd / pace, timestampSeconds: seconds, ...money },
      },
      ...(what === 'stop' ? { terms: { orderType: 'stop-loss' } } : {}),
    }
    const last = isProvisional ? [execution(fill, true), closed(fill)] : [closed(fill)]
    told.push({ first: executed(fill), last, toldAt })
  }
  return { told, positionUsd }
}

test('in whatever order fills are told, no book is larger than the position, nothing is nobody’s debt, and all is as on the chain', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 25 }), fc.nat(), (steps, restart) => {
      const { told, positionUsd } = historyOf(steps)
      const onChain = ledgerOf(...told.map(({ first }) => first), ...told.map(({ last }) => last))
      let ledger = createLedger()
      const shuffled = told.toSorted((one, other) => one.toldAt - other.toldAt)
      for (const [n, { first }] of shuffled.entries()) {
        for (const record of first) ledger.fold(record)
        expect(wrongSums(ledger)).toEqual([])
        if (n !== restart % Math.max(1, told.length)) continue
        const { seq, head, part } = ledger.snapshot()
        ledger = createLedger(decodeSnapshot({ seq, head, parts: [part] }))
      }
      let sumUsd = 0n
      for (const { sizeUsd } of ledger.books().all()) {
        expect(sizeUsd).toBeGreaterThanOrEqual(0n)
        expect(sizeUsd).toBeLessThanOrEqual(positionUsd)
        sumUsd += sizeUsd
      }
      expect(sumUsd).toBe(positionUsd)
      for (const { last } of shuffled) for (const record of last) ledger.fold(record)
      expect(toldBy(ledger)).toEqual(toldBy(onChain))
      for (const strategy of ['trend', 'grid', 'keen', '@operator']) {
        const [track, other] = [ledger, onChain].map((each) => each.books().trackOf(strategy))
        expect(track?.resultUsd).toBe(other?.resultUsd)
        expect(track?.stopsMs).toEqual(other?.stopsMs)
      }
    }),
    { seed: 20_261_126, numRuns: 300 },
  )
})
