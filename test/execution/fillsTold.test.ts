/** What a trader is told of an entry with exits: its fill, what rests, and the exit that was hit, in the log and in `perpd orders`. */
import { afterEach, expect, test } from 'vitest'
import { explainText } from '../../src/cli/story/explainText.ts'
import type { Attempt, Settlement } from '../../src/domain/order/intent.ts'
import { labelOf } from '../../src/domain/order/intent.ts'
import type { CostsLookup } from '../../src/domain/order/orderLegs.ts'
import { signedOrderIn } from '../../src/domain/order/signedOrder.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { phrase } from '../../src/monitor/events/eventRegister.ts'
import { formatDollars, usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, kindsBench, priceAt } from '../support/kinds.ts'

let bench: KindsBench
afterEach(() => bench.close())

/** Funding that a fill put aside for the account, which the venue's own PnL lacks. */
const receivedBy = (settlement: Settlement | undefined): bigint => settlement?.fundingReceivedUsd ?? 0n
const returnedBy = (settlement: Settlement | undefined) => settlement?.executionFeeReturnedUsd ?? 0n

test.each([
  ['by hosts', false],
  ['by the chain', true],
])(
  "an entry's fill, its exits at rest and the stop that is hit are a line each, a row and a part of the story: %s",
  async (_how, isByChain) => {
    bench = await kindsBench({
      isByChain,
      path: [
        [0, 1_740],
        [60, 1_740],
        [80, 1_600],
        [600, 1_600],
      ],
    })
    const marketToken = await bench.marketToken(ethSymbol)
    const entryPrice = priceAt(await bench.snapshot(), marketToken)
    const { intentId } = await bench.accept({
      kind: 'increase',
      marketToken,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 20_000,
      collateralToken: usdc,
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(1_900) },
        { type: 'stop-loss', triggerPrice: usd(1_650) },
      ],
      reason: 'a test',
    })
    const lines = () =>
      bench.events
        .filter(({ type }) => ['order.filled', 'order.exits', 'order.moved'].includes(type))
        .map((event) => phrase(event))
        .filter(({ level }) => level !== 'debug')
        .map(({ text }) => text.slice(9))
    const row = () => {
      const state = bench.story(intentId)
      return orderRow({ state, label: labelOf(state), costsOf: (key) => bench.journal.books().fillOf(key) })
    }
    await bench.clock.advance(30_000)
    expect(entryPrice).toBeGreaterThan(0n)
    const opened = lines().filter((text) => !text.startsWith('is in flight'))
    expect(opened).toEqual([
      expect.stringMatching(
        /^filled at \$1,7\d\d\.\d+ \(increase long ETH\/USD \[WETH-USDC\] \$500\.00, .*\), fees \$0\.\d+.*, sending cost at most \$\d+\.\d\d in USDC/,
      ),
      expect.stringMatching(
        /^long ETH\/USD \[WETH-USDC\] is open; resting: (take-profit at \$1,900(\.0+)?, stop-loss at \$1,650(\.0+)?|stop-loss at .*, take-profit at .*)$/,
      ),
    ])
    expect([row().status, row().standing]).toEqual(['resting', 'open'])
    expect(explainText(bench.story(intentId), [], context)).not.toContain('waits at the venue for its price')

    await bench.clock.advance(90_000)
    const after = lines()
      .filter((text) => !text.startsWith('is in flight'))
      .slice(2)
    expect(after[0]).toMatch(
      /^stop-loss filled at \$1,6\d\d\.\d+: \$500\.00 of long ETH\/USD \[WETH-USDC\] closed, fees \$0\.\d+.*, PnL -\$\d+\.\d\d after all costs/,
    )
    expect(after.filter((text) => text.includes('filled'))).toHaveLength(1)
    const stop = row().legs.find(({ role }) => role === 'stop-loss')
    const entry = row().legs.find(({ role }) => role === 'main')
    expect(stop?.status).toBe('filled')
    const settlement = bench
      .story(intentId)
      .attempts[0]?.children.find(({ role }) => role === 'stop-loss')?.settlement
    // After the exit's own fees it is less than the chain's figure by the entry's fee and what sending the message cost.
    const sentUsd = sentBy(bench.story(intentId).attempts[0])
    expect(sentUsd).toBeGreaterThan(0n)
    const entered = bench
      .story(intentId)
      .attempts[0]?.children.find(({ role }) => role === 'main')?.settlement
    // The take-profit ended with the position.
    const cancelled = bench
      .story(intentId)
      .attempts[0]?.children.find(({ role }) => role === 'take-profit')?.settlement
    const returnedUsd = returnedBy(entered) + returnedBy(settlement) + returnedBy(cancelled)
    // The chain alone shows what keepers gave back.
    expect(returnedUsd > 0n).toBe(isByChain)
    expect(BigInt(stop?.pnlUsd ?? '0')).toBe(
      (settlement?.pnlUsd ?? 0n) +
        receivedBy(settlement) -
        BigInt(entry?.feesUsd ?? '0') -
        sentUsd +
        returnedUsd,
    )
    const costsOf: CostsLookup = (key) => bench.journal.books().fillOf(key)
    const story = explainText(bench.story(intentId), [], { ...context, costsOf }).replaceAll(/\s+/g, ' ')
    // The entry's message paid for the exit: what came back of that is added, and never a minus taken off.
    expect(story.includes('that came back of its fee')).toBe(isByChain)
    expect(story).not.toMatch(/(?:less|for|and) -\$/)
    expect(story).toMatch(/\(stop-loss\) EXECUTED at \$1,6[\d.]+, \$500\.00, fees \$0\.\d+, PnL -\$/)
  },
)

test.each([
  ['by hosts', false],
  ['by the chain', true],
])(
  'an exit that an edit of ours moved is shown as it is in force, and filled there: %s',
  async (_how, isByChain) => {
    bench = await kindsBench({
      isByChain,
      path: [
        [0, 1_740],
        [90, 1_740],
        [110, 1_690],
        [600, 1_690],
      ],
    })
    const marketToken = await bench.marketToken(ethSymbol)
    const { intentId } = await bench.accept({
      kind: 'increase',
      marketToken,
      direction: 'long',
      sizeDeltaUsd: usd(500),
      leverageBps: 20_000,
      collateralToken: usdc,
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(1_900) },
        { type: 'stop-loss', triggerPrice: usd(1_650), shareBps: 5_000 },
      ],
      reason: 'a test',
    })
    const signedOf = (orderKey: `0x${string}`) => signedOrderIn(bench.journal, orderKey)
    const stop = () => {
      const state = bench.story(intentId)
      const costsOf: CostsLookup = (key) => bench.journal.books().fillOf(key)
      const { legs } = orderRow({ state, label: labelOf(state), signedOf, costsOf })
      const leg = legs.find(({ role }) => role === 'stop-loss')
      if (leg === undefined) throw new Error('no stop')
      return leg
    }
    await bench.clock.advance(30_000)
    const before = stop()
    expect([before.status, BigInt(before.triggerPrice ?? 0)]).toEqual(['resting', usd(1_650)])
    const edit = await bench.accept({
      kind: 'edit',
      marketToken,
      direction: 'long',
      orderKey: before.orderKey,
      triggerPrice: usd(1_700),
      reason: 'nearer',
    })
    await bench.clock.advance(30_000)
    expect([stop().status, BigInt(stop().triggerPrice ?? 0)]).toEqual(['resting', usd(1_700)])
    const text = explainText(bench.story(intentId), [], { ...context, signedOf }).replaceAll(/\s+/g, ' ')
    expect(text).toMatch(/\(stop-loss\) OPEN at \$1,700/)
    // The price never came to 1,650: it was the moved stop that was hit.
    await bench.clock.advance(90_000)
    expect(stop().status).toBe('filled')
    // It closed half of what the entry opened, and bears half of what the entry, its message and that of the edit cost.
    const [attempt] = bench.story(intentId).attempts
    const settlementOf = (role: string) =>
      attempt?.children.find((child) => (child.role ?? 'main') === role)?.settlement
    const editedUsd = sentBy(bench.story(edit.intentId).attempts.at(-1))
    expect(editedUsd).toBeGreaterThan(0n)
    const sentUsd = sentBy(attempt) + editedUsd
    const costUsd = (settlementOf('main')?.feesUsd ?? 0n) + sentUsd - returnedBy(settlementOf('main'))
    expect(BigInt(stop().sizeDeltaUsd ?? 0)).toBe(usd(250))
    const stopped = settlementOf('stop-loss')
    expect(BigInt(stop().pnlUsd ?? 0)).toBe(
      (stopped?.pnlUsd ?? 0n) + returnedBy(stopped) + (receivedBy(stopped) - costUsd) / 2n,
    )
  },
)

test.each([
  ['by hosts', false],
  ['by the chain', true],
])('the line of a close has its PnL after all costs, those of its entry too: %s', async (_how, isByChain) => {
  bench = await kindsBench({ isByChain })
  const marketToken = await bench.marketToken(ethSymbol)
  const side = { marketToken, direction: 'long', collateralToken: usdc, reason: 'a test' } as const
  const size = { sizeDeltaUsd: usd(500), leverageBps: 20_000 }
  const opened = await bench.accept({ kind: 'increase', ...side, ...size })
  await bench.clock.advance(60_000)
  const closed = await bench.accept({ kind: 'close', ...side })
  await bench.clock.advance(60_000)
  const settlementOf = ({ intentId }: { readonly intentId: string }) => {
    const [attempt] = bench.story(intentId).attempts
    const settlement = attempt?.children[0]?.settlement
    const sentUsd = sentBy(attempt) - returnedBy(settlement)
    return { ...settlement, sentUsd }
  }
  const [entry, exit] = [settlementOf(opened), settlementOf(closed)]
  const pnlUsd = (exit.pnlUsd ?? 0n) + receivedBy(exit) - exit.sentUsd - entry.sentUsd - (entry.feesUsd ?? 0n)
  const line = bench.events
    .filter((event) => event.type === (isByChain ? 'order.filled' : 'order.moved'))
    .map((event) => phrase(event))
    .filter(({ text }) => text.includes('PnL'))
    .at(-1)
  expect(line?.text).toContain(`PnL ${formatDollars(pnlUsd)} after all costs`)
  expect(JSON.stringify(toPlain(line?.fields))).toContain(`"${pnlUsd}"`)
  const story = explainText(bench.story(closed.intentId), [], {
    ...context,
    costsOf: (key) => bench.journal.books().fillOf(key),
  })
  expect(story.replaceAll(/\s+/g, ' ')).toContain(`${formatDollars(pnlUsd)} after all costs: `)
})

/** USD that the fee of a message took: one unit of USDC counts as a dollar, and the relay's rest comes back where the chain shows it. */
function sentBy(attempt: Attempt | undefined): bigint {
  return (attempt?.armed?.relayFeeAmount ?? 0n) * 10n ** 24n - (attempt?.feeReturnedUsd ?? 0n)
}

const context = {
  rules: { source: 'api', trustVenue: true, deadlineMarginMs: 5_000, nowMs: 0 },
  endings: [],
  attemptsPerCause: undefined,
  feeToken: { symbol: 'USDC', decimals: 6 },
} as const
