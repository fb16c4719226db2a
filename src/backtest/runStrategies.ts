/** Strategy files as a run asks them: unchanged, at the closes of their candles, and not while there is no price. */
import { readFileSync } from 'node:fs'
import type { HostedKind, KindRun } from '../strategy/files/hosted.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { secondsOfPeriod } from '../strategy/indicators.ts'
import type { Strategy } from '../strategy/strategy.ts'
import type { Scheduler } from './lab/scheduler.ts'
import { type RunStrategy, sha256Of } from './runFiles.ts'

/** Time between two turns of a kind that reads no candles, seconds. */
const MINUTE = 60

/** Time between two turns of a file, seconds: the length of the finest candle that its kind reads, or what is asked for. */
export function turnSecondsOf({ needs }: Pick<LoadedStrategy, 'needs'>, asked?: number): number {
  if (asked !== undefined) return asked
  const periods = (needs.candles ?? []).map(({ period }) => secondsOfPeriod(period))
  return periods.length === 0 ? MINUTE : Math.min(...periods)
}

/** The markets of a file: those that it trades, and those that its kind reads. */
function marketsOfFile({ symbols, needs }: Pick<LoadedStrategy, 'symbols' | 'needs'>): readonly string[] {
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

/**
 * The file as a run loads it: a thread's answer holds time, and a turn at a moment without a price of one of its markets is none: nothing is
 * decided, and what is remembered stays.
 */
export function inRun(
  loaded: LoadedStrategy,
  turnSeconds: number,
  {
    scheduler,
    isPriced,
  }: { readonly scheduler: Scheduler; readonly isPriced: (symbol: string, atMs: number) => boolean },
): LoadedStrategy {
  const { strategy, hosted } = loaded
  const markets = marketsOfFile(loaded)
  const isOpen = (atMs: number): boolean => markets.every((symbol) => isPriced(symbol, atMs))
  const asked: Strategy = {
    ...strategy,
    decide(view, memory) {
      if (isOpen(view.snapshot.atMs)) return strategy.decide(view, memory)
      return strategy.memory === undefined ? [] : { decisions: [], memory }
    },
  }
  return {
    ...loaded,
    cadenceMs: turnSeconds * 1000,
    strategy: asked,
    ...(hosted === undefined ? {} : { hosted: hostedInRun(hosted, scheduler, isOpen) }),
  }
}

function hostedInRun(
  hosted: HostedKind,
  scheduler: Scheduler,
  isOpen: (atMs: number) => boolean,
): HostedKind {
  return {
    ...hosted,
    async decide(scene): Promise<KindRun> {
      if (isOpen(scene.snapshot.atMs)) return scheduler.busy(() => hosted.decide(scene))
      if (!hosted.remembers) return { returned: [], viewBytes: 0 }
      // Before its first turn a kind has no memory that could stay: it is asked, and decides on what it sees.
      if (scene.memory === undefined) return scheduler.busy(() => hosted.decide(scene))
      const { memory, version } = scene.memory
      return { returned: { decisions: [], memory, version }, viewBytes: 0 }
    },
  }
}
