/** Which resting orders a kill leaves: exits of what is held, by any source, and none that only waits with its entry. Pure. */
import { expect, test } from 'vitest'
import { sideKeyOf } from '../../src/domain/accountRecords/accountRecord.ts'
import type { HeldSides } from '../../src/domain/accountRecords/held.ts'
import type { Child, IntentState } from '../../src/domain/order/intent.ts'
import type { Order, Position } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { type ExitFacts, protectiveKeys } from '../../src/tasks/protectiveExits.ts'
import { ethMarket, intentOf, usdc } from '../support/intents.ts'

const long = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const row = { ...long, sizeInUsd: usd(500) } as Position
const order = (orderKey: string, orderType: number, more: object = {}): Order =>
  ({ ...long, initialCollateralToken: usdc, orderKey, orderType, ...more }) as unknown as Order
const facts = (
  orders: readonly Order[],
  more: Partial<ExitFacts> & {
    readonly held?: readonly Position[]
    readonly missing?: readonly object[]
  } = {},
): ExitFacts => {
  const { held = [], missing, ...rest } = more
  const positions = { value: held, ...(missing === undefined ? {} : { missing }) }
  const snapshot = { orders: { value: orders }, positions } as unknown as ExitFacts['snapshot']
  return { snapshot, open: [], journal: new Map(), elsewhere: [], ...rest }
}
const kept = (of: ExitFacts) => [...protectiveKeys(of)].toSorted()
const stops = [order('0xa5', 5), order('0xa6', 6), order('0xa3', 3), order('0xa8', 8), order('0xa1', 1)]

test('exits of a side that the list, another host or the journal holds are kept, entries never', () => {
  const journal: HeldSides = new Map([[sideKeyOf(long), { ...long, sizeUsd: usd(5) }]])
  for (const more of [{ held: [row] }, { elsewhere: [row] }, { journal }, { missing: [{ problem: 'x' }] }])
    expect(kept(facts(stops, more))).toEqual(['0xa5', '0xa6'])
  expect(kept(facts(stops))).toEqual([])
  const other = facts([order('0xb6', 6, { direction: 'short' })], { held: [row] })
  expect(kept(other)).toEqual([])
})

/** An entry with a stop-loss, in these phases. */
const entry = (orderType: 'limit' | 'market', phase: Child['phase']): IntentState => {
  const intent = intentOf({ intentId: 'f00d' })
  const children = [
    { index: 0, orderKey: '0xe0', phase, role: 'main' },
    { index: 1, orderKey: '0xe6', phase: 'OPEN', role: 'stop-loss' },
  ]
  return {
    intent: { ...intent, kind: 'increase', terms: { ...intent.terms, orderType } },
    attempts: [{ children }],
  } as unknown as IntentState
}

test('exits of an entry that rests or was cancelled go with it, those of one that fills now or filled stay', () => {
  const stop = order('0xe6', 6)
  const keptOf = (state: IntentState, listed: readonly Order[], held: readonly Position[]) =>
    kept(facts([stop, ...listed], { open: [state], held }))
  // Beside what is held already too: they are made for what the entry would have added.
  expect(keptOf(entry('limit', 'OPEN'), [order('0xe0', 3)], [row])).toEqual([])
  expect(keptOf(entry('limit', 'CANCELLED'), [], [row])).toEqual([])
  // The list shows the entry no more, and the journal has not heard: it may have filled.
  expect(keptOf(entry('limit', 'OPEN'), [], [])).toEqual(['0xe6'])
  expect(keptOf(entry('market', 'OPEN'), [order('0xe0', 2)], [])).toEqual(['0xe6'])
  expect(keptOf(entry('market', 'EXECUTED'), [], [row])).toEqual(['0xe6'])
  expect(keptOf(entry('market', 'EXECUTED'), [], [])).toEqual([])
})
