/** `perpd data import`: candles of files into the history. */
import { basename, resolve } from 'node:path'
import { defined, ifDefined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import { exitCodes } from '../../config/exit.ts'
import { type ImportedSeries, importCandles } from '../../history/importCandles.ts'
import { openStore } from '../../history/store.ts'
import type { Call } from '../call/command.ts'
import { wholeFlag } from '../call/numberFlags.ts'
import { mapFlag, periodFlag, sourceFlag } from './dataFlags.ts'
import { minuteText, qualityText } from './dataText.ts'

/** Largest p99 of the difference to the oracle's prices that is taken without a flag, basis points. */
const MAX_BASIS_BPS = 50

/** Imports each file, in the order given; the first that is refused ends it. */
export async function importData({ loaded, flags, positionals, cwd, out }: Call): Promise<number> {
  const store = openStore(loaded.config.history.folder)
  const market = flags.get('market')
  const [period, map] = [periodFlag(flags), mapFlag(flags)]
  const request = {
    source: sourceFlag(flags) ?? 'import',
    maxBasisBps: wholeFlag(flags, 'max-basis-bps', { least: 0, most: 10_000 }) ?? MAX_BASIS_BPS,
    nowSeconds: Math.floor(systemClock.now() / 1_000),
    ...defined({ market: ifDefined(market, String), period, map }),
  }
  const all: (ImportedSeries & { readonly file: string })[] = []
  for (const [path, file] of new Map(positionals.map((each) => [resolve(cwd, each), each]))) {
    const imported = await importCandles(store, { path, ...request })
    all.push(...imported.map((each) => ({ file, ...each })))
    if (!flags.has('json')) for (const each of imported) out(importedText(basename(file), each))
  }
  if (flags.has('json')) out(JSON.stringify(all, undefined, 2))
  return exitCodes.ok
}

function importedText(file: string, imported: ImportedSeries): string {
  const { series, firstSeconds, lastSeconds, candles, written, quality, basis } = imported
  const { outOfOrder, repeated, running } = imported
  const remarks = [
    ...(written.same > 0 ? [`${written.same} were stored already`] : []),
    ...(written.replaced > 0 ? [`${written.replaced} replaced stored candles with other prices`] : []),
    ...(repeated > 0 ? [`${repeated} rows repeated another`] : []),
    ...(outOfOrder > 0 ? [`${outOfOrder} rows were out of order`] : []),
    ...(running > 0
      ? [`the last ${running === 1 ? 'candle was' : `${running} candles were`} left out: not complete yet`]
      : []),
    ...(written.rounded > 0 ? [`${written.rounded} prices had too many digits and were rounded`] : []),
  ]
  const difference =
    basis === undefined
      ? "No oracle candles for these times: the difference to the oracle's prices is unknown."
      : `Difference to the oracle's closes: median ${basis.p50Bps} bps, p99 ${basis.p99Bps} bps, over ${basis.candles} candles.`
  return [
    `${file}: ${candles} candles of ${series.asset}, ${series.period}, ${minuteText(firstSeconds)} to ${minuteText(lastSeconds)} UTC, source ${series.source}.`,
    ...remarks.map((remark) => `  ${remark}`),
    `  ${qualityText(quality)}`,
    `  ${difference}`,
  ].join('\n')
}
