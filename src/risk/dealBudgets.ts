/**
 * Deals a limit of the desk out to its accounts. A budget is the most that an account may come to use by an increase; what it uses already always counts.
 * A cut acts at once. A raise lags: it spends nothing but what was seen to be free in a look that began after the cut that freed it, because an order that
 * was admitted under the old budget may still be on its way. So the accounts together never come to use more than the limit, whatever each does between two
 * deals. Pure.
 */
import { maxOf, minOf } from '../protocol/units.ts'

/** One look at an account. Amounts are in the unit of the limit. */
export interface AccountLook {
  /** Its use, every order counted that it admitted before the look. */
  readonly used: bigint
  /** Number of the newest deal when the look began. */
  readonly sinceDeal: number
  /** True: its budget kept it from an increase lately. */
  readonly asks: boolean
}

/** Facts of a deal. */
export interface DealFacts {
  readonly limit: bigint
  /**
   * The newest look at each account; `stopped`: its trader does not run and admits nothing. Undefined: it was not looked at yet, and nothing is dealt
   * before that.
   */
  readonly accounts: ReadonlyMap<string, AccountLook | 'stopped' | undefined>
}

/** An account's part in a deal. */
export interface Share {
  readonly budget: bigint
  /** The most that it may come to use, with orders that it admitted under earlier budgets and no look has counted. */
  readonly bound: bigint
  /** Number of the deal that cut its budget last; 0: none did. */
  readonly cutAt: number
}

/** A deal. */
export interface Deal {
  readonly number: number
  readonly shares: ReadonlyMap<string, Share>
}

/** Before the first deal nothing may be added. */
export const noDeal: Deal = { number: 0, shares: new Map() }

/** Part of an equal share that an account keeps while others ask for more and it does not: its first order finds room. */
const RESERVE_PART = 4n

/** Deals the limit anew. */
export function dealBudgets({ limit, accounts }: DealFacts, previous: Deal): Deal {
  const number = previous.number + 1
  const all = [...accounts]
  if (all.some(([, look]) => look === undefined)) return { ...previous, number }
  const equal = limit / BigInt(all.length)
  const stopped: [string, Share][] = []
  const running: Running[] = []
  for (const [name, look] of all) {
    const share = previous.shares.get(name)
    if (look === undefined || look === 'stopped')
      stopped.push([name, share ?? { budget: 0n, bound: equal, cutAt: 0 }])
    else {
      const { budget, bound, cutAt } = share ?? { budget: 0n, bound: 0n, cutAt: 0 }
      const reach = maxOf(look.used, look.sinceDeal >= cutAt ? budget : bound)
      running.push({ name, look, budget, cutAt, reach })
    }
  }
  const left = maxOf(0n, limit - sumOf(stopped.map(([, { bound }]) => bound)))
  const goals = goalsOf(running, left)
  const cut = running.map((each, at): Running => {
    const goal = goals[at] ?? 0n
    return goal < each.budget ? { ...each, budget: goal, cutAt: number } : each
  })
  // Up to what an account may reach already a raise takes from nobody.
  const raised = fill(
    left,
    cut.map(({ reach }, at) => ({ floor: reach, cap: maxOf(reach, goals[at] ?? 0n) })),
  )
  const shares = cut.map(({ name, budget, cutAt, reach }, at): [string, Share] => {
    const most = minOf(goals[at] ?? 0n, raised[at] ?? reach)
    const own = cutAt === number ? budget : maxOf(budget, most)
    return [name, { budget: own, bound: maxOf(reach, own), cutAt }]
  })
  return { number, shares: new Map([...stopped, ...shares]) }
}

/** An account that runs, in a deal. */
interface Running {
  readonly name: string
  readonly budget: bigint
  readonly cutAt: number
  readonly look: AccountLook
  /** The most that it may come to use if its budget stays. */
  readonly reach: bigint
}

/**
 * Returns the budgets that the accounts should come to have: equal ones, but none below an account's use. Where some ask and others do not, the others keep a
 * part of an equal share, and those that ask have the rest.
 */
function goalsOf(running: readonly Running[], left: bigint): readonly bigint[] {
  const isAsked = running.some(({ look }) => look.asks)
  const reserve = left / BigInt(Math.max(1, running.length)) / RESERVE_PART
  const first = fill(
    left,
    running.map(({ look: { used } }) => ({ floor: used, cap: maxOf(used, reserve) })),
  )
  return fill(
    left,
    running.map(({ look: { used, asks } }, at) => {
      const floor = first[at] ?? used
      return { floor, cap: asks || !isAsked ? maxOf(floor, left) : floor }
    }),
  )
}

/** Bounds of one part. */
interface Vessel {
  readonly floor: bigint
  /** Not below the floor. */
  readonly cap: bigint
}

/** Fills parts to one level, each at least to its floor and at most to its cap, with as much of an amount as fits; floors above it stay. */
function fill(amount: bigint, vessels: readonly Vessel[]): readonly bigint[] {
  const at = (level: bigint) => vessels.map(({ floor, cap }) => maxOf(floor, minOf(cap, level)))
  let [low, high] = [0n, amount]
  while (low < high) {
    const level = (low + high + 1n) / 2n
    if (sumOf(at(level)) <= amount) low = level
    else high = level - 1n
  }
  const parts = at(low)
  // The level above would be too much for all of them: the first ones have it.
  let rest = amount - sumOf(parts)
  return parts.map((part, index) => {
    const cap = vessels[index]?.cap ?? part
    if (rest <= 0n || part !== low || part >= cap) return part
    rest -= 1n
    return part + 1n
  })
}

function sumOf(amounts: readonly bigint[]): bigint {
  return amounts.reduce((sum, amount) => sum + amount, 0n)
}
