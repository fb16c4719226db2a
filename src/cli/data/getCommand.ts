/** `perpd data get`: history from the venue's own routes. */
import type { Api } from '../../api/client.ts'
import type { HistoryPeriod } from '../../api/markets/history.ts'
import { defined } from '../../base/defined.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type GetOutcome, getCandles } from '../../history/getCandles.ts'
import { venueSource } from '../../history/importCandles.ts'
import { assetOfToken } from '../../history/indexAssets.ts'
import type { SeriesName } from '../../history/manifest.ts'
import { writeRates } from '../../history/ratesFile.ts'
import { type HistoryStore, openStore } from '../../history/store.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { MarketFacts, TokenFacts } from '../../protocol/catalogue.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { marketsNamed } from '../../protocol/marketName.ts'
import type { Call } from '../call/command.ts'
import { momentFlag } from '../call/timeFlags.ts'
import { progressLine } from '../output/progressBar.ts'
import { SCREEN_COLUMNS } from '../output/screen.ts'
import { withApi } from '../subaccount/subaccountParties.ts'
import { type LogsReader, type LogsShown, logsText, withChainLogs } from './chainLogs.ts'
import { periodFlag } from './dataFlags.ts'
import { minuteText } from './dataText.ts'

/** Days that are got where no --from is given. */
const USUAL_DAYS = 30
const DAY_SECONDS = 86_400

/** A market that was named, with its index token. */
interface Wanted {
  readonly market: MarketFacts
  readonly index: TokenFacts
}

/** Gets candles and rates of each market. What was answered is kept, whatever comes after. */
export async function getData(call: Call): Promise<number> {
  const { loaded, flags, positionals, out, err } = call
  const { config } = loaded
  const { chain } = config.venue
  const store = openStore(config.history.folder)
  const nowSeconds = Math.floor(systemClock.now() / 1_000)
  const period = periodFlag(flags) ?? '1m'
  const range = {
    fromSeconds: momentFlag(flags, 'from', nowSeconds) ?? nowSeconds - USUAL_DAYS * DAY_SECONDS,
    toSeconds: momentFlag(flags, 'to', nowSeconds) ?? nowSeconds,
  }
  if (range.fromSeconds >= range.toSeconds)
    throw new CommandError('--from is not before --to.', exitCodes.error)
  const named = positionals.map((name) => wantedOf(chain, name))
  // ETH and ETH/USD are one market.
  const wanted = [...new Map(named.map((each) => [hexKey(each.market.marketToken), each])).values()]
  if (config.isPaper) err('The paper venue has invented prices. For real ones: --profile arbitrum.')
  const source = venueSource(config.isPaper)
  const results: Shown[] = []
  const get = async (readLogs?: LogsReader) =>
    await withApi(call, async (api) => {
      const tokens = (await api.getOracleTokens()).value
      for (const each of wanted) {
        const series: SeriesName = { asset: assetOfToken(each.index), period, source }
        const token = tokens.find(({ address }) => sameHex(address, each.index.address))
        const tokenSymbol = token?.symbol ?? series.asset
        const request = { series, tokenSymbol, marketSymbol: each.market.symbol, nowSeconds, ...range }
        const shown = await withBar((progress) => getOne(api, store, request, progress), series.asset)
        const rates = await getRates(api, store, chain, each, nowSeconds - range.fromSeconds)
        const result = { ...series, ...range, ...shown, rates }
        if (!flags.has('json')) out(shownText(result))
        const logs = await withBar(
          async (progress) => await readLogs?.(each.market, range, progress),
          'chain',
        )
        if (logs !== undefined && !flags.has('json')) out(logsText(logs))
        results.push({ ...result, ...defined({ logs }) })
      }
    })
  await (flags.has('chain-logs') ? withChainLogs(call, get) : get())
  if (flags.has('json')) out(JSON.stringify(results, undefined, 2))
  return results.some(({ problem, logs }) => (problem ?? logs?.problem) !== undefined)
    ? exitCodes.error
    : exitCodes.ok
}

/** The outcome of a market, for people and programs. */
type Shown = SeriesName &
  GetOutcome & {
    readonly fromSeconds: number
    readonly toSeconds: number
    /** Why it ended early; what came before is kept. */
    readonly problem?: string
    readonly rates: string
    /** Absent: they were not asked for. */
    readonly logs?: LogsShown
  }

function wantedOf(chain: Chain, name: string): Wanted {
  const { markets, tokens } = chain.facts
  const found = marketsNamed([...markets.values()], name).flatMap((market) => {
    const index = tokens.get(hexKey(market.indexToken))
    return index === undefined ? [] : [{ market, index }]
  })
  const [first] = found
  if (first !== undefined) return first
  throw new CommandError(
    `No market of ${chain.name} is called ${name}. perpd markets lists them.`,
    exitCodes.notFound,
  )
}

async function getOne(
  api: Api,
  store: HistoryStore,
  request: Parameters<typeof getCandles>[2],
  progress: (done: number, total: number) => void,
): Promise<GetOutcome & { readonly problem?: string }> {
  let requests = 0
  try {
    return await getCandles(api, store, request, (done, total) => {
      requests = done
      progress(done, total)
    })
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return { requests, added: 0, firstSeconds: undefined, problem: error.message }
  }
}

/** Periods of rates with their days, from short to long. */
const ratePeriods: readonly (readonly [HistoryPeriod, days: number])[] = [
  ['7d', 7],
  ['30d', 30],
  ['90d', 90],
  ['180d', 180],
  ['1y', 365],
]

/** Gets the market's rates as far back as the candles; gives a sentence about them. */
async function getRates(
  api: Api,
  store: HistoryStore,
  { name: chain }: Chain,
  { market: { symbol, marketToken } }: Wanted,
  backSeconds: number,
): Promise<string> {
  const [period] = ratePeriods.find(([, days]) => days * DAY_SECONDS >= backSeconds) ?? (['total'] as const)
  try {
    const { value } = await api.getRates({ period, averageBy: '1d', marketToken })
    const snapshots = value.find((each) => sameHex(each.marketToken, marketToken))?.snapshots ?? []
    const market = { chain, market: symbol, marketToken, origin: `GET /rates period=${period} averageBy=1d` }
    const unit = 'factor with 30 decimals; per hour or per second is not documented'
    const entry = await writeRates(store.folder, { ...market, unit }, snapshots)
    if (entry === undefined) return `GET /rates has none of ${symbol}`
    return `${entry.rows} rates of ${symbol}, ${minuteText(entry.firstSeconds)} to ${minuteText(entry.lastSeconds)}, daily means`
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    return `no rates of ${symbol}: ${error.shortMessage}`
  }
}

function shownText(shown: Shown): string {
  const { asset, period, source, requests, added, firstSeconds, stopped, problem, rates, fromSeconds } = shown
  const late = firstSeconds !== undefined && firstSeconds - fromSeconds > DAY_SECONDS / 24
  return [
    `${asset} ${period}: ${added} new candles by ${requests} requests, source ${source}.`,
    ...(firstSeconds === undefined ? [] : [`  Stored from ${minuteText(firstSeconds)} UTC on.`]),
    ...(stopped === undefined && !late
      ? []
      : [
          `  Earlier ones: ${stopped ?? 'the venue has none'}. Import them from a file: perpd data import FILE.`,
        ]),
    ...(problem === undefined
      ? []
      : [`  It ended early: ${problem}`, '  The data so far is saved; the same command continues there.']),
    `  Rates: ${rates}.`,
  ].join('\n')
}

/** Work with a separate line on standard error, where that is a terminal. */
async function withBar<T>(
  work: (progress: (done: number, total: number) => void) => Promise<T>,
  name: string,
): Promise<T> {
  const { stderr } = process
  if (!stderr.isTTY || process.env.TERM === 'dumb') return await work(() => {})
  const beganMs = systemClock.monotonicMs()
  try {
    return await work((done, total) => {
      const line = progressLine(
        done,
        total,
        systemClock.monotonicMs() - beganMs,
        SCREEN_COLUMNS - name.length - 2,
      )
      stderr.write(`\r${name} ${line}\u001b[K`)
    })
  } finally {
    stderr.write('\r\u001b[K')
  }
}
