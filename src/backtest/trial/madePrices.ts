/** Prices of a situation as candles, which the venue follows as it follows recorded ones. */
import type { CatalogIndex, CatalogToken } from '../../paper/catalog/catalog.ts'
import type { PriceHistory } from '../../paper/catalog/historyPrices.ts'
import { assetOf } from '../../paper/catalog/prices.ts'
import { hexKey } from '../../protocol/address.ts'
import { priceOfContractPrice } from '../../protocol/units.ts'
import { levelOfPrice } from '../../strategy/levels.ts'
import { priceFactor, type Situation, TRIAL_TURNS } from './situations.ts'

/** A market of a trial. */
export interface TrialMarket {
  readonly symbol: string
  /** Assets whose prices move, the index's first. */
  readonly assets: readonly PricedAsset[]
  readonly long: CatalogToken
  readonly short: CatalogToken
}

/** An asset with the price about which a trial begins, USD. */
interface PricedAsset {
  readonly asset: string
  readonly level: number
}

/** Returns the market of that symbol, or undefined when the catalogue lacks it or a sample price of it. */
export function trialMarket(
  symbol: string,
  { catalog, tokenByAddress }: CatalogIndex,
): TrialMarket | undefined {
  const facts = catalog.markets.find((each) => each.symbol === symbol)
  if (facts === undefined) return undefined
  const [index, long, short] = [facts.indexToken, facts.longToken, facts.shortToken].map((address) =>
    tokenByAddress.get(hexKey(address)),
  )
  if (index === undefined || long === undefined || short === undefined) return undefined
  const assets: PricedAsset[] = []
  for (const token of [index, long, short]) {
    const sample = catalog.samplePrices.find(({ address }) => hexKey(address) === hexKey(token.address))
    if (token.isStable) continue
    if (sample === undefined) return undefined
    const level = levelOfPrice(priceOfContractPrice(BigInt(sample.min), token.decimals))
    assets.push({ asset: assetOf(token), level })
  }
  return { symbol, assets, long, short }
}

/** The clock of a trial: a turn every `turnSeconds`. */
export interface TrialClock {
  /** Unix seconds of the first turn. */
  readonly startSeconds: number
  readonly turnSeconds: number
}

/**
 * Places of a candle at which its price is looked at, as parts of its length. A turn comes at the end of a candle: what the price moves in the last quarter
 * is beyond all that the candle shows, as it is for a daemon that looks within one.
 */
const LOOKS = [0, 0.25, 0.5, 0.75]
/** Digits of a price in ticks. */
const DIGITS = 12

/**
 * Makes the candles of each asset from `warmUpSeconds` before the first turn on, one a turn. The first market's index follows the situation whole, and
 * other assets a part of it.
 */
export function madeHistories(
  situation: Situation,
  markets: readonly TrialMarket[],
  { startSeconds, turnSeconds }: TrialClock,
  warmUpSeconds: number,
): ReadonlyMap<string, PriceHistory> {
  const before = Math.ceil(warmUpSeconds / turnSeconds) + 1
  const length = before + TRIAL_TURNS + 1
  const first = markets[0]?.assets[0]?.asset
  const histories = new Map<string, PriceHistory>()
  for (const { asset, level } of markets.flatMap(({ assets }) => assets)) {
    if (histories.has(asset)) continue
    const decimals = Math.max(0, DIGITS - Math.ceil(Math.log10(level)))
    const column = (): BigInt64Array => new BigInt64Array(length)
    const [open, high, low, close] = [column(), column(), column(), column()]
    for (let at = 0; at < length; at += 1) {
      const ticks = LOOKS.map((part) => {
        const factor = priceFactor(situation, asset, asset === first, turnSeconds, at - before + part)
        return BigInt(Math.round(factor * level * 10 ** decimals))
      })
      open[at] = ticks[0] ?? 0n
      close[at] = ticks.at(-1) ?? 0n
      high[at] = ticks.reduce((most, each) => (each > most ? each : most))
      low[at] = ticks.reduce((least, each) => (each < least ? each : least))
    }
    const startOf = (at: number): number => startSeconds + (at - before) * turnSeconds
    histories.set(asset, {
      length,
      startSeconds: Float64Array.from({ length }, (_, at) => startOf(at)),
      ...{ open, high, low, close, decimals },
      periodSeconds: turnSeconds,
    })
  }
  return histories
}
