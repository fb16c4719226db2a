/** Settings in which a run's daemon differs from a live one: its time jumps from turn to turn. */
import type { Config } from '../config/configTypes.ts'
import { traderSettingsOf } from '../daemon/runSettings.ts'

/**
 * Longest pause between two questions for one order, ms: the venue's word that something executed brings the next one. A look at orders that rest would
 * only move, by chance, the second in which the daemon hears of it.
 */
const MOST_POLL_MS = 86_400_000

/** Shortest pause between two questions for one order, ms: no turn comes before its answer. */
const LEAST_POLL_MS = 5_000

/** Returns the settings of a run's trader, with the configuration that they are of: the account is read once a turn, of `turnMs`. */
export function labSettingsOf(config: Config, turnMs: number) {
  const own = {
    ...config,
    // A turn may be many blocks after the one before.
    rpc: { ...config.rpc, maxLogBlocks: 1_000_000 },
    execution: { ...config.execution, statusPollMs: LEAST_POLL_MS, statusPollMaxMs: MOST_POLL_MS },
  }
  const settings = traderSettingsOf(own, 'chain')
  const engine = {
    ...settings.engine,
    watchMs: turnMs,
    heartbeatMs: Number.POSITIVE_INFINITY,
    // By the processor's time no run would be the same as another.
    slowDecideMs: Number.POSITIVE_INFINITY,
  }
  return { config: own, settings: { ...settings, engine } }
}
