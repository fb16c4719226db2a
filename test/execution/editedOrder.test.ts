/** An order that was edited while it rested: rows, the log and its story show what is in force, and the story each edit with its reason. */
import { afterEach, expect, test } from 'vitest'
import { explainText } from '../../src/cli/story/explainText.ts'
import { editsOf } from '../../src/domain/accountRecords/orderEdits.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import { signedOrderAmong } from '../../src/domain/order/signedOrder.ts'
import { orderRow } from '../../src/domain/summaries/orderView.ts'
import { phrase } from '../../src/monitor/events/eventRegister.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { startMs, usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, signer } from '../support/kinds.ts'

let bench: KindsBench
afterEach(() => bench.close())

test('a limit order that was moved shows its new trigger and size while it rests and when it is cancelled, and why it was moved', async () => {
  bench = await kindsBench({})
  const marketToken = await bench.marketToken(ethSymbol)
  const side = { marketToken, direction: 'long', collateralToken: usdc } as const
  const { intentId } = await bench.accept({
    ...{ kind: 'increase', ...side, sizeDeltaUsd: usd(500), leverageBps: 20_000 },
    ...{ orderType: 'limit', triggerPrice: usd(1_500), reason: 'a dip' },
  })
  await bench.clock.advance(60_000)
  const [resting] = (await bench.api.getOrders({ account: signer.address }, { isFresh: true })).value
  if (resting === undefined) throw new Error('nothing rests')
  const { orderKey } = resting
  await bench.accept({
    ...{ kind: 'edit', marketToken, direction: 'long', orderKey },
    ...{ triggerPrice: usd(1_450), sizeDeltaUsd: usd(300), reason: 'the market fell' },
  })
  await bench.clock.advance(120_000)

  const row = () => {
    const state = bench.story(intentId)
    const signedOf = (key: Hex) => signedOrderAmong(bench.journal.recentIntents(), state, key)
    return orderRow({ state, label: labelOf(state), signedOf })
  }
  const inForce = { triggerPrice: `${usd(1_450)}`, sizeDeltaUsd: `${usd(300)}` }
  expect(row()).toMatchObject({ status: 'resting', ...inForce })

  await bench.accept({
    kind: 'cancel',
    marketToken,
    direction: 'long',
    orderKeys: [orderKey],
    reason: 'late',
  })
  await bench.clock.advance(120_000)
  expect(row()).toMatchObject({ status: 'cancelled', ...inForce })
  const lines = bench.events
    .filter((event) => event.type === 'order.moved' && event.intent.intentId === intentId)
    .map((event) => phrase(event).text)
  expect(lines.find((text) => text.includes('rest'))).toContain('$500.00 at $1,500.00')
  expect(lines.at(-1)).toContain('$300.00 at $1,450.00')

  const state = bench.story(intentId)
  const stories = bench.journal.recentIntents()
  const text = explainText(state, await bench.journal.records(intentId), {
    rules: { source: 'api', trustVenue: true, deadlineMarginMs: 0, nowMs: startMs },
    endings: [],
    attemptsPerCause: undefined,
    feeToken: { symbol: 'USDC', decimals: 6 },
    signedOf: (key) => signedOrderAmong(stories, state, key),
    edits: editsOf(state, stories, { discrepancies: new Map() }),
  }).replaceAll(/\s+/g, ' ')
  expect(text).toContain('limit increase long ETH/USD [WETH-USDC] $300.00 at $1,450.00 by')
  expect(text).toMatch(
    /edits \d{4}-\d\d-\d\d \d\d:\d\d:\d\d at \$1,450\.00 over \$300\.00, by \S+ \(order \w{8}\): the market fell/,
  )
})
