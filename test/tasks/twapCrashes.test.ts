/** The process ends before and after every record that is written while a twap is under way, runs to its end, or is stopped. */
import { expect, test } from 'vitest'
import type { OperatorCommand } from '../../src/operator/commands/index.ts'
import type { StartTaskCommand } from '../../src/operator/taskBodies.ts'
import { usd } from '../../src/protocol/units.ts'
import { crashedAt } from '../support/crashStride.ts'
import { mortalTrader } from '../support/mortalTrader.ts'
import { testSigner } from '../support/trader.ts'
import { settle, venueBench } from '../support/venue.ts'

const twap: StartTaskCommand = {
  type: 'task',
  kind: 'twap',
  id: 'one-1',
  market: 'ETH/USD [WETH-USDC]',
  direction: 'long',
  size: '600',
  reduce: false,
  leverage: '5',
  parts: 2,
  minutes: 1,
  shareBps: 2_500,
  route: 'own',
  maxMinutes: 30,
  // A crash after the acceptance may leave an order that is void: another takes its place.
  maxOrders: 6,
  maxFees: '200',
  isPreview: false,
}

/** Tells the story with an end of the process at one boundary of it; gives how many there were, and what came of it. */
async function storyWith(what: 'own' | 'stopped', diesAt: number) {
  const bench = venueBench({
    settings: { orderDeadlineSeconds: 60, keeperJitterMs: 0 },
    settled: () => settle(10),
  })
  const { clock, api, venue } = bench
  const daemon = mortalTrader(diesAt, clock, () => bench)
  const { journal } = daemon
  const task = () => [...(journal.account().tasks?.values() ?? [])][0]
  const isOver = () => task()?.end !== undefined
  /** He asks until he is answered with yes, or it is over. */
  const ask = (command: OperatorCommand) => daemon.ask(command, ({ ok }) => ok || isOver())

  await daemon.start()
  await clock.advance(1_000)
  daemon.count()
  const command: StartTaskCommand = what === 'own' ? twap : { ...twap, route: 'auto', parts: 4, minutes: 2 }
  await ask(command)
  if (what === 'stopped') {
    await daemon.goOn(
      () => journal.recentIntents().some(({ attempts }) => attempts.at(-1)?.phase === 'LANDED'),
      600,
    )
    await ask({ type: 'task-stop', task: 'twap:one-1', reason: 'enough' })
  }
  await daemon.goOn(isOver, 600)
  daemon.abort()
  await clock.advance(10_000)
  const { value } = await api.getPositions({ account: testSigner.address }, { isFresh: true })
  const orders = await api.getOrders({ account: testSigner.address }, { isFresh: true })
  const made = journal.recentIntents().toReversed()
  return {
    boundaries: daemon.boundaries(),
    heldUsd: value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n),
    resting: orders.value.length,
    landed: venue.record().length,
    outcome: task()?.end?.outcome,
    statement: task()?.end?.statement,
    keys: made.map(({ intent }) => intent.decisionKey),
    executed: made.filter(
      ({ closing, intent }) => closing?.outcome === 'EXECUTED' && intent.kind === 'increase',
    ).length,
  }
}

test('a crash between any two steps of a twap makes no part twice and leaves none out', {
  timeout: 240_000,
}, async () => {
  const whole = await storyWith('own', 0)
  expect(whole).toMatchObject({ heldUsd: usd(600), outcome: 'done', executed: 2 })
  expect(whole.boundaries).toBeGreaterThan(20)
  for (const at of crashedAt(whole.boundaries, 1)) {
    const { heldUsd, outcome, executed, keys, resting } = await storyWith('own', at)
    expect({ at, heldUsd, outcome, resting }).toEqual({ at, heldUsd: usd(600), outcome: 'done', resting: 0 })
    // A part that was signed and never sent is void; the next one catches it up.
    expect(executed).toBeLessThanOrEqual(2)
    expect(new Set(keys).size).toBe(keys.length)
  }
})

test("a crash between any two steps of a stop leaves nothing of the venue's twap resting, and tells what was filled", {
  timeout: 240_000,
}, async () => {
  const whole = await storyWith('stopped', 0)
  expect(whole).toMatchObject({ resting: 0, outcome: 'stopped' })
  expect(whole.boundaries).toBeGreaterThan(20)
  for (const at of crashedAt(whole.boundaries, 1)) {
    const { heldUsd, outcome, resting, statement, keys } = await storyWith('stopped', at)
    expect({ at, resting, outcome }).toEqual({ at, resting: 0, outcome: 'stopped' })
    expect(heldUsd).toBeLessThanOrEqual(usd(600))
    expect(statement).toContain(`$${heldUsd / usd(1)}.00 of $600.00`)
    expect(new Set(keys).size).toBe(keys.length)
  }
})
