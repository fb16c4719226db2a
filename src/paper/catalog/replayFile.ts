/** Candles of a file, for prices that really were, by the assets that the venue prices. */
import { basename } from 'node:path'
import { type FileCandle, readCandleFile } from '../../base/candles/candleFile.ts'
import { BaseError } from '../../base/errors.ts'
import { nearestAsset } from '../../protocol/marketName.ts'
import type { CatalogToken } from './catalog.ts'
import { assetOf } from './prices.ts'

/** Candles by asset (`BTC`), ascending, and how fast they are played. */
export interface PriceReplay {
  readonly series: ReadonlyMap<string, readonly FileCandle[]>
  /**
   * Seconds of the file for a second of the clock. Prices alone are that fast: blocks, deadlines, funding and cache windows
   * stay on the clock, which clients share.
   */
  readonly speed: number
}

/**
 * Reads a file. Without a symbol in its rows it is of the asset that its name begins with, as `btc-usd-1m.csv`.
 *
 * @param tokens those that the venue prices: a series of an asset that none of them follows is refused
 * @throws BaseError CANDLES_UNREADABLE, which names bad rows, or PAPER_REPLAY_UNPRICED, which names assets that nothing prices
 */
export async function loadReplay(
  path: string,
  speed: number,
  tokens: readonly CatalogToken[],
): Promise<PriceReplay> {
  const ofFile = /^[A-Za-z0-9]+/.exec(basename(path))?.[0] ?? ''
  const series = new Map<string, readonly FileCandle[]>()
  for (const [symbol, candles] of (await readCandleFile(path)).series) {
    const asset = (symbol === '' ? ofFile : symbol).toUpperCase().replace(/[/-].*$/, '')
    series.set(asset, candles)
  }
  const assets = new Set(tokens.map(assetOf))
  const unpriced = [...series.keys()].filter((asset) => !assets.has(asset))
  if (unpriced.length > 0) throw unpricedError(path, unpriced, [...assets].sort())
  return { series, speed }
}

function unpricedError(path: string, unpriced: readonly string[], assets: readonly string[]): BaseError {
  const told = unpriced.map((asset) => {
    const near = nearestAsset(asset, assets)
    return `${asset === '' ? 'rows without a symbol, in a file whose name gives none,' : asset}${near === undefined ? '' : `; did you mean ${near}?`}`
  })
  return new BaseError(`The candle file has prices that no token of the venue follows: ${told.join(' ')}`, {
    code: 'PAPER_REPLAY_UNPRICED',
    facts: { path, assets: assets.join(', ') },
    details:
      'Nothing was started, because the venue would use seeded prices instead. Begin the file name with the asset, as eth-usd-1m.csv, or add a column symbol.',
  })
}
