/** Reads the folder of a run that is over. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BaseError } from '../base/errors.ts'
import {
  type EquityPoint,
  parseManifest,
  parseResult,
  type RunCandle,
  type RunFill,
  type RunManifest,
  type RunResult,
  runFileNames,
  runTables,
  sha256Of,
} from './runFiles.ts'

/** A folder that holds no whole run. */
class RunReadError extends BaseError {}

/** A run as its folder has it. */
export interface ReadRun {
  readonly manifest: RunManifest
  readonly result: RunResult
  readonly fills: readonly RunFill[]
  readonly equity: readonly EquityPoint[]
  readonly candles: readonly RunCandle[]
}

/**
 * Reads a run. Fills and equity are held to the hashes that the result names.
 *
 * @throws RunReadError RUN_MISSING where there is no run, RUN_UNFINISHED where it was stopped, RUN_DAMAGED where a file is not as the run wrote it
 */
export function readRun(folder: string): ReadRun {
  const path = (name: keyof typeof runFileNames): string => join(folder, runFileNames[name])
  const text = (name: keyof typeof runFileNames): string => readFileSync(path(name), 'utf8')
  if (!existsSync(path('manifest')))
    throw new RunReadError('This folder has no run.', {
      code: 'RUN_MISSING',
      facts: { folder },
      details: 'Nothing was read. Name the folder that perpd backtest printed.',
    })
  if (!existsSync(path('result')))
    throw new RunReadError('The run in this folder was stopped.', {
      code: 'RUN_UNFINISHED',
      facts: { folder },
      details: 'Nothing was read. Repeat the command of the run to resume it.',
    })
  try {
    const result = parseResult(text('result'))
    const [fills, equity] = [text('fills'), text('equity')]
    if (sha256Of(fills) !== result.fillsSha256) throw new RangeError(`${runFileNames.fills} was changed`)
    if (sha256Of(equity) !== result.equitySha256) throw new RangeError(`${runFileNames.equity} was changed`)
    return {
      manifest: parseManifest(text('manifest')),
      result,
      fills: runTables.fills.parse(fills),
      equity: runTables.equity.parse(equity),
      candles: runTables.candles.parse(text('candles')),
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error
    throw new RunReadError('The run in this folder cannot be read.', {
      code: 'RUN_DAMAGED',
      facts: { folder, problem: error.message },
      details: 'Nothing was read. Repeat the command of the run with --again to start over.',
    })
  }
}
