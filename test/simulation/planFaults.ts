/** Lays out when the faults of a world come that come by themselves: of hosts, endpoints, chain, clock, disk and process. */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import { HEALTHY_SECONDS } from '../../src/domain/chainTime.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import type { ModelChain, OrderSpec } from './chainModel.ts'
import type { Endpoint, Illness } from './endpoints.ts'
import type { FaultName, Faults } from './faults.ts'
import { markets } from './intentsOf.ts'
import type { Random } from './random.ts'
import type { Storage } from './storage.ts'
import type { Truth } from './truth.ts'
import type { VenueModel } from './venueModel.ts'

/** What the faults change. */
export interface FaultTargets {
  readonly random: Random
  /** Chance of the endpoints' illnesses, drawn when they come. */
  readonly illnesses: Random
  /** Chance of the faults that came later. */
  readonly later: Random
  /** One of two endpoints may say anything. */
  readonly mayLie: boolean
  readonly faults: Faults
  readonly timeline: Timeline
  readonly venue: VenueModel
  readonly chain: ModelChain
  readonly endpoints: readonly Endpoint[]
  readonly truth: Truth
  readonly disk: Storage
  readonly note: (text: string) => void
  /** Moves the wall clock of the daemon's machine. */
  readonly jumpClock: (ms: number) => void
  /** How far that clock is off now, ms. */
  readonly wallOffsetMs: () => number
  readonly stopInOrder: () => void
  /** An operator says how an order ended, rightly or not. */
  readonly giveWord: () => void
  readonly cutPower: () => void
}

type Often = (name: FaultName, most: number, run: () => void, chance?: Random) => void

/** Plans them until `untilMs`; those that come after the quiet phase began do nothing. */
export function planFaults(untilMs: number, targets: FaultTargets): void {
  const { random, faults, timeline, venue, chain, disk, note } = targets
  const often: Often = (name, most, run, chance = random) => {
    if (!faults.isOn(name)) return
    for (let left = chance.int(1, most); left > 0; left -= 1) {
      timeline.after(chance.int(1_000, untilMs), () => {
        if (faults.isQuiet) return
        faults.count(name)
        note(`fault ${name}`)
        run()
      })
    }
  }
  for (const peer of venue.peers) {
    often('host-down', 2, () => {
      peer.isDown = true
      timeline.after(random.int(1_000, 40_000), () => {
        peer.isDown = false
      })
    })
    often('host-forgets', 1, () => peer.records.clear())
  }
  for (const endpoint of targets.endpoints) {
    planIllness(endpoint, targets, often)
    planTimes(endpoint, targets, often)
  }
  often('reorg', 4, () => venue.reorganise(random.int(1, 12)))
  often('clock-jump', 2, () => targets.jumpClock(random.int(-7_200, 7_200) * 1000))
  often('manual-trade', 2, () => {
    const action = { kind: 'manual', spec: manualTrade(targets) } as const
    venue.send(0, { hash: chain.freshHash(), action })
  })
  often('liquidation', 3, () => {
    const side = heldSide(targets)
    if (side === undefined) return
    const cause = random.pick(['liquidation', 'adl'] as const)
    const sizeDeltaUsd = random.chance(0.5) ? side.heldUsd : usd(random.int(50, 500))
    venue.send(0, { hash: chain.freshHash(), action: { kind: 'protocol', cause, sizeDeltaUsd, ...side } })
  })
  often('disk-full', 1, () => disk.setFull(true))
  often('old-backup', 1, () => disk.backUp())
  often('operator-stop', 1, targets.stopInOrder)
  often('operator-word', 2, targets.giveWord)
  often('power-cut', 2, targets.cutPower)
}

function planIllness(
  endpoint: Endpoint,
  { illnesses, timeline, endpoints, chain }: FaultTargets,
  often: Often,
): void {
  const during = (illness: () => Illness | undefined) => {
    const ill = illness()
    if (ill === undefined) return
    // One liar at a time: two endpoints that lie alike are not told apart by anybody.
    if (ill.kind === 'liar' && endpoints.some((each) => each !== endpoint && saysLater(each))) return
    endpoint.illness = ill
    timeline.after(illnesses.int(1_000, 60_000), () => {
      if (endpoint.illness === ill) endpoint.illness = undefined
    })
  }
  often('rpc-error', 2, () => during(() => ({ kind: 'error' })))
  often('rpc-lag', 2, () => during(() => ({ kind: 'lag', blocks: illnesses.int(1, 15) })))
  often('rpc-blind', 2, () =>
    during(() => ({ kind: 'blind', how: illnesses.pick(['all', 'events', 'state'] as const) })),
  )
  often('rpc-pool', 2, () =>
    during(() => ({ kind: 'pool', lags: [0, illnesses.int(0, 4), illnesses.int(0, 25)] })),
  )
  often('rpc-fork', 2, () =>
    during(() => {
      const branch = chain.left.at(-1)
      return branch === undefined ? undefined : { kind: 'fork', branch }
    }),
  )
  often('rpc-liar', 2, () =>
    during(() => ({
      kind: 'liar',
      lie: illnesses.pick(['unused', 'foreign', 'end'] as const),
      ahead: illnesses.pick([5n, 1_000n, 10_000_000n]),
    })),
  )
}

/** An illness that may show a block past a deadline which has not come: a liar, or times that are moved ahead. */
function isOfLaterTime(ill: Illness): boolean {
  return ill.kind === 'liar' || (ill.kind === 'moved' && ill.seconds > 0)
}

/**
 * Whether an endpoint tells the same wrong time as a machine's clock that is so far off. That they differ from all hosts by the same is
 * no fault that could befall: each of them is off by chance. Where it is so, two witnesses of three are wrong alike, and nobody can tell them
 * from the truth: what is right by the hosts' clocks is then hours off by both others.
 */
export function tellsTimeOf(illness: Illness | undefined, wallOffsetMs: number): boolean {
  if (illness?.kind !== 'moved') return false
  return Math.abs(illness.seconds * 1000 - wallOffsetMs) <= 2_000 * HEALTHY_SECONDS
}

function saysLater({ illness }: Endpoint): boolean {
  return illness !== undefined && isOfLaterTime(illness)
}

/** An endpoint whose newest block is of another time: it is far behind, or says so of blocks that are not. */
function planTimes(
  endpoint: Endpoint,
  { later, timeline, endpoints, chain, mayLie, wallOffsetMs }: FaultTargets,
  often: Often,
): void {
  const during = (ill: Illness) => {
    if (endpoint.illness !== undefined) return
    if (isOfLaterTime(ill) && (!mayLie || endpoints.some(saysLater))) return
    if (tellsTimeOf(ill, wallOffsetMs())) return
    endpoint.illness = ill
    timeline.after(later.int(5_000, 60_000), () => {
      if (endpoint.illness === ill) endpoint.illness = undefined
    })
  }
  const behind = () => {
    const sinceMs = timeline.nowMs - later.pick([20_000, 40_000, 150_000])
    const blocks = chain.canonical.blocks.filter(({ minedMs }) => minedMs > sinceMs).length
    during({ kind: 'lag', blocks })
  }
  const moved = () => during({ kind: 'moved', seconds: later.pick([-7_200, -7_200, -150, 150, 7_200]) })
  often('rpc-behind', 2, behind, later)
  often('rpc-time', 2, moved, later)
}

/** One of the sides on which the account holds something now. */
function heldSide({ random, chain: { canonical } }: FaultTargets) {
  const sides = markets.flatMap((marketToken) =>
    (['long', 'short'] as const).flatMap((direction) => {
      const heldUsd = canonical.heldUsd(marketToken, direction)
      return heldUsd > 0n ? [{ marketToken, direction, heldUsd }] : []
    }),
  )
  return sides.length === 0 ? undefined : random.pick(sides)
}

/** A trade of the owner's own, as like an order of ours as may be. */
function manualTrade({ random, truth }: FaultTargets): OrderSpec {
  const twin = random.pick([...truth.intents.values(), undefined])
  return {
    role: 'main',
    orderType: 2,
    marketToken: (twin?.terms.marketToken ?? markets[0]) as Hex,
    direction: twin?.terms.direction ?? 'long',
    sizeDeltaUsd: twin?.terms.sizeDeltaUsd ?? usd(77),
    adds: false,
  }
}
