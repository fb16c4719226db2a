/** `perpd data export`: candles of the history as a file for other programs. */
import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { csvOfCandles, parquetOfRange } from '../../history/exportCandles.ts'
import { openStore } from '../../history/store.ts'
import type { Call } from '../call/command.ts'
import { momentFlag } from '../call/timeFlags.ts'
import { periodFlag, sourceFlag } from './dataFlags.ts'
import { lengthText, minuteText, sumSeconds } from './dataText.ts'

/** Writes a file; its ending says the format. A file that is there is not replaced. */
export async function exportData({ loaded, flags, positionals, cwd, out, err }: Call): Promise<number> {
  const [market = ''] = positionals
  const nowSeconds = Math.floor(systemClock.now() / 1_000)
  const source = sourceFlag(flags)
  const period = periodFlag(flags) ?? '1m'
  const range = await openStore(loaded.config.history.folder).read({
    market,
    period,
    fromSeconds: momentFlag(flags, 'from', nowSeconds) ?? 0,
    toSeconds: momentFlag(flags, 'to', nowSeconds) ?? nowSeconds,
    ...defined({ source }),
  })
  const { series, columns } = range
  const name = String(flags.get('out') ?? `${series.asset}-${series.period}.csv`)
  if (!/\.(?:csv|parquet)$/.test(name))
    throw new CommandError(
      `--out is ${name}; expected a file that ends in .csv or .parquet.`,
      exitCodes.error,
    )
  const path = resolve(cwd, name)
  const content = name.endsWith('.csv') ? csvOfCandles(range) : parquetOfRange(range)
  try {
    writeFileSync(path, content, { flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
    throw new CommandError(
      `${path} exists and is not replaced: name another file with --out.`,
      exitCodes.error,
    )
  }
  const [first = 0, last = 0] = [columns.startSeconds[0], columns.startSeconds[columns.length - 1]]
  out(
    `${path}: ${columns.length} candles of ${series.asset}, ${series.period}, ${minuteText(first)} to ${minuteText(last)} UTC, source ${series.source}.`,
  )
  const inside = range.gaps.filter(({ fromSeconds }) => fromSeconds > first && fromSeconds < last)
  if (inside.length > 0)
    err(
      `  ${inside.length} gaps, ${lengthText(sumSeconds(inside))} in total: perpd data check ${series.asset}`,
    )
  return exitCodes.ok
}
