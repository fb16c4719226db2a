/** The terms of a run that was stopped: its manifest has all of them but the place of a file of candles. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../base/defined.ts'
import { BaseError } from '../base/errors.ts'
import type { ChainName } from '../protocol/chains/chain.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import type { RunWish } from './planRun.ts'
import { parseManifest, type RunManifest, runFileNames } from './runFiles.ts'

/** A folder without a run that can be resumed. */
class StoppedRunError extends BaseError {}

/**
 * Reads the manifest of a run that was stopped.
 *
 * @throws StoppedRunError RUN_MISSING where the folder has no manifest of this form
 */
export function stoppedManifest(folder: string): RunManifest {
  const path = join(folder, runFileNames.manifest)
  try {
    if (existsSync(path)) return parseManifest(readFileSync(path, 'utf8'))
  } catch (error) {
    if (!(error instanceof Error)) throw error
  }
  throw new StoppedRunError('This folder has no run that can be resumed.', {
    code: 'RUN_MISSING',
    facts: { folder },
    details: 'Nothing was run. Name the folder of a run, as perpd backtest printed it.',
  })
}

/** The part of a run's terms that is of this machine: its files, its settings, and where candles lie. */
export interface RunPlace {
  readonly chain: ChainName
  readonly strategies: readonly LoadedStrategy[]
  readonly settings: Readonly<Record<string, unknown>>
  readonly storeFolder: string
  readonly marketHours: readonly string[]
  /** A file of candles; absent: the store. */
  readonly file?: string
}

/** The same run again, from what its manifest says; `here` has what is of this machine. What has changed since makes another run, which its folder refuses. */
export function wishOfManifest(manifest: RunManifest, here: RunPlace): RunWish {
  const { mode, fromSeconds, toSeconds, balances, seed, segmentSeconds, inputs } = manifest
  const { sentences: _, ...model } = manifest.model
  const [turnSeconds, ...others] = new Set(manifest.strategies.map((each) => each.turnSeconds))
  const source = here.file === undefined ? inputs[0]?.source : undefined
  return {
    ...here,
    ...{ mode, fromSeconds, toSeconds, balances, seed, segmentSeconds, model },
    // Files that differ in it have their own.
    ...defined({ turnSeconds: others.length > 0 ? undefined : turnSeconds, source }),
  }
}
