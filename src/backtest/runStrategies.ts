/** Strategy files as a run asks them: unchanged, at the closes of their candles, and not while there is no price. */
import { readFileSync } from 'node:fs'
import { defined } from '../base/defined.ts'
import { secondsOfPeriod } from '../strategy/closedCandles.ts'
import type { HostedKind, KindRun, Scene } from '../strategy/files/hosted.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { checkTurn } from '../strategy/kindMemory.ts'
import type { Strategy, StrategyView } from '../strategy/strategy.ts'
import type { RecordTurn, ShownScene } from './check/recordedTurns.ts'
import type { Scheduler } from './lab/scheduler.ts'
import { type RunStrategy, sha256Of } from './runFiles.ts'

/** Time between two turns of a kind that reads no candles, seconds. */
const MINUTE = 60

/** Time between two turns of a file, seconds: the length of the finest candle that its kind reads, or what is asked for. */
export function turnSecondsOf({ needs }: LoadedStrategy, asked?: number): number {
  if (asked !== undefined) return asked
  const periods = (needs.candles ?? []).map(({ period }) => secondsOfPeriod(period))
  return periods.length === 0 ? MINUTE : Math.min(...periods)
}

/** Returns the time before a run from which its kinds read candles, seconds. */
export function warmUpOf(strategies: readonly LoadedStrategy[]): number {
  const spans = strategies.flatMap(({ needs }) =>
    (needs.candles ?? []).map(({ period, limit }) => secondsOfPeriod(period) * (limit + 1)),
  )
  return Math.max(0, ...spans)
}

/** The markets of a file: those that it trades, and those that its kind reads. */
export function marketsOfFile({ symbols, needs }: LoadedStrategy): readonly string[] {
  return [...new Set([...symbols, ...needs.symbols, ...(needs.candles ?? []).map(({ symbol }) => symbol)])]
}

/** Describes a strategy file for the manifest. */
export function runStrategyOf(loaded: LoadedStrategy, turnSeconds: number): RunStrategy {
  const text = readFileSync(loaded.path, 'utf8')
  return {
    name: loaded.name,
    kind: loaded.strategy.kind,
    path: loaded.path,
    text,
    sha256: sha256Of(text),
    markets: marketsOfFile(loaded),
    turnSeconds,
  }
}

/** The run around a strategy. */
export interface AroundStrategy {
  readonly scheduler: Scheduler
  readonly isPriced: (symbol: string, atMs: number) => boolean
  /** Takes each turn that was asked. */
  readonly record?: RecordTurn | undefined
}

/**
 * The file as a run loads it: a thread's answer holds time, and a turn at a moment without a price of one of its markets is none: nothing is
 * decided, and what is remembered stays.
 */
export function inRun(
  loaded: LoadedStrategy,
  turnSeconds: number,
  { scheduler, isPriced, record }: AroundStrategy,
): LoadedStrategy {
  const { name, strategy, hosted } = loaded
  const markets = marketsOfFile(loaded)
  const isOpen = (atMs: number): boolean => markets.every((symbol) => isPriced(symbol, atMs))
  const asked: Strategy = {
    ...strategy,
    decide(view, memory) {
      if (isOpen(view.snapshot.atMs)) {
        const returned = strategy.decide(view, memory)
        record?.(name, sceneOf(view, memory), answered(strategy, returned))
        return returned
      }
      return strategy.memory === undefined ? [] : { decisions: [], memory }
    },
  }
  return {
    ...loaded,
    cadenceMs: turnSeconds * 1000,
    strategy: asked,
    ...defined({
      hosted:
        hosted === undefined
          ? undefined
          : hostedInRun(hosted, scheduler, isOpen, record && ((...turn) => record(name, ...turn))),
    }),
  }
}

/** The values of a view, from which it can be made again. */
function sceneOf(view: StrategyView, remembered: unknown): ShownScene {
  const { snapshot, openIntents, restingOrders, tasks, strayOrders, events, eventsMissed, signals } = view
  return {
    ...{ snapshot, openIntents, restingOrders, tasks, strayOrders, events, eventsMissed, signals },
    own: view.ownPositions(),
    ...defined({ approval: view.approval }),
    remembered,
  }
}

/** Returns the answer of a kind as the daemon reads it. Throws for one that the daemon would refuse. */
function answered({ memory }: Strategy, returned: unknown): unknown {
  return memory === undefined ? returned : checkTurn(memory, returned)
}

function hostedInRun(
  hosted: HostedKind,
  scheduler: Scheduler,
  isOpen: (atMs: number) => boolean,
  record?: (scene: ShownScene, returned: unknown) => void,
): HostedKind {
  const ask = async (scene: Scene): Promise<KindRun> => {
    const run = await scheduler.aside(() => hosted.decide(scene))
    record?.(scene, run.returned)
    return run
  }
  return {
    ...hosted,
    async decide(scene): Promise<KindRun> {
      if (isOpen(scene.snapshot.atMs)) return ask(scene)
      if (!hosted.remembers) return { returned: [], viewBytes: 0 }
      // Before its first turn a kind has no memory that could stay: it is asked, and decides on what it sees.
      if (scene.memory === undefined) return ask(scene)
      const { memory, version } = scene.memory
      return { returned: { decisions: [], memory, version }, viewBytes: 0 }
    },
  }
}
