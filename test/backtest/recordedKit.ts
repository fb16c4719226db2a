/** Recordings of pools and open interest that a test makes, in the form that `perpd record` writes. */
import { createRecording } from '../../src/history/recordingFile.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'

/** Amounts of a market at a moment: open interest in USD per whole index token and side, and rates with 30 decimals. */
export interface MadeFigures {
  readonly longUsd: number
  readonly shortUsd: number
  /** USD per whole index token. */
  readonly price: number
  /** Units of the long and of the short token. */
  readonly pool: readonly [bigint, bigint]
  /** Per second; positive: longs pay. */
  readonly funding: bigint
  readonly borrowing: readonly [long: bigint, short: bigint]
}

/** A market that is deep and even. */
export const evenFigures: MadeFigures = {
  longUsd: 20_000_000,
  shortUsd: 20_000_000,
  price: 2_300,
  pool: [30_000n * 10n ** 18n, 70_000_000n * 10n ** 6n],
  funding: 0n,
  borrowing: [0n, 0n],
}

const USD = 10n ** 30n

/** The fields of a row, as the client decodes one. */
function valuesOf(made: MadeFigures, decimals = 18): Readonly<Record<string, unknown>> {
  const usd = { long: BigInt(Math.round(made.longUsd)) * USD, short: BigInt(Math.round(made.shortUsd)) * USD }
  const unit = (BigInt(Math.round(made.price * 1e6)) * USD) / 10n ** BigInt(decimals) / 1_000_000n
  const halves = (name: string, amount: bigint) => ({
    [name]: amount,
    [`${name}UsingLongToken`]: amount / 2n,
    [`${name}UsingShortToken`]: amount - amount / 2n,
  })
  return {
    longPoolAmount: made.pool[0],
    shortPoolAmount: made.pool[1],
    swapImpactPoolAmountLong: 10n ** 18n,
    swapImpactPoolAmountShort: 10n ** 9n,
    positionImpactPoolAmount: 10n ** 20n,
    ...halves('longInterestUsd', usd.long),
    ...halves('shortInterestUsd', usd.short),
    ...halves('longInterestInTokens', usd.long / unit),
    ...halves('shortInterestInTokens', usd.short / unit),
    virtualInventoryForPositions: usd.short - usd.long,
    virtualInventoryForPositionsInTokens: (usd.short - usd.long) / unit,
    fundingFactorPerSecond: made.funding < 0n ? -made.funding : made.funding,
    longsPayShorts: made.funding > 0n,
    borrowingFactorPerSecondForLongs: made.borrowing[0],
    borrowingFactorPerSecondForShorts: made.borrowing[1],
  }
}

/** A market of a recording. */
export interface MadeMarket {
  readonly symbol: string
  /** Decimals of its index token; 18 when absent. */
  readonly decimals?: number
  /** Undefined: there is no row. */
  readonly at: (second: number) => MadeFigures | undefined
}

/** Writes the rows of each quarter of a minute into a history's folder. `settings`: of the markets, by their names on the wire. */
export async function writeRecording(
  folder: string,
  span: { readonly fromSeconds: number; readonly toSeconds: number },
  markets: readonly MadeMarket[],
  settings: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  const catalog = loadCatalog('arbitrum')
  const recording = createRecording(folder)
  const keyOf = (symbol: string) => catalog.markets.find((each) => each.symbol === symbol)?.marketToken ?? ''
  for (let second = span.fromSeconds; second < span.toSeconds; second += 15)
    for (const { symbol, at, decimals } of markets) {
      const made = at(second)
      const key = keyOf(symbol)
      if (second === span.fromSeconds && Object.keys(settings).length > 0)
        recording.rows(second * 1000, [{ kind: 'config', key, fields: { marketToken: key, ...settings } }])
      if (made === undefined) continue
      const fields = { ...valuesOf(made, decimals), updatedAtMs: second * 1000 }
      recording.rows(second * 1000, [{ kind: 'values', key, fields }])
    }
  await recording.close()
}
