/** One of two chain endpoints behind, or ahead: orders go on, and no host is blamed. Real sockets, both lanes. */
import { afterEach, expect, test } from 'vitest'
import type { Decision } from '../../src/domain/order/decision.ts'
import type { LaneName } from '../../src/domain/order/laneTable.ts'
import { usd } from '../../src/protocol/units.ts'
import { usdc } from '../support/intents.ts'
import { ethSymbol, type KindsBench, type KindsOptions, kindsBench } from '../support/kinds.ts'

let bench: KindsBench | undefined

afterEach(async () => {
  await bench?.close()
  bench = undefined
})

/** Answers of an endpoint with the times of its blocks moved. */
function movedBy(seconds: number, endpoint = '/rpc/1') {
  return (url: string, text: string): string | undefined =>
    url.endsWith(endpoint)
      ? text.replaceAll(
          /"timestamp":"(0x[0-9a-f]+)"/g,
          (_whole, hex: string) => `"timestamp":"0x${(Number(hex) + seconds).toString(16)}"`,
        )
      : undefined
}

interface Case {
  readonly name: string
  readonly lagBlocks?: number
  readonly movedSeconds?: number
  /** How far ahead of the time it is told to be, seconds; undefined: it is not told of. */
  readonly told: number | undefined
}

const cases: readonly Case[] = [
  { name: '20 s behind', lagBlocks: 80, told: undefined },
  { name: '150 s behind', lagBlocks: 600, told: -150 },
  { name: 'two hours behind', lagBlocks: 28_800, told: -7_200 },
  { name: 'with blocks of 150 s ago', movedSeconds: -150, told: -150 },
  { name: 'with blocks of 150 s ahead', movedSeconds: 150, told: 150 },
  { name: 'with blocks of two hours ahead', movedSeconds: 7_200, told: 7_200 },
]
const both = cases.flatMap((each) =>
  (['order-chain', 'relay'] as const).map((lane): [string, LaneName, Case] => [each.name, lane, each]),
)

async function worldOf(
  lane: LaneName,
  { lagBlocks = 0, movedSeconds = 0 }: Omit<Case, 'name' | 'told'>,
  options: KindsOptions = {},
): Promise<KindsBench> {
  const lie = movedBy(movedSeconds)
  const world = await kindsBench({ lane, isByChain: true, endpoints: 2, lie, ...options })
  bench = world
  await world.clock.advance(1_000)
  await fetch(`${world.served.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ rpcLagBlocks: lagBlocks }),
  })
  return world
}

async function sizeUsd({ api, context }: KindsBench): Promise<bigint> {
  const { value } = await api.getPositions({ account: context.signer.address }, { isFresh: true })
  return value.reduce((sum, { sizeInUsd }) => sum + sizeInUsd, 0n)
}

async function sideOf(world: KindsBench) {
  return {
    marketToken: await world.marketToken(ethSymbol),
    direction: 'long',
    collateralToken: usdc,
    reason: 'the test wishes it',
  } as const
}

const blamed = ({ api, events }: KindsBench) => [
  ...events.filter(({ type }) => type === 'order.payload_rejected' || type === 'order.not_signed'),
  ...api.hosts.api.filter((host) => api.isCoolingDown(host)),
]

test.each(both)(
  'an endpoint %s, %s: an open, a partial close and a close execute, and no host is blamed',
  async (_name, lane, each) => {
    const world = await worldOf(lane, each)
    const side = await sideOf(world)
    const steps: readonly (readonly [Decision, bigint])[] = [
      [{ ...side, kind: 'increase', sizeDeltaUsd: usd(500), leverageBps: 20_000 }, usd(500)],
      [{ ...side, kind: 'decrease', sizeDeltaUsd: usd(200), keepLeverage: false }, usd(300)],
      [{ ...side, kind: 'close' }, 0n],
    ]
    for (const [decision, leftUsd] of steps) {
      const { intentId } = await world.accept(decision, { reduceAgainAfterMs: 1_000 })
      await world.clock.advance(10_000)
      // Ends are proven by both endpoints; until then an order that executed stays open.
      expect([undefined, 'EXECUTED'], decision.kind).toContain(world.story(intentId).closing?.outcome)
      expect(await sizeUsd(world), decision.kind).toBe(leftUsd)
    }
    const aside = world.events.flatMap((event) =>
      event.type === 'chain.time' && event.isSetAside ? [event] : [],
    )
    if (each.told === undefined) expect(aside).toEqual([])
    else {
      expect(aside).toHaveLength(3)
      expect(new Set(aside.map(({ endpoint }) => endpoint)).size).toBe(1)
      for (const { aheadSeconds, healthy } of aside) {
        expect(Math.abs(aheadSeconds - each.told)).toBeLessThan(3)
        expect(healthy).toBe(1)
      }
    }
    expect(blamed(world)).toEqual([])
  },
)

test.each([
  ['150 s behind', -150],
  ['two hours behind', -7_200],
  ['150 s ahead', 150],
  ['two hours ahead', 7_200],
])(
  'the only endpoint %s: increases wait, every reduction goes out, and no host is blamed',
  async (_name, seconds) => {
    let moved = 0
    const lie = (url: string, text: string) => movedBy(moved, '/rpc')(url, text)
    const world = await worldOf('order-chain', {}, { endpoints: 1, lie })
    const side = await sideOf(world)
    const opens = { ...side, kind: 'increase', sizeDeltaUsd: usd(500), leverageBps: 20_000 } as const
    await world.accept(opens)
    await world.clock.advance(10_000)
    expect(await sizeUsd(world)).toBe(usd(500))
    moved = seconds
    const sent = world.venue.record().length
    const { intentId } = await world.accept(opens)
    await world.clock.advance(3_000)
    expect(world.story(intentId).closing).toMatchObject({
      outcome: 'REFUSED_LOCAL',
      code: 'CHAIN_CLOCK_SKEW',
    })
    expect(world.venue.record()).toHaveLength(sent)
    const decrease = { ...side, kind: 'decrease', sizeDeltaUsd: usd(100), keepLeverage: false } as const
    const reductions: readonly Decision[] = [
      decrease,
      { ...decrease, orderType: 'twap', twap: { parts: 2, durationSeconds: 60 } },
      { ...side, kind: 'close' },
    ]
    for (const [index, decision] of reductions.entries()) {
      await world.accept(decision, { reduceAgainAfterMs: 1_000 })
      await world.clock.advance(10_000)
      expect(world.venue.record(), decision.kind).toHaveLength(sent + index + 1)
    }
    expect(await sizeUsd(world)).toBe(0n)
    expect(blamed(world)).toEqual([])
  },
)

test.each([
  ['both endpoints are right', {}],
  ['one is 150 s behind', { lagBlocks: 600 }],
  ['one is two hours ahead', { movedSeconds: 7_200 }],
])('a deadline that a host made too late is refused, and the host rests: %s', async (_name, how) => {
  const world = await worldOf('order-chain', how, { settings: { orderDeadlineSeconds: 3_800 } })
  const opens = {
    ...(await sideOf(world)),
    kind: 'increase',
    sizeDeltaUsd: usd(500),
    leverageBps: 20_000,
  } as const
  const { intentId } = await world.accept(opens)
  await world.clock.advance(3_000)
  expect(world.story(intentId).closing?.code).toBe('TYPED_DATA_MISMATCH')
  const differences = [expect.objectContaining({ field: 'relayParams.deadline' })]
  expect(world.events).toContainEqual(
    expect.objectContaining({ type: 'order.payload_rejected', differences }),
  )
  expect(world.api.hosts.api.filter((host) => world.api.isCoolingDown(host))).toHaveLength(1)
})
