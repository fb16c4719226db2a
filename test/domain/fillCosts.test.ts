/** What a fill cost besides what the venue takes of it: one meaning of PnL for closes, decreases and exits. */
import { expect, test } from 'vitest'
import { type Discrepancy, emptyAccountState } from '../../src/domain/account/accountRecord.ts'
import { fillCosts } from '../../src/domain/account/fillCosts.ts'
import type { Child, Intent, IntentState, Settlement } from '../../src/domain/order/intent.ts'
import { legsOf } from '../../src/domain/order/orderLegs.ts'
import { orderRow } from '../../src/domain/views/orderView.ts'
import { tradeRows } from '../../src/domain/views/tradeView.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { type Usd, usd } from '../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, startMs, usdc } from '../support/intents.ts'

interface Filled {
  readonly atSeconds: number
  readonly sizeUsd: Usd
  readonly feesUsd: Usd
  readonly pnlUsd?: Usd
}

let next = 0
const keyOf = (): Hex => `0x${(next++).toString(16).padStart(64, '0')}`

/** An intent whose first created order is filled, and its exits as given; sending its message cost $0.40. */
function story(kind: Intent['kind'], main: Filled, exits: readonly Filled[] = []): IntentState {
  const { terms } = intentOf()
  const intent = intentOf({
    intentId: keyOf().slice(-24),
    kind,
    terms: { ...terms, sizeDeltaUsd: main.sizeUsd },
    acceptedAtMs: startMs + main.atSeconds * 1_000 - 500,
  })
  const children = [main, ...exits].map((each, index): Child => {
    const settlement: Settlement = {
      sizeDeltaUsd: each.sizeUsd,
      feesUsd: each.feesUsd,
      timestampSeconds: startMs / 1_000 + each.atSeconds,
      ...(each.pnlUsd === undefined ? {} : { pnlUsd: each.pnlUsd }),
    }
    const role = index === 0 ? 'main' : 'stop-loss'
    return { index, orderKey: keyOf(), role, phase: 'EXECUTED', settlement }
  })
  return {
    intent,
    attempts: [
      {
        ...{ n: 1, lane: 'order-chain', host: 'h', phase: 'LANDED', children },
        armed: armedFacts({ relayFeeAmount: 400_000n }),
      },
    ],
    updatedAtMs: intent.acceptedAtMs,
  } as IntentState
}

const opened = (atSeconds: number, sizeUsd = usd(500)) =>
  story('increase', { atSeconds, sizeUsd, feesUsd: usd('0.30') })

/** Rows of orders and trades and the story's leg agree; this is the figure of the last one. */
function pnlOf(state: IntentState, stories: readonly IntentState[], findings: readonly Discrepancy[] = []) {
  const account = {
    ...emptyAccountState,
    findings: new Map(
      findings.map((finding) => [finding.findingId, { finding, raisedAtMs: startMs }] as const),
    ),
  }
  const costsOf = fillCosts(stories, account, 6)
  const leg = legsOf(state, { costsOf }).at(-1)
  const row = orderRow({ state, label: 'executed', costsOf }).legs.at(-1)
  const trade = tradeRows(state, { costsOf }).at(-1)
  expect([row?.pnlUsd, trade?.pnlUsd]).toEqual([leg?.pnlUsd?.toString(), leg?.pnlUsd?.toString()])
  expect(BigInt(row?.pnlUsd ?? 0)).toBe(
    BigInt(row?.venuePnlUsd ?? 0) - BigInt(row?.sendingUsd ?? 0) - BigInt(row?.entryCostsUsd ?? 0),
  )
  return { pnlUsd: leg?.pnlUsd, isEntryKnown: row?.isEntryKnown, entryCostsUsd: row?.entryCostsUsd }
}

test('a close bears its own message and all that its entry cost, whatever order stories come in', () => {
  const entry = opened(0)
  const close = story('close', {
    atSeconds: 60,
    sizeUsd: usd(500),
    feesUsd: usd('0.30'),
    pnlUsd: usd('0.50'),
  })
  // The venue calls it a win of $0.50; the entry cost $0.30 and $0.40, and sending the close $0.40.
  const lost = { pnlUsd: usd('-0.60'), isEntryKnown: true, entryCostsUsd: usd('0.70').toString() }
  expect(pnlOf(close, [entry, close])).toEqual(lost)
  expect(pnlOf(close, [close, entry])).toEqual(lost)
})

test('an exit, a decrease and a close of one position share the costs of its entries by size', () => {
  const entry = story('increase', { atSeconds: 0, sizeUsd: usd(500), feesUsd: usd('0.30') }, [
    { atSeconds: 20, sizeUsd: usd(250), feesUsd: usd('0.15'), pnlUsd: usd(1) },
  ])
  const half = story('decrease', { atSeconds: 30, sizeUsd: usd(125), feesUsd: usd('0.07'), pnlUsd: usd(1) })
  const rest = story('close', { atSeconds: 40, sizeUsd: usd(125), feesUsd: usd('0.07'), pnlUsd: usd(1) })
  const all = [entry, half, rest]
  // Its message was paid for by the entry.
  expect(pnlOf(entry, all).pnlUsd).toBe(usd('0.65'))
  expect(pnlOf(half, all).pnlUsd).toBe(usd(1) - usd('0.40') - usd('0.175'))
  expect(pnlOf(rest, all).pnlUsd).toBe(usd(1) - usd('0.40') - usd('0.175'))
})

test('what one position cost is not borne by the next one on its side, and added size shares what it added', () => {
  const [first, added, second] = [opened(0), opened(10, usd(250)), opened(100, usd(250))]
  const close = story('close', { atSeconds: 50, sizeUsd: usd(750), feesUsd: 0n, pnlUsd: 0n })
  const again = story('close', { atSeconds: 150, sizeUsd: usd(250), feesUsd: 0n, pnlUsd: 0n })
  const all = [first, added, close, second, again]
  expect(pnlOf(close, all).pnlUsd).toBe(usd('-1.80'))
  expect(pnlOf(again, all).pnlUsd).toBe(usd('-1.10'))
})

test('a close of what others opened says that the costs of the entry are not known', () => {
  const close = story('close', { atSeconds: 50, sizeUsd: usd(500), feesUsd: 0n, pnlUsd: usd(1) })
  expect(pnlOf(close, [close])).toEqual({ pnlUsd: usd('0.60'), isEntryKnown: false, entryCostsUsd: '0' })
  // Half of it is perpd's: its costs count, and what the other half cost is not known.
  const finding: Discrepancy = {
    findingId: 'there',
    kind: 'unexplained-position',
    statement: 'it was there',
    marketToken: ethMarket,
    direction: 'long',
    collateralToken: usdc,
    sizeDeltaUsd: usd(500),
    isInitial: true,
    atSeconds: startMs / 1_000 - 10,
  }
  const added = opened(0)
  const part = story('decrease', { atSeconds: 50, sizeUsd: usd(500), feesUsd: 0n, pnlUsd: usd(1) })
  expect(pnlOf(part, [added, part], [finding])).toEqual({
    pnlUsd: usd(1) - usd('0.40') - usd('0.35'),
    isEntryKnown: false,
    entryCostsUsd: usd('0.35').toString(),
  })
})
