/** Dealing a limit of the desk out to accounts, over drawn desks that look, spend and give back at any moment between two deals. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type AccountLook, type Deal, dealBudgets, noDeal } from '../../src/risk/dealBudgets.ts'

const SEED = 20_261_128
const RUNS = 2_000
const names = ['a', 'b', 'c', 'd', 'e']

type Dealer = typeof dealBudgets

/** A moment of a desk: a look at an account, an order that an account wants, a reduction, a trader that stops, or a deal. */
type Moment =
  | { readonly kind: 'look'; readonly at: number }
  | { readonly kind: 'stop'; readonly at: number }
  | { readonly kind: 'spend' | 'reduce'; readonly at: number; readonly amount: bigint }
  | { readonly kind: 'deal' }

const at = fc.nat({ max: names.length - 1 })
const amount = fc.bigInt({ min: 1n, max: 400n })
const moments: fc.Arbitrary<readonly Moment[]> = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('look' as const), at }) },
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('spend' as const), at, amount }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('reduce' as const), at, amount }) },
    { weight: 5, arbitrary: fc.record({ kind: fc.constant('deal' as const) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('stop' as const), at }) },
  ),
  { minLength: 20, maxLength: 120 },
)
const desks = fc.record({
  limit: fc.bigInt({ min: 0n, max: 1_000n }),
  count: fc.integer({ min: 1, max: 5 }),
  moments,
})

/** An account of a desk, with what it really uses. */
interface Account {
  used: bigint
  wasRefused: boolean
  look: AccountLook | 'stopped' | undefined
}

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, each) => all + each, 0n)
const most = (one: bigint, other: bigint): bigint => (one > other ? one : other)

/** Lives through the moments; returns the most that the accounts together could come to use at any moment, and the deals. */
function live(deal: Dealer, limit: bigint, count: number, moments: readonly Moment[]) {
  const accounts = new Map(
    names
      .slice(0, count)
      .map((name): [string, Account] => [name, { used: 0n, wasRefused: false, look: undefined }]),
  )
  const deals: Deal[] = [noDeal]
  const newest = (): Deal => deals.at(-1) ?? noDeal
  let reached = 0n
  for (const moment of moments) {
    const [name, account] = 'at' in moment ? ([...accounts][moment.at % count] ?? []) : []
    if (moment.kind === 'deal') {
      const looks = new Map([...accounts].map(([each, { look }]) => [each, look]))
      deals.push(deal({ limit, accounts: looks }, newest()))
    } else if (account !== undefined && name !== undefined && account.look !== 'stopped') {
      const room = (newest().shares.get(name)?.budget ?? 0n) - account.used
      if (moment.kind === 'look')
        account.look = { used: account.used, sinceDeal: newest().number, asks: account.wasRefused }
      else if (moment.kind === 'stop') account.look = account.look === undefined ? undefined : 'stopped'
      else if (moment.kind === 'reduce') account.used = most(0n, account.used - moment.amount)
      else {
        account.wasRefused = moment.amount > room
        if (!account.wasRefused) account.used += moment.amount
      }
    }
    reached = most(
      reached,
      sum(
        [...accounts].map(([each, { used, look }]) =>
          look === 'stopped' ? used : most(used, newest().shares.get(each)?.budget ?? 0n),
        ),
      ),
    )
  }
  return { reached, deals }
}

/** A dealer that raises as soon as a look shows less: it forgets what an account may still reach by its last budget. */
const withoutLag: Dealer = (facts, previous) =>
  dealBudgets(facts, {
    number: previous.number,
    shares: new Map([...previous.shares.keys()].map((name) => [name, { budget: 0n, bound: 0n, cutAt: 0 }])),
  })

const neverBeyond = (deal: Dealer) =>
  fc.check(
    fc.property(desks, ({ limit, count, moments }) => live(deal, limit, count, moments).reached <= limit),
    { seed: SEED, numRuns: RUNS },
  )

/** Looks at accounts as they are now, all of them in the newest deal. */
function looks(
  deal: Deal,
  accounts: Readonly<Record<string, { readonly used: bigint; readonly asks?: boolean }>>,
) {
  return new Map(
    Object.entries(accounts).map(([name, { used, asks = false }]): [string, AccountLook] => [
      name,
      { used, asks, sinceDeal: deal.number },
    ]),
  )
}

function dealt(limit: bigint, accounts: Parameters<typeof looks>[1], rounds = 4, from = noDeal): Deal {
  let deal = from
  for (let round = 0; round < rounds; round += 1)
    deal = dealBudgets({ limit, accounts: looks(deal, accounts) }, deal)
  return deal
}
const budgets = ({ shares }: Deal) =>
  Object.fromEntries([...shares].map(([name, { budget }]) => [name, budget]))

test('accounts together never come to use more than the limit, whatever each does between two deals', () => {
  expect(neverBeyond(dealBudgets).failed).toBe(false)
})

test('a raise without a lag overspends, and the property finds it', () => {
  expect(neverBeyond(withoutLag).failed).toBe(true)
})

test('a cut acts at once, and the raise of another waits for a look that began after it', () => {
  const before = dealt(100n, { a: { used: 0n }, b: { used: 0n } })
  expect(budgets(before)).toEqual({ a: 50n, b: 50n })
  const asking = { a: { used: 0n }, b: { used: 50n, asks: true } }
  const early = looks(before, asking)
  const cut = dealBudgets({ limit: 100n, accounts: early }, before)
  expect(budgets(cut)).toEqual({ a: 12n, b: 50n })
  // The same looks again: none began after the cut.
  const waiting = dealBudgets({ limit: 100n, accounts: early }, cut)
  expect(budgets(waiting)).toEqual({ a: 12n, b: 50n })
  expect(budgets(dealBudgets({ limit: 100n, accounts: looks(waiting, asking) }, waiting))).toEqual({
    a: 12n,
    b: 88n,
  })
})

test('an order that was admitted before the cut is counted before its room is given to another', () => {
  const before = dealt(100n, { a: { used: 0n }, b: { used: 0n } })
  const cut = dealt(100n, { a: { used: 0n }, b: { used: 50n, asks: true } }, 1, before)
  // The account spent its old budget after the look and before the cut.
  expect(budgets(dealt(100n, { a: { used: 50n }, b: { used: 50n, asks: true } }, 3, cut))).toEqual({
    a: 50n,
    b: 50n,
  })
})

test('accounts have equal shares where all ask, and where none does', () => {
  for (const asks of [true, false]) {
    const accounts = { a: { used: 0n, asks }, b: { used: 3n, asks }, c: { used: 0n, asks } }
    expect(budgets(dealt(99n, accounts))).toEqual({ a: 33n, b: 33n, c: 33n })
  }
})

test('an account that asks gets what the others do not use, and loses it again when they ask', () => {
  const alone = dealt(120n, { a: { used: 0n, asks: true }, b: { used: 0n }, c: { used: 0n } })
  expect(budgets(alone)).toEqual({ a: 100n, b: 10n, c: 10n })
  const all = { a: { used: 20n, asks: true }, b: { used: 10n, asks: true }, c: { used: 0n, asks: true } }
  expect(budgets(dealt(120n, all, 4, alone))).toEqual({ a: 40n, b: 40n, c: 40n })
})

test('no account starves: of a limit that is smaller than the number of accounts, whoever asks gets it', () => {
  const accounts = { a: { used: 0n }, b: { used: 0n }, c: { used: 0n }, d: { used: 0n, asks: true } }
  expect(budgets(dealt(3n, accounts)).d).toBe(3n)
})

test('no account starves: on any desk, an account that alone asks soon has at least half of what the others do not use', () => {
  fc.assert(
    fc.property(desks, fc.nat({ max: 4 }), ({ limit, count, moments }, asker) => {
      const { deals } = live(dealBudgets, limit, count, moments)
      const last = deals.at(-1) ?? noDeal
      const own = names[asker % count] ?? 'a'
      const accounts = Object.fromEntries(
        names.slice(0, count).map((name) => [name, { used: 0n, asks: name === own }]),
      )
      const budget = budgets(dealt(limit, accounts, 4, last))[own] ?? 0n
      expect(budget * 2n + 1n).toBeGreaterThanOrEqual(limit)
    }),
    { seed: SEED, numRuns: 500 },
  )
})

test('what an account uses already counts: above the limit nobody has room, and nobody is asked to reduce', () => {
  const deal = dealt(100n, { a: { used: 90n }, b: { used: 40n, asks: true }, c: { used: 0n, asks: true } })
  expect(budgets(deal)).toEqual({ a: 90n, b: 40n, c: 0n })
})

test('nothing is dealt before each account was looked at once', () => {
  const accounts = new Map<string, AccountLook | undefined>([
    ['a', { used: 0n, asks: true, sinceDeal: 0 }],
    ['b', undefined],
  ])
  expect(budgets(dealBudgets({ limit: 100n, accounts }, noDeal))).toEqual({})
})

test('an account whose trader stopped keeps what it may have come to use, or an equal share where it never ran', () => {
  const before = dealt(90n, { a: { used: 0n }, b: { used: 20n }, c: { used: 0n } })
  const accounts = new Map<string, AccountLook | 'stopped'>([
    ['a', { used: 0n, asks: true, sinceDeal: before.number }],
    ['b', 'stopped'],
    ['c', 'stopped'],
  ])
  let deal = before
  for (let round = 0; round < 3; round += 1) deal = dealBudgets({ limit: 90n, accounts }, deal)
  expect(deal.shares.get('a')?.budget).toBe(30n)
  const never = new Map<string, AccountLook | 'stopped'>([
    ['y', { used: 0n, asks: true, sinceDeal: 0 }],
    ['z', 'stopped'],
  ])
  expect(dealBudgets({ limit: 90n, accounts: never }, noDeal).shares.get('y')?.budget).toBe(45n)
})
