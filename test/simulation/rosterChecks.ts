/**
 * What must hold of protections and of the running set, by the truth of the chain and by what is durable:
 *
 * E16 no entry inside of a cooldown or a pause that the file asks for, over crashes too;
 * E17 a reload that was taken over runs what the files say, whole; an instance whose file is gone adds nothing more, decides nothing where
 *     its orders and position stay, and holds nothing in the end where its file says close, which is worked at until then; that a file went is
 *     written down, while the process was down too; and no other one is asked later for it.
 */

import type { Timeline } from '../../src/backtest/lab/timeline.ts'
import type { AccountRecord } from '../../src/domain/accountRecords/accountRecord.ts'
import type { KeptStrategies, OnRemove } from '../../src/domain/accountRecords/strategyEntry.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'
import type { OwnPart } from './ownParts.ts'
import { isOfTasks } from './taskChecks.ts'
import type { Truth } from './truth.ts'

/** How long after its time an instance may be asked while nothing is wrong, ms. */
const lateMs = 45_000

/** How long what a file that is gone asks for may be left undone while nothing is wrong, ms. */
const undoneMs = 45_000

/** The process of now, and the files. */
interface RosterLook {
  readonly strategies: readonly LoadedStrategy[]
  /** Nothing keeps the process from its work. */
  readonly isWell: boolean
  /**
   * No request waits for an answer that the network lost or holds back. A turn reads in rounds, and a request without an answer ends after ten
   * seconds, to be tried again: five of them one after the other are fifty seconds in which no instance is asked, and nothing is at fault.
   */
  readonly isAnswered: boolean
  /** Those that are being wound down. */
  readonly windingDown: ReadonlySet<string>
  /** Own parts by the executions that the journal has. */
  readonly held: ReadonlyMap<string, OwnPart>
  /** Whether the file of this instance is gone. */
  readonly isGone: (strategy: string) => boolean
}

/** The judge; it outlives the processes. */
export interface RosterChecks {
  /**
   * A process begins with these. `kept`: instances by the journal that it opened. A removal that reached the disk before a crash, and that
   * nobody acknowledged, is written down all the same; I12 holds that no acknowledged one is lost.
   */
  begin(strategies: readonly LoadedStrategy[], kept: KeptStrategies): void
  /** An instance had a turn, whatever came of it. */
  ticked(strategy: string): void
  /** Once a second. */
  look(now: RosterLook): void
  /** An intent is on its way to the disk; `parts`: own parts by the executions that the journal has. */
  accepting(
    intent: Intent,
    loaded: LoadedStrategy | undefined,
    parts: () => ReadonlyMap<string, OwnPart>,
  ): void
  durable(record: JournalRecord | AccountRecord): void
  /** A reload was answered with yes: `asked` is what the files said when they were read. */
  reloaded(asked: readonly LoadedStrategy[], running: readonly LoadedStrategy[]): void
  /** `held`: own parts by all executions. */
  finish(status: EngineStatus, held: ReadonlyMap<string, OwnPart>): void
}

/** Makes the judge of a world. */
export function createRosterChecks(parts: {
  readonly timeline: Timeline
  readonly truth: Truth
}): RosterChecks {
  const { timeline } = parts
  const truth: Truth = parts.truth
  const gone = new Map<string, OnRemove>()
  /** Since when an instance was not asked while nothing was wrong, ms. */
  const waitedMs = new Map<string, { readonly sinceMs: number; sumMs: number }>()
  /** Those that were written down to run, and not to be over, and whose file asks for something when it goes. */
  const written = new Set<string>()
  const undone = new Map<string, number>()

  /** Fails once something that a file which is gone asks for was left undone for too long. */
  function judge(key: string, isUndone: boolean, isWell: boolean, text: () => string): void {
    const sumMs = (undone.get(key) ?? 0) + (isWell ? 1_000 : 0)
    if (!isUndone) undone.delete(key)
    else if (sumMs <= undoneMs) undone.set(key, sumMs)
    else truth.fail('E17', text())
  }

  function lookAtGone({ strategies, isWell, windingDown, held, isGone }: RosterLook): void {
    const running = new Set(strategies.map(({ name }) => name))
    for (const name of written)
      judge(`${name} gone`, !running.has(name) && isGone(name), isWell, () => {
        return `the file of ${name} is gone, and nobody wrote that down`
      })
    for (const [key, { strategy, marketToken, direction, heldUsd, isMixed }] of held) {
      const isHeld = gone.get(strategy) === 'close' && heldUsd > 0n && !isMixed
      judge(key, isHeld && !windingDown.has(strategy), isWell, () => {
        return `${strategy} is gone, was to close, holds ${heldUsd} of ${marketToken} ${direction}, and nothing closes it`
      })
    }
  }

  function checkProtection(intent: Intent, loaded: LoadedStrategy, own: readonly OwnPart[]): void {
    const { protect } = loaded
    const { intentId, acceptedAtMs, terms } = intent
    if (protect === undefined) return
    const { cooldownMs, stops } = protect
    for (const { marketToken, flatAtSeconds, isMixed } of own) {
      if (isMixed || cooldownMs === undefined || flatAtSeconds === undefined) continue
      if (marketToken !== terms.marketToken.toLowerCase()) continue
      const agoMs = acceptedAtMs - flatAtSeconds * 1000
      if (agoMs < cooldownMs)
        truth.fail(
          'E16',
          `${intentId} enters ${agoMs} ms after an exit, inside of a cooldown of ${cooldownMs} ms`,
        )
    }
    if (stops === undefined || own.some(({ isMixed }) => isMixed)) return
    const times = own
      .flatMap(({ stopsAtSeconds }) => stopsAtSeconds)
      .map((seconds) => seconds * 1000)
      .sort((one, other) => one - other)
    const { count, windowMs, pauseMs } = stops
    for (const [at, stopMs] of times.entries()) {
      const first = times[at - count + 1]
      if (first === undefined || stopMs - first > windowMs || acceptedAtMs >= stopMs + pauseMs) continue
      truth.fail(
        'E16',
        `${intentId} enters ${acceptedAtMs - stopMs} ms after stop ${count} of a window of ${windowMs} ms`,
      )
    }
  }

  const fileOf = ({ name, written }: LoadedStrategy) =>
    `${name} ${JSON.stringify(Object.entries(written).sort(([one], [other]) => (one < other ? -1 : 1)))}`

  return {
    begin(strategies, kept) {
      waitedMs.clear()
      undone.clear()
      written.clear()
      for (const [name, { ends }] of kept) if (ends !== undefined) written.add(name)
      for (const { name } of strategies) gone.delete(name)
    },
    ticked: (strategy) => void waitedMs.delete(strategy),
    look(now) {
      lookAtGone(now)
      const { strategies, isWell, isAnswered } = now
      for (const { name, cadenceMs } of strategies) {
        const waited = waitedMs.get(name) ?? { sinceMs: timeline.nowMs, sumMs: 0 }
        waitedMs.set(name, waited)
        if (isWell && isAnswered) waited.sumMs += 1_000
        if (waited.sumMs > cadenceMs + lateMs)
          truth.fail('E17', `${name} was not asked for ${timeline.nowMs - waited.sinceMs} ms`)
      }
    },
    accepting(intent, loaded, known) {
      if (intent.kind !== 'increase' || loaded?.protect === undefined) return
      const own = [...known().values()].filter(({ strategy }) => strategy === intent.strategy)
      checkProtection(intent, loaded, own)
    },
    durable(record) {
      if (record.kind === 'strategy.changed') {
        const { strategy, change, onRemove } = record
        if (change === 'removed' || change === 'disabled' || onRemove === 'keep') written.delete(strategy)
        else written.add(strategy)
        if (change === 'removed') gone.set(strategy, onRemove)
        else if (change === 'disabled') gone.set(strategy, 'keep')
        else if (change !== 'kept') gone.delete(strategy)
      }
      if (record.kind !== 'intent.accepted') return
      const { intent } = record
      const how = gone.get(intent.strategy)
      if (how === undefined) return
      if (intent.reservationUsd > 0n) truth.fail('E17', `${intent.intentId} adds, and its file is gone`)
      // A task of it ends, and cancels what of it rests first, as docs/control.md says.
      if (how === 'keep' && !(intent.kind === 'cancel' && isOfTasks(intent)))
        truth.fail('E17', `${intent.intentId} is made, and what its file left is to stay`)
    },
    reloaded(asked, running) {
      const [wanted, now] = [asked, running].map((all) => all.map(fileOf).sort().join('\n'))
      if (wanted !== now) truth.fail('E17', `a reload runs\n${now}\nwhere the files say\n${wanted}`)
    },
    finish({ kill, halts, windDowns, discrepancies }, held) {
      if (kill !== undefined || discrepancies.length > 0) return
      for (const part of held.values()) {
        const { strategy, marketToken, direction, heldUsd, isMixed } = part
        const isHalted = halts.some(
          ({ scope, state }) =>
            state === 'halted' &&
            (scope === 'global' || scope === 'account' || scope === `strategy:${strategy}`),
        )
        const { problem = '' } = windDowns.find((each) => each.strategy === strategy) ?? {}
        if (gone.get(strategy) !== 'close' || isMixed || heldUsd === 0n || isHalted) continue
        if (problem.includes('ORDERS_PER_HOUR')) continue
        truth.fail(
          'E17',
          `${strategy} is gone, was to close, and holds ${heldUsd} of ${marketToken} ${direction}: ${problem}`,
        )
      }
    },
  }
}
