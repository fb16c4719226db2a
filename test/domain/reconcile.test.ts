import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  ACCOUNT_ID,
  type AccountState,
  applyAccountRecord,
  type Discrepancy,
  type DiscrepancyEnd,
  emptyAccountState,
  isUnexplained,
  pauses,
} from '../../src/domain/accountRecords/accountRecord.ts'
import { listedOrders } from '../../src/domain/accountRecords/changedOrders.ts'
import { discrepanciesNamed, shortDiscrepancyId } from '../../src/domain/accountRecords/discrepancyId.ts'
import { type ReconcileView, reconcile } from '../../src/domain/accountRecords/reconcile.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Hex } from '../../src/protocol/address.ts'
import type { Order, Position, Trade } from '../../src/protocol/position.ts'
import { usd } from '../../src/protocol/units.ts'
import { account, ethMarket, orderKey, tradeOf, usdc } from '../support/intents.ts'

const side = { marketToken: ethMarket, direction: 'long', collateralToken: usdc } as const
const strangerKey: Hex = `0x${'0c'.repeat(32)}`

function position(sizeInUsd: bigint): Position {
  return {
    ...side,
    positionKey: 'k',
    contractKey: `0x${'01'.repeat(32)}`,
    account,
    sizeInUsd,
    sizeInTokens: 1n,
    collateralAmount: 1n,
    collateralUsd: 1n,
    remainingCollateralUsd: 1n,
    markPrice: usd(1800),
    pnlUsd: 0n,
    pnlAfterFeesUsd: 0n,
    positionValueInUsd: 1n,
    netValueUsd: 1n,
    increasedAtSeconds: 0,
    decreasedAtSeconds: 0,
  }
}

function order(key: Hex): Order {
  return {
    orderKey: key,
    account,
    receiver: account,
    marketToken: ethMarket,
    initialCollateralToken: usdc,
    orderType: 3,
    direction: 'long',
    sizeDeltaUsd: usd(300),
    initialCollateralDeltaAmount: 1n,
    triggerContractPrice: 1n,
    acceptableContractPrice: 1n,
    isFrozen: false,
    updatedAtSeconds: 5,
    validFromSeconds: 0,
  }
}

function view(parts: Partial<ReconcileView> = {}): ReconcileView {
  return {
    positions: [],
    orders: [],
    trades: [],
    explained: new Set([orderKey]),
    fills: [],
    busyMarkets: new Set(),
    unresolvedSince: new Map(),
    account: emptyAccountState,
    symbols: { [ethMarket.toLowerCase()]: 'ETH/USD' },
    ...parts,
  }
}

function raise(state: AccountState, ...discrepancies: readonly Discrepancy[]): AccountState {
  return discrepancies.reduce(
    (before, discrepancy) =>
      applyAccountRecord(before, {
        v: RECORD_VERSION,
        atMs: 1,
        intentId: ACCOUNT_ID,
        kind: 'discrepancy.raised',
        discrepancy,
      }),
    state,
  )
}

function settle(state: AccountState, discrepancyId: string, as: DiscrepancyEnd): AccountState {
  return applyAccountRecord(state, {
    v: RECORD_VERSION,
    atMs: 2,
    intentId: ACCOUNT_ID,
    kind: 'discrepancy.settled',
    discrepancyId,
    as,
    by: 'ann',
  })
}

const stranger = (parts: Partial<Trade> = {}) =>
  tradeOf({ id: 'trade-x', orderKey: strangerKey, sizeDeltaUsd: usd(500), ...parts })
const kindsOf = ({ raised }: { readonly raised: readonly Discrepancy[] }) => raised.map(({ kind }) => kind)

test('what our fills explain is no discrepancy', () => {
  const fills = [
    { ...side, sizeDeltaUsd: usd(500) },
    { ...side, sizeDeltaUsd: -usd(200) },
  ]
  const found = reconcile(view({ fills, positions: [position(usd(300))], trades: [tradeOf()] }))
  expect(found).toEqual({ raised: [], gone: [], deferred: 0 })
})

test('a liquidation is the protocol’s: it is told, counted, and pauses nothing', () => {
  const fills = [{ ...side, sizeDeltaUsd: usd(500) }]
  const found = reconcile(view({ fills, trades: [stranger({ orderType: 7 })] }))
  expect(kindsOf(found)).toEqual(['liquidation'])
  expect(found.raised[0]?.sizeDeltaUsd).toBe(-usd(500))
  expect(found.raised.map((discrepancy) => pauses({ discrepancy, raisedAtMs: 0 }))).toEqual([false])
})

test('an order that was made in the transaction that executed it is the protocol’s own: ADL', () => {
  const fills = [{ ...side, sizeDeltaUsd: usd(800) }]
  const hash: Hex = `0x${'ad'.repeat(32)}`
  const executed = stranger({ orderType: 4, transactionHash: hash })
  const created = stranger({ id: 'c', eventName: 'OrderCreated', orderType: 4, transactionHash: hash })
  const positions = [position(usd(300))]
  expect(kindsOf(reconcile(view({ fills, positions, trades: [executed, created] })))).toEqual(['adl'])
  const byHand = { ...created, transactionHash: `0x${'ae'.repeat(32)}` as Hex }
  expect(kindsOf(reconcile(view({ fills, positions, trades: [executed, byHand] })))).toEqual([
    'manual-decrease',
  ])
  expect(
    kindsOf(reconcile(view({ fills: [{ ...side, sizeDeltaUsd: usd(500) }], trades: [executed, byHand] }))),
  ).toEqual(['external-close'])
})

test('a market close whose creation no row shows is by hand, and holds increases', () => {
  const fills = [{ ...side, sizeDeltaUsd: usd(500) }]
  const found = reconcile(view({ fills, trades: [stranger({ orderType: 4 })] }))
  expect(kindsOf(found)).toEqual(['external-close'])
  expect(found.raised.map((discrepancy) => pauses({ discrepancy, raisedAtMs: 0 }))).toEqual([true])
})

test('where the chain is read its word on deleveraging counts, whatever rows show of the creation', () => {
  const fills = [{ ...side, sizeDeltaUsd: usd(500) }]
  const hash: Hex = `0x${'ad'.repeat(32)}`
  const executed = stranger({ orderType: 4, transactionHash: hash })
  const together = stranger({ id: 'c', eventName: 'OrderCreated', orderType: 4, transactionHash: hash })
  const found = (isAdl: boolean, trades: readonly Trade[]) =>
    kindsOf(reconcile(view({ fills, trades, deleveraged: new Map([[executed.id, isAdl]]) })))
  expect(found(true, [executed])).toEqual(['adl'])
  expect(found(false, [executed, together])).toEqual(['external-close'])
})

test('what is older than the first look is a starting inventory, and what came later is drift', () => {
  const old = { ...position(usd(700)), increasedAtSeconds: 90 }
  const orders = [{ ...order(strangerKey), updatedAtSeconds: 90 }]
  const found = reconcile(view({ positions: [old], orders, firstLookSeconds: 100 }))
  expect(found.raised.map(({ kind, isInitial }) => [kind, isInitial])).toEqual([
    ['unexplained-order', true],
    ['unexplained-position', true],
  ])
  expect(found.raised.map((discrepancy) => isUnexplained({ discrepancy, raisedAtMs: 0 }))).toEqual([
    false,
    false,
  ])
  expect(found.raised.map((discrepancy) => pauses({ discrepancy, raisedAtMs: 0 }))).toEqual([true, true])
  const later = { ...old, increasedAtSeconds: 100 }
  const fresh = reconcile(view({ positions: [later], firstLookSeconds: 100 }))
  expect(fresh.raised.map((discrepancy) => isUnexplained({ discrepancy, raisedAtMs: 0 }))).toEqual([true])
  // Ours that shrank is no inventory, however old it is.
  const fills = [{ ...side, sizeDeltaUsd: usd(900) }]
  const less = reconcile(view({ positions: [old], fills, firstLookSeconds: 100 }))
  expect(less.raised.map((discrepancy) => isUnexplained({ discrepancy, raisedAtMs: 0 }))).toEqual([true])
})

test('a discrepancy is named by its short id, by its own, and by the beginning of either', () => {
  const found = reconcile(view({ orders: [order(strangerKey)], positions: [position(usd(1))] })).raised
  const states = found.map((discrepancy) => ({ discrepancy, raisedAtMs: 0 }))
  const [first] = states
  const id = first?.discrepancy.discrepancyId ?? ''
  for (const wanted of [id, shortDiscrepancyId(id), shortDiscrepancyId(id).slice(0, 5), id.slice(0, 12)]) {
    expect(discrepanciesNamed(states, wanted)).toEqual([first])
  }
  expect(discrepanciesNamed(states, '')).toEqual([])
})

test('a trade by hand is told once and explains its own size', () => {
  const trades = [stranger({ orderType: 2 })]
  const positions = [position(usd(500))]
  const first = reconcile(view({ positions, trades }))
  expect(kindsOf(first)).toEqual(['manual-increase'])
  const account = raise(emptyAccountState, ...first.raised)
  expect(reconcile(view({ positions, trades, account })).raised).toEqual([])
})

test('an exit of the whole that somebody placed by hand is told without its largest number', () => {
  const exit = { ...order(strangerKey), orderType: 6 as const, sizeDeltaUsd: 2n ** 256n - 1n }
  const [discrepancy] = reconcile(view({ orders: [exit] })).raised
  expect(discrepancy?.statement).toContain('a stop-loss order over all of the position rests on ')
})

test('a resting order of a stranger is told, and is gone when it rests no longer', () => {
  const first = reconcile(view({ orders: [order(strangerKey), order(orderKey)] }))
  expect(first.raised.map(({ kind, orderKey: key }) => [kind, key])).toEqual([
    ['unexplained-order', strangerKey],
  ])
  const account = raise(emptyAccountState, ...first.raised)
  expect(reconcile(view({ orders: [order(strangerKey)], account })).gone).toEqual([])
  expect(reconcile(view({ account })).gone).toEqual([`order:${strangerKey}`])
})

const exitKey: Hex = `0x${'0e'.repeat(32)}`
const stop: Order = {
  ...order(exitKey),
  orderType: 6,
  sizeDeltaUsd: usd(500),
  triggerContractPrice: 1_600n * 10n ** 12n,
  acceptableContractPrice: 0n,
  minOutputAmount: 0n,
  autoCancel: true,
}
/** The stop as it was signed. */
const own = new Map([
  [
    exitKey,
    {
      signed: {
        orderType: 6,
        sizeDeltaUsd: usd(500),
        collateralAmount: 0n,
        kept: {
          marketToken: ethMarket,
          direction: 'long' as const,
          collateralToken: usdc,
          triggerContractPrice: stop.triggerContractPrice,
          acceptableContractPrice: 0n,
          minOutputAmount: 0n,
          autoCancel: true,
        },
      },
      indexDecimals: 18,
    },
  ],
])
const explained = new Set([exitKey])
const moved: Order = { ...stop, triggerContractPrice: 1_700n * 10n ** 12n }

test.each<readonly [string, Partial<Order>, string]>([
  [
    'trigger',
    { triggerContractPrice: 1_700n * 10n ** 12n },
    'its trigger is $1,700.00, perpd signed $1,600.00',
  ],
  ['size', { sizeDeltaUsd: usd(5) }, 'its size is $5.00, perpd signed $500.00'],
  [
    'acceptable price',
    { acceptableContractPrice: 1_550n * 10n ** 12n },
    'its acceptable price is $1,550.00, perpd signed any price',
  ],
  ['least output', { minOutputAmount: 9n }, 'its least output is 9, perpd signed 0'],
  ['autoCancel', { autoCancel: false }, 'autoCancel is false, perpd signed true'],
])('a stop of ours whose %s another client changed is told, and holds increases', (_what, fields, text) => {
  const { raised } = reconcile(view({ orders: [{ ...stop, ...fields }], own, explained }))
  expect(raised).toMatchObject([{ kind: 'changed-order', orderKey: exitKey, sizeDeltaUsd: 0n }])
  expect(raised[0]?.statement).toBe(`another client changed the stop-loss order on ETH/USD long: ${text}`)
  expect(raised.map((discrepancy) => pauses({ discrepancy, raisedAtMs: 0 }))).toEqual([true])
})

test('an order of ours that rests as it was signed, or that a message of ours may be changing, is no discrepancy', () => {
  const fees = { executionFee: 1n, initialCollateralDeltaAmount: 7n, isFrozen: true, updatedAtSeconds: 99 }
  expect(reconcile(view({ orders: [{ ...stop, ...fees }], own, explained })).raised).toEqual([])
  expect(reconcile(view({ orders: [moved], explained })).raised).toEqual([])
})

test('a changed order is told once each time, and is gone when it is as signed again or rests no longer, settled or not', () => {
  const { raised } = reconcile(view({ orders: [moved], own, explained }))
  const [id = ''] = raised.map(({ discrepancyId }) => discrepancyId)
  const told = raise(emptyAccountState, ...raised)
  const seen = (account: AccountState, parts: Partial<ReconcileView>) =>
    reconcile(view({ own, explained, account, ...parts }))
  expect(seen(told, { orders: [moved] })).toMatchObject({ raised: [], gone: [] })
  expect(seen(told, { orders: [stop] })).toMatchObject({ raised: [], gone: [id] })
  expect(seen(told, { orders: [] })).toMatchObject({ raised: [], gone: [id] })
  // Another change of it is another discrepancy, and ends the one before.
  const further = { ...moved, triggerContractPrice: 1_750n * 10n ** 12n }
  const again = seen(told, { orders: [further] })
  expect([kindsOf(again), again.gone]).toEqual([['changed-order'], [id]])
  // What is not judged now, and a row that could not be read, end nothing.
  expect(seen(told, { orders: [stop], own: new Map() }).gone).toEqual([])
  const missing = { positions: [], orders: [{ orderKey: exitKey, problem: 'x' }], trades: [] } as never
  expect(seen(told, { orders: [], missing }).gone).toEqual([])
  // Adopted it goes on saying what is in force, until the order is as signed; changed anew to the same, it is told anew.
  const adopted = settle(told, id, 'adopted')
  expect(listedOrders(adopted).get(exitKey)).toEqual({ triggerPrice: usd(1_700), sizeDeltaUsd: usd(500) })
  expect(seen(adopted, { orders: [moved] })).toMatchObject({ raised: [], gone: [] })
  expect(seen(adopted, { orders: [stop] }).gone).toEqual([id])
  const gone = settle(adopted, id, 'gone')
  expect(listedOrders(gone).size).toBe(0)
  expect(kindsOf(seen(gone, { orders: [moved] }))).toEqual(['changed-order'])
})

test('a position that does not add up is told; adopted it counts, ignored it stays told', () => {
  const positions = [position(usd(700))]
  const fills = [{ ...side, sizeDeltaUsd: usd(500) }]
  const first = reconcile(view({ positions, fills }))
  expect(first.raised[0]).toMatchObject({
    kind: 'unexplained-position',
    expectedUsd: usd(500),
    foundUsd: usd(700),
  })
  expect(first.raised[0]?.statement).toBe('ETH/USD long is $700.00; the journal expects $500.00')
  const told = raise(emptyAccountState, ...first.raised)
  const id = first.raised[0]?.discrepancyId ?? ''
  const adopted = settle(told, id, 'adopted')
  expect(reconcile(view({ positions, fills, account: adopted }))).toMatchObject({ raised: [], gone: [] })
  // What comes after an adoption is held against the adopted size.
  expect(kindsOf(reconcile(view({ positions: [position(usd(600))], fills, account: adopted })))).toEqual([
    'unexplained-position',
  ])
  const ignored = settle(told, id, 'ignored')
  expect(reconcile(view({ positions, fills, account: ignored })).raised).toEqual([])
  expect([...ignored.discrepancies.values()].some(pauses)).toBe(false)
  expect(reconcile(view({ positions: [position(usd(500))], fills, account: told })).gone).toEqual([id])
})

test('what is older than every attempt that may have landed unseen is judged, however busy we are', () => {
  const trade = stranger({ orderType: 2, timestampSeconds: 100 })
  const found = reconcile(
    view({
      trades: [trade],
      busyMarkets: new Set([ethMarket.toLowerCase()]),
      unresolvedSince: new Map([[ethMarket.toLowerCase(), 101]]),
    }),
  )
  expect(kindsOf(found)).toEqual(['manual-increase'])
})

test('nothing is judged on a market where an order of ours may have landed unseen', () => {
  const found = reconcile(
    view({
      positions: [position(usd(500))],
      orders: [order(strangerKey)],
      trades: [stranger()],
      busyMarkets: new Set([ethMarket.toLowerCase()]),
      unresolvedSince: new Map([[ethMarket.toLowerCase(), 0]]),
    }),
  )
  expect(found).toEqual({ raised: [], gone: [], deferred: 3 })
})

test('whatever our fills and strangers did, in any order and any number of passes: told once each, and the sum adds up', () => {
  const step = fc.record({ isOurs: fc.boolean(), isIncrease: fc.boolean(), size: fc.bigInt(1n, 10n ** 33n) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      let account = emptyAccountState
      let size = 0n
      const fills: ReconcileView['fills'][number][] = []
      const trades: Trade[] = []
      let strangers = 0
      let told = 0
      for (const [index, { isOurs, isIncrease, size: wanted }] of steps.entries()) {
        const delta = isIncrease ? wanted : -(wanted < size ? wanted : size)
        if (delta === 0n) continue
        size += delta
        if (isOurs) fills.push({ ...side, sizeDeltaUsd: delta })
        else {
          strangers += 1
          trades.push(
            stranger({
              id: `t${index}`,
              orderType: isIncrease ? 2 : 6,
              sizeDeltaUsd: delta < 0n ? -delta : delta,
              timestampSeconds: index,
            }),
          )
        }
        const positions = size === 0n ? [] : [position(size)]
        const found = reconcile(view({ fills, trades, positions, account }))
        told += found.raised.length
        account = raise(account, ...found.raised)
      }
      expect(told).toBe(strangers)
      expect(
        [...account.discrepancies.values()].every(
          ({ discrepancy }) => discrepancy.kind !== 'unexplained-position',
        ),
      ).toBe(true)
    }),
    { numRuns: 300, seed: 11 },
  )
})

const byHand = (sizeUsd: bigint): Discrepancy => ({
  discrepancyId: 'trade:trade-x',
  kind: 'manual-increase',
  ...side,
  statement: 'increased by hand',
  sizeDeltaUsd: sizeUsd,
  orderKey: strangerKey,
})

test('a trade that every endpoint’s final blocks lack is gone, whatever a list shows', () => {
  const state = raise(emptyAccountState, byHand(usd(77)))
  const withdrawn = new Map([['trade:trade-x', 'final']] as const)
  expect(reconcile(view({ account: state, withdrawn })).gone).toEqual(['trade:trade-x'])
  const shown = [position(usd(77))]
  expect(reconcile(view({ account: state, withdrawn, positions: shown })).gone).toEqual(['trade:trade-x'])
})

test('a trade that hosts’ rows lack is gone where the sizes add up without it, and else counts on', () => {
  const state = raise(emptyAccountState, byHand(usd(77)))
  const withdrawn = new Map([['trade:trade-x', 'lists']] as const)
  expect(reconcile(view({ account: state, withdrawn })).gone).toEqual(['trade:trade-x'])
  const shown = [position(usd(77))]
  expect(reconcile(view({ account: state, withdrawn, positions: shown })).gone).toEqual([])
  const busyMarkets = new Set([ethMarket.toLowerCase()])
  expect(reconcile(view({ account: state, withdrawn, busyMarkets })).gone).toEqual([])
})

test('what was taken back counts nothing, and is told anew when it is made again', () => {
  const gone = settle(raise(emptyAccountState, byHand(usd(77))), 'trade:trade-x', 'gone')
  expect(reconcile(view({ account: gone }))).toEqual({ raised: [], gone: [], deferred: 0 })
  const trades = [stranger({ orderType: 2, sizeDeltaUsd: usd(77) })]
  const back = reconcile(view({ account: gone, trades, positions: [position(usd(77))] }))
  expect(kindsOf(back)).toEqual(['manual-increase'])
  const told = raise(gone, ...back.raised)
  expect(reconcile(view({ account: told, trades, positions: [position(usd(77))] })).raised).toEqual([])
})

test('a trade that was told as a stranger’s counts no more once its order is ours, and one of a stranger counts on', () => {
  const state = raise(
    emptyAccountState,
    ...reconcile(view({ trades: [stranger()], positions: [position(usd(500))] })).raised,
  )
  const fills = [{ ...side, sizeDeltaUsd: usd(500) }]
  const explained = new Set([strangerKey])
  const known = view({ account: state, fills, explained, positions: [position(usd(500))] })
  expect(reconcile(known)).toMatchObject({ raised: [], gone: ['trade:trade-x'] })
  const other = view({ account: state, fills, positions: [position(usd(1_000))] })
  expect(reconcile(other)).toMatchObject({ raised: [], gone: [] })
})
