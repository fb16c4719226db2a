/** The strategy of a world: what it asks for, when, and what it decides again after a start. */

import { epochMs, type Timeline } from '../../src/backtest/lab/timeline.ts'
import { worstCase } from '../../src/domain/machine/intentExposure.ts'
import { type IntentState, isWaiting, lastAttempt } from '../../src/domain/order/intent.ts'
import type { Address, Hex } from '../../src/protocol/address.ts'
import type { Daemon } from './daemon.ts'
import type { Faults } from './faults.ts'
import { intentOfWish, markets, type Wish } from './intentsOf.ts'
import type { Processes } from './processes.ts'
import type { Random } from './random.ts'
import type { Storage } from './storage.ts'
import type { Truth } from './truth.ts'
import type { WorldOptions } from './worldTypes.ts'

/** What a strategy stands in. */
export interface StrategistParts {
  readonly options: WorldOptions
  readonly random: Random
  readonly timeline: Timeline
  readonly faults: Faults
  readonly disk: Storage
  readonly truth: Truth
  readonly limitUsd: bigint
  readonly note: (text: string) => void
  readonly isQuiet: () => boolean
  readonly wallOffsetMs: () => number
  readonly processes: () => Processes
}

/** The strategy of a world. */
export interface Strategist {
  /** Lays out its decisions; gives the time of the last, ms. */
  plan(): number
  /** After a start the strategy decides again: what was not taken, and sometimes what was. */
  reoffer(): void
}

/** Makes the strategy of a world. */
export function createStrategist(parts: StrategistParts): Strategist {
  const { options, random, timeline, faults, disk, truth, limitUsd, note, isQuiet, wallOffsetMs } = parts
  const wishes: Wish[] = []
  const taken = new Set<number>()

  function planWish(atMs: number, wish: Omit<Wish, 'nowMs'>): void {
    const made: Wish = { ...wish, nowMs: 0 }
    wishes.push(made)
    timeline.after(atMs, () => offer(made))
  }

  function offer(wish: Wish): void {
    const { daemon, isReady, stale } = parts.processes()
    if (isQuiet()) return
    if (daemon !== undefined && isReady) offerTo(daemon, wish)
    // Whoever lost the journal and does not know it decides as well.
    for (const each of stale) offerTo(each, wish)
  }

  function offerTo(daemon: Daemon, wish: Wish): void {
    const states = daemon.states()
    const target = targetOf(wish, states)
    const shape =
      (wish.shape === 'edit' || wish.shape === 'cancel') && target === undefined ? 'close market' : wish.shape
    const intent = intentOfWish({
      ...wish,
      shape,
      nowMs: Math.floor(epochMs + timeline.nowMs + wallOffsetMs()),
      ...(target === undefined || (shape === 'batch' && !random.chance(0.5)) ? {} : { target }),
    })
    const heldUsd = worstCase(states) + truth.finalPositionUsd()
    if (heldUsd + intent.reservationUsd > limitUsd) {
      note(`denied ${wish.number}`)
      return
    }
    note(`offer ${wish.number} ${shape}`)
    daemon.accept(intent, (isAccepted) => {
      note(`${wish.number} ${isAccepted ? 'accepted' : 'known'}`)
      // A process that froze after its record reached a server hears of it when another has read that record.
      const hearsLate = disk.server !== undefined && parts.processes().daemon !== daemon
      if (isAccepted && taken.has(wish.number) && !hearsLate)
        truth.fail('I1', `decision ${wish.number} was taken twice`)
      // There a second offer is known at once, while the record of the first is under way.
      if (isAccepted || disk.server === undefined) taken.add(wish.number)
    })
  }

  /** A resting order that no other open intent is changing. */
  function targetOf(wish: Wish, states: readonly IntentState[]): Hex | undefined {
    if (wish.shape !== 'edit' && wish.shape !== 'cancel' && wish.shape !== 'batch') return undefined
    const busy = new Set(
      states.flatMap(({ intent: { terms } }) => [
        ...(terms.edit === undefined ? [] : [terms.edit.orderKey]),
        ...(terms.cancelOrderKeys ?? []),
        ...(terms.batch?.cancelOrderKeys ?? []),
      ]),
    )
    const resting = states.flatMap((state) =>
      (lastAttempt(state)?.children ?? []).filter(
        (child) =>
          (child.phase === 'OPEN' || child.phase === 'FROZEN') &&
          isWaiting(state.intent, child) &&
          !busy.has(child.orderKey),
      ),
    )
    return resting.length === 0 ? undefined : random.pick(resting).orderKey
  }

  return {
    plan() {
      const { scenario, account, shapes, lanes, side } = options
      if (scenario !== undefined) {
        scenario.shapes.forEach((shape, index) => {
          planWish(1_000 + index * 8_000, {
            shape,
            number: index + 1,
            account,
            lane: scenario.lane,
            sizeUsd: 500 + index,
            market: markets[0] as Address,
            direction: 'long',
            expiresAfterMs: 30_000,
          })
        })
        return scenario.shapes.length * 8_000
      }
      const count = random.int(3, 15)
      const spanMs = random.int(20, 240) * 1000
      for (let number = 1; number <= count && options.tier.decides !== true; number += 1) {
        planWish(random.int(500, spanMs), {
          shape: random.pick(shapes),
          number,
          account,
          lane: random.pick(lanes),
          sizeUsd: random.chance(0.2) ? 500 : random.int(100, 1_500),
          market: side?.market ?? (random.pick(markets.slice(0, random.int(1, 3))) as Address),
          direction: side?.direction ?? (random.chance(0.6) ? 'long' : 'short'),
          expiresAfterMs: random.int(5, 90) * 1000,
        })
      }
      return spanMs
    },
    reoffer() {
      if (isQuiet()) return
      for (const wish of wishes) {
        const repeats = taken.has(wish.number)
          ? faults.comes('repeated-decision', 0.3)
          : timeline.nowMs > 1_000 && random.chance(0.5)
        if (repeats) timeline.after(random.int(10, 2_000), () => offer(wish))
      }
    },
  }
}
