/** The dealer of a process: it looks at accounts that admit decisions meanwhile, and gives them budgets. */
import { expect, test } from 'vitest'
import type { DeskUse } from '../../src/account/watch/deskUse.ts'
import { createDeskDealer } from '../../src/daemon/desk/dealDesk.ts'
import type { Event } from '../../src/domain/event.ts'

/** A clock whose timer is over when the process has nothing else to do. */
const clock = {
  monotonicMs: () => 0,
  sleep: () => new Promise<void>((resolve) => void setImmediate(resolve)),
}
const use = (maxOrdersPerHour: bigint): DeskUse => ({
  maxTotalExposureUsd: 0n,
  maxDailyLossUsd: 0n,
  maxOrdersPerHour,
})
const denied = { type: 'decision.denied', denial: { code: 'DESK_ORDERS_PER_HOUR' } } as unknown as Event

function dealer(isFixed = false, accounts: readonly string[] = ['alpha', 'beta']) {
  const made = createDeskDealer({ limits: { maxOrdersPerHour: 100n }, accounts, isFixed, clock })
  const budgets = () =>
    Object.fromEntries(accounts.map((name) => [name, made.budgetsOf(name)().maxOrdersPerHour?.budget]))
  return { ...made, budgets }
}

test('nothing is dealt before each account was read, and the budget names those that were not', async () => {
  const { add, round, budgets, budgetsOf } = dealer()
  add('alpha', async () => use(0n))
  add('beta', async () => undefined)
  await round()
  await round()
  expect(budgets()).toEqual({ alpha: 0n, beta: 0n })
  expect(budgetsOf('alpha')().maxOrdersPerHour?.waitsFor).toEqual(['beta'])
})

test('an account that its budget refused gets what the other one gives back, a look after the cut', async () => {
  const { add, round, budgets, hear } = dealer()
  add('alpha', async () => use(0n))
  add('beta', async () => use(50n))
  await round()
  expect(budgets()).toEqual({ alpha: 50n, beta: 50n })
  hear('beta')(denied)
  await round()
  expect(budgets()).toEqual({ alpha: 12n, beta: 50n })
  await round()
  expect(budgets()).toEqual({ alpha: 12n, beta: 88n })
})

test('a look that hangs gives nothing of that account to another one', async () => {
  let isHanging = false
  const { add, round, budgets, hear } = dealer()
  add('alpha', () => (isHanging ? new Promise(() => undefined) : Promise.resolve(use(0n))))
  add('beta', async () => use(50n))
  await round()
  isHanging = true
  hear('beta')(denied)
  await round()
  await round()
  // Its own budget is cut; what it might have spent of the old one is nobody's yet.
  expect(budgets()).toEqual({ alpha: 12n, beta: 50n })
})

test('an account that did not open keeps an equal share, and one that ended keeps what it may have used', async () => {
  const { add, failed, round, budgets } = dealer(false, ['alpha', 'beta', 'gamma', 'delta'])
  failed('gamma')
  add('alpha', async () => use(0n))
  const end = add('beta', async () => use(5n))
  add('delta', async () => use(0n))
  await round()
  expect(budgets()).toEqual({ alpha: 25n, beta: 25n, gamma: 0n, delta: 25n })
  end()
  await round()
  await round()
  expect(budgets()).toEqual({ alpha: 25n, beta: 25n, gamma: 0n, delta: 25n })
})

test('where accounts wait for leases each has a fixed equal share, whatever another one uses or asks', async () => {
  const { add, round, budgets, hear } = dealer(true, ['alpha', 'beta', 'gamma', 'delta'])
  expect(budgets()).toEqual({ alpha: 25n, beta: 25n, gamma: 25n, delta: 25n })
  add('alpha', async () => use(0n))
  hear('alpha')(denied)
  await round()
  await round()
  expect(budgets()).toEqual({ alpha: 25n, beta: 25n, gamma: 25n, delta: 25n })
})
