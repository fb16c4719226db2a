/** The plan of a fleet, over drawn fleets: who holds what, and what moves. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  type FleetNode,
  type FleetView,
  isWantedAt,
  type Placement,
  planFleet,
} from '../../src/daemon/fleet/planFleet.ts'

const accounts = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
const names = ['one', 'two', 'three', 'four']
const nothing = { holds: [], waits: [], isDraining: false }
const node = (name: string, own: Partial<FleetNode> = {}): FleetNode => ({
  ...{ name, can: accounts, ...nothing },
  ...own,
})
const holding = (...held: readonly string[]) => held.map((account) => ({ account, epoch: 1 }))
const noWishes: ReadonlyMap<string, string> = new Map()

/** Fleets in which each account is held by one node at most, of those that can. */
const fleets: fc.Arbitrary<FleetView> = fc
  .record({
    nodes: fc.uniqueArray(
      fc.record({
        name: fc.constantFrom(...names),
        can: fc.subarray(accounts),
        isDraining: fc.boolean(),
        waits: fc.subarray(accounts),
      }),
      { selector: ({ name }) => name, minLength: 1 },
    ),
    holders: fc.array(fc.option(fc.constantFrom(...names), { nil: undefined }), {
      minLength: accounts.length,
      maxLength: accounts.length,
    }),
    wishes: fc.array(fc.tuple(fc.constantFrom(...accounts), fc.constantFrom(...names)), { maxLength: 3 }),
  })
  .map(({ nodes, holders, wishes }) => ({
    wishes: new Map(wishes),
    nodes: nodes.map((each) => {
      const held = accounts.filter((account, at) => holders[at] === each.name && each.can.includes(account))
      const waits = each.waits.filter((account) => each.can.includes(account) && !held.includes(account))
      return { ...each, waits, holds: holding(...held) }
    }),
  }))

const owns = (plan: readonly Placement[], name: string): readonly string[] =>
  plan.filter(({ owner }) => owner === name).map(({ account }) => account)
const moving = (plan: readonly Placement[]) => plan.filter(({ isMoving }) => isMoving)

/** A fleet a moment later: each node does what the plan says, and an account that is given back is taken by one that waits for it. */
function later(view: FleetView): FleetView {
  const plan = planFleet(view)
  const wanted = (name: string) =>
    plan.filter((place) => isWantedAt(name, view, place)).map(({ account }) => account)
  const kept = view.nodes.map((each) => ({
    ...each,
    holds: each.holds.filter(({ account }) => wanted(each.name).includes(account)),
  }))
  const taken = new Set(kept.flatMap(({ holds }) => holds.map(({ account }) => account)))
  return {
    ...view,
    nodes: kept.map((each) => {
      const takes = wanted(each.name).filter((account) => !taken.has(account))
      for (const account of takes) taken.add(account)
      const holds = [...each.holds, ...holding(...takes)]
      const isHeld = (account: string) => holds.some((one) => one.account === account)
      return { ...each, holds, waits: wanted(each.name).filter((account) => !isHeld(account)) }
    }),
  }
}

test('each account that a living node can hold has one owner that can, and none of a node that drains where another can', () => {
  fc.assert(
    fc.property(fleets, (view) => {
      const plan = planFleet(view)
      const can = (account: string) => view.nodes.filter((each) => each.can.includes(account))
      expect(plan.map(({ account }) => account)).toEqual(
        accounts.filter((account) => can(account).length > 0),
      )
      for (const { account, owner, next } of plan) {
        expect(can(account).map(({ name }) => name)).toContain(owner)
        expect(next).not.toBe(owner)
        if (next !== undefined) expect(can(account).map(({ name }) => name)).toContain(next)
        const isHeld = view.nodes.some(({ holds }) => holds.some((each) => each.account === account))
        const isDraining = view.nodes.find(({ name }) => name === owner)?.isDraining
        if (!isHeld && isDraining === true) expect(can(account).every((each) => each.isDraining)).toBe(true)
      }
    }),
    { seed: 39, numRuns: 2_000 },
  )
})

test('at most one account moves, and none while an account is held by nobody', () => {
  fc.assert(
    fc.property(fleets, (view) => {
      const plan = planFleet(view)
      const held = new Set(view.nodes.flatMap(({ holds }) => holds.map(({ account }) => account)))
      const isWhole = plan.every(({ account }) => held.has(account))
      expect(moving(plan).length).toBeLessThanOrEqual(isWhole ? 1 : 0)
      // Who holds an account that does not move keeps it.
      for (const place of plan.filter(({ isMoving }) => !isMoving))
        if (held.has(place.account)) expect(isWantedAt(place.owner ?? '', view, place)).toBe(true)
    }),
    { seed: 39, numRuns: 2_000 },
  )
})

test('a fleet comes to rest, and nothing moves when nothing changed: wishes and drains are carried out, and the rest is even', () => {
  fc.assert(
    fc.property(fleets, (start) => {
      let view = start
      let looks = 0
      for (
        let next = later(view);
        JSON.stringify(next.nodes) !== JSON.stringify(view.nodes);
        next = later(view)
      ) {
        view = next
        looks += 1
        expect(looks).toBeLessThan(60)
      }
      const plan = planFleet(view)
      expect(moving(plan)).toEqual([])
      for (const { account, owner = '' } of plan) {
        const able = view.nodes.filter((each) => each.can.includes(account))
        const staying = able.filter(({ isDraining }) => !isDraining)
        if (staying.length > 0) expect(staying.map(({ name }) => name)).toContain(owner)
        const wish = view.wishes.get(account)
        if (staying.some(({ name }) => name === wish)) expect(owner).toBe(wish)
        else
          for (const { name } of staying)
            expect(owns(plan, owner).length - owns(plan, name).length).toBeLessThan(2)
      }
    }),
    { seed: 39, numRuns: 1_000 },
  )
})

test('the order in which nodes are read changes nothing', () => {
  fc.assert(
    fc.property(fleets, (view) => {
      expect(planFleet({ ...view, nodes: view.nodes.toReversed() })).toEqual(planFleet(view))
    }),
    { seed: 39, numRuns: 500 },
  )
})

test('who waits for the account of a node that died takes it over', () => {
  const two = node('two', { holds: holding('b'), waits: ['a'] })
  const three = node('three', { holds: holding('c', 'd') })
  const plan = planFleet({ nodes: [three, two], wishes: noWishes })
  expect(plan.find(({ account }) => account === 'a')).toMatchObject({ owner: 'two', isMoving: false })
})

test('a holder gives an account away once the next one waits for it, and not before', () => {
  const wishes = new Map([['a', 'two']])
  const view = (waits: readonly string[]) => ({
    nodes: [node('one', { can: ['a'], holds: holding('a') }), node('two', { can: ['a'], waits })],
    wishes,
  })
  const isKept = (waits: readonly string[]) => {
    const [place] = planFleet(view(waits))
    return place === undefined ? undefined : isWantedAt('one', view(waits), place)
  }
  expect([isKept([]), isKept(['a'])]).toEqual([true, false])
})

test('of two that say they hold an account the one with the newer epoch does', () => {
  const stale = node('one', { can: ['a'], holds: [{ account: 'a', epoch: 4 }] })
  const holder = node('two', { can: ['a'], holds: [{ account: 'a', epoch: 5 }] })
  expect(planFleet({ nodes: [stale, holder], wishes: noWishes })[0]).toMatchObject({ owner: 'two' })
})
