/** A strategy's own part, as its own limits count it: which of others' and its own reductions give it room, and when. */
import { expect, test } from 'vitest'
import { exposuresOf } from '../../src/engine/judging/ownPart.ts'
import { createLedger } from '../../src/journal/journalLedger.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { sideOf, worstCaseUsd } from '../../src/risk/exposure/accountExposure.ts'
import { closed, executed, execution, type Fill, reopened, side } from '../books/history.ts'
import { snapshot } from '../risk/world.ts'

const opensOf = (n: number, strategy: string, sizeUsd: number): Fill => ({
  n,
  strategy,
  settlement: { sizeDeltaUsd: usd(sizeUsd) },
})
/** One holds 150, two 100. */
const begun = [opensOf(1, 'one', 150), opensOf(2, 'two', 100)].flatMap((fill) => [
  ...executed(fill),
  closed(fill),
])
const reduces = (strategy: string, sizeUsd: number): Fill => ({
  n: 3,
  strategy,
  kind: 'decrease',
  settlement: { sizeDeltaUsd: usd(sizeUsd) },
  isProvisional: true,
})

/** What one's own limits count, and what its books hold. */
function ownOf(records: readonly Parameters<ReturnType<typeof createLedger>['fold']>[0][]): {
  readonly countedUsd: Usd
  readonly heldUsd: Usd
} {
  const ledger = createLedger()
  for (const record of records) ledger.fold(record)
  // Orders that reduce reserve nothing; those of the stories do.
  const unseen = ledger
    .openIntents()
    .map((state) => ({ ...state, intent: { ...state.intent, reservationUsd: 0n } }))
  const books = ledger.books()
  const facts = {
    known: { exposureOf: () => undefined },
    limits: { ownOn: () => ({ maxPositionSizeUsd: usd(1_000) }) },
    orders: { unseen, pending: [] },
    own: { parts: books.partsOf('one'), finalParts: books.partsOf('one', true) },
  } as unknown as Parameters<typeof exposuresOf>[0]
  const { own } = exposuresOf(facts, 'one', snapshot())
  if (own === undefined) throw new TypeError('it has limits')
  return {
    countedUsd: worstCaseUsd(sideOf(own.exposure, side.marketToken, side.direction)),
    heldUsd: books.heldBy('one', side),
  }
}

test('another’s reduction that takes from its part gives it room once it is final, and its books know it at once', () => {
  const larger = reduces('two', 160)
  expect(ownOf(begun)).toEqual({ countedUsd: usd(150), heldUsd: usd(150) })
  expect(ownOf([...begun, ...executed(larger)])).toEqual({ countedUsd: usd(150), heldUsd: usd(90) })
  expect(ownOf([...begun, ...executed(larger), execution(larger, true)])).toEqual({
    countedUsd: usd(90),
    heldUsd: usd(90),
  })
  expect(ownOf([...begun, ...executed(larger), reopened(larger)])).toEqual({
    countedUsd: usd(150),
    heldUsd: usd(150),
  })
})

test('its own reduction gives it room once it is final', () => {
  const own = reduces('one', 60)
  expect(ownOf([...begun, ...executed(own)])).toEqual({ countedUsd: usd(150), heldUsd: usd(90) })
  expect(ownOf([...begun, ...executed(own), execution(own, true)]).countedUsd).toBe(usd(90))
})

test('another’s reduction of the other’s own part takes no room from it, final or not', () => {
  const within = reduces('two', 100)
  expect(ownOf([...begun, ...executed(within)]).countedUsd).toBe(usd(150))
  expect(ownOf([...begun, ...executed(within), execution(within, true)]).countedUsd).toBe(usd(150))
})
