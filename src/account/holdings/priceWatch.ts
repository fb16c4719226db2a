/**
 * Prices of markets with positions from every host, and the last price on which most of them agreed: the basis for judging reductions
 * (`risk/checks/reductionPrice.ts`). Hosts are queried in parallel; a silent one delays nobody.
 */

import type { Api } from '../../api/client.ts'
import type { DecimalsOf } from '../../api/feeds/oracle.ts'
import { ageMsOf, type Clock, type Moment, momentOf } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import { tolerate } from '../../base/tolerate.ts'
import type { Limits } from '../../domain/limits/limits.ts'
import { marketKeysOf, type Snapshot } from '../../domain/snapshot.ts'
import type { HasJournal } from '../../execution/context/executionParts.ts'
import { hexKey, sameHex } from '../../protocol/address.ts'
import type { Market } from '../../protocol/market.ts'
import { judgePrice, type LastPrice, type PriceWord } from '../../risk/checks/priceJudge.ts'
import {
  DIVERGENCE_BPS,
  type KnownPrices,
  type ReductionPriceLimits,
  withHeldPrices,
} from '../../risk/checks/reductionPrice.ts'
import { journaledPrices } from './journaledPrices.ts'

/** Dependencies of the watch. */
export interface PriceWatchParts extends HasJournal {
  readonly api: Api
  readonly clock: Clock
  readonly limits: {
    current(): { readonly account: Limits }
    on(symbol: string, owner: string): ReductionPriceLimits
  }
  /** Takes a mistake of ours. */
  readonly fatal: (error: unknown) => void
}

/** The watch. */
export interface PriceWatch {
  /**
   * Reads the prices of these markets unless that was done a moment ago; resolves when they are known well enough to judge by. Never rejects because
   * of network faults.
   */
  look(markets: readonly Market[]): Promise<void>
  /** Returns the known prices of a market. */
  of(marketToken: string): KnownPrices
  /** The last price of it that most hosts agreed on. */
  lastOf(marketToken: string): LastPrice | undefined
  /**
   * Returns the snapshot on which an instance, or a task of the operator's or of one, decides: hosts that differ on a position's price are judged.
   */
  judged(snapshot: Snapshot, owner: string): Snapshot
}

/** Time for which a look counts as current, and the greatest age of answers during a look, ms. */
const LOOK_MS = 4_000
const ENOUGH_MS = 15_000
/** Longest wait for a host, and for slower ones when one of each service has answered, ms. */
const TIMEOUT_MS = 3_000
const PATIENCE_MS = 1_000

/** A state at one moment. */
interface Dated<T> {
  readonly value: Omit<T, 'atMs'>
  readonly at: Moment
}

/** Makes the watch; before the first look the last prices of the journal are known alone. */
export function createPriceWatch(parts: PriceWatchParts): PriceWatch {
  const { api, clock, fatal } = parts
  /** By lower-cased market token: words by kind and host. */
  const words = new Map<string, Map<string, Dated<PriceWord>>>()
  const lasts = new Map<string, Dated<LastPrice>>()
  const { journal } = parts
  for (const [key, last] of journaledPrices(journal.recentIntents(), journal.setBackSince))
    lasts.set(key, dated(last))
  const lookedAtMs = new Map<string, number>()

  const divergenceBps = () => parts.limits.current().account.maxPriceDivergenceBps ?? DIVERGENCE_BPS

  /** A stamp of a time to come is of now: a clock that was ahead wrote it. */
  function dated<T extends { readonly atMs: number }>({ atMs, ...value }: T): Dated<T> {
    return { value, at: momentOf(clock, Math.max(0, clock.now() - atMs)) }
  }

  /** The same with its stamp by the clock of now, whatever the clock did since. */
  function stamped<T>({ value, at }: Dated<T>): Omit<T, 'atMs'> & { readonly atMs: number } {
    return { ...value, atMs: clock.now() - ageMsOf(at, clock) }
  }

  function wordsOf(marketToken: string): readonly PriceWord[] {
    return [...(words.get(hexKey(marketToken))?.values() ?? [])].map((word) => stamped(word))
  }

  function lastOf(marketToken: string): LastPrice | undefined {
    const last = lasts.get(hexKey(marketToken))
    return last && stamped(last)
  }

  function note(marketToken: string, word: PriceWord): void {
    if (word.minPrice <= 0n || word.medianPrice <= 0n) return
    const key = hexKey(marketToken)
    const own = words.get(key) ?? new Map<string, Dated<PriceWord>>()
    words.set(key, own.set(`${word.kind} ${word.host}`, dated(word)))
  }

  function youngOf(marketToken: string): readonly PriceWord[] {
    const nowMs = clock.now()
    return wordsOf(marketToken).filter(({ atMs }) => nowMs - atMs <= ENOUGH_MS)
  }

  /** Retains the price that most agree on now as the last good price. */
  function remember({ marketToken }: Market): void {
    const found = judgePrice(youngOf(marketToken), lastOf(marketToken), divergenceBps(), clock.now())
    if (found?.isGood === true)
      lasts.set(hexKey(marketToken), { value: { price: found.medianPrice }, at: momentOf(clock) })
  }

  const optionsOf = (hosts: readonly string[], host: string) =>
    hosts.length === 1 ? {} : { host, attempts: 1, timeoutMs: TIMEOUT_MS }

  async function readOracle(host: string, markets: readonly Market[], decimalsOf: DecimalsOf): Promise<void> {
    const read = await api.getPrices(decimalsOf, optionsOf(api.hosts.oracle, host))
    const skewMs = api.clockSkewMs(read.host) ?? 0
    for (const { marketToken, indexToken } of markets) {
      const row = read.value.find(({ tokenAddress }) => sameHex(tokenAddress, indexToken))
      if (row === undefined) continue
      const { minPrice, maxPrice, medianPrice, updatedAtSeconds } = row
      const atMs = Math.min(read.readAtMs, updatedAtSeconds * 1000 - skewMs)
      note(marketToken, { kind: 'oracle', host, minPrice, maxPrice, medianPrice, atMs })
    }
  }

  async function readMarks(host: string, markets: readonly Market[]): Promise<void> {
    const symbols = markets.map(({ symbol }) => symbol)
    const read = await api.getMarketTickers({ symbols }, optionsOf(api.hosts.api, host))
    for (const { marketToken, minPrice, maxPrice, markPrice } of read.value)
      note(marketToken, {
        kind: 'mark',
        host,
        minPrice,
        maxPrice,
        medianPrice: markPrice,
        atMs: read.readAtMs,
      })
  }

  async function readAll(markets: readonly Market[]): Promise<void> {
    const tokens = await tolerate(api.getOracleTokens())
    const decimals = new Map((tokens?.value ?? []).map((row) => [hexKey(row.address), row.decimals]))
    const isAwake = (host: string) => !api.isCoolingDown(host)
    const oracles = api.hosts.oracle
      .filter(isAwake)
      .map((host) => tolerate(readOracle(host, markets, (address) => decimals.get(hexKey(address)))))
    const listed = markets.filter(({ isListed }) => isListed)
    const marks =
      listed.length === 0
        ? []
        : api.hosts.api.filter(isAwake).map((host) => tolerate(readMarks(host, listed)))
    const over = new AbortController()
    const all = Promise.all([...oracles, ...marks]).finally(() => over.abort('answered'))
    const first = Promise.all([anyOf(oracles), anyOf(marks)])
    await Promise.race([all, first.then(() => clock.sleep(PATIENCE_MS, over.signal))])
    for (const market of markets) remember(market)
  }

  function of(marketToken: string): KnownPrices {
    const last = lastOf(marketToken)
    return { words: wordsOf(marketToken), ...defined({ last }) }
  }

  return {
    of,
    lastOf,
    judged: (snapshot, owner) => withHeldPrices(snapshot, (symbol) => parts.limits.on(symbol, owner), of),
    async look(markets) {
      const nowMs = clock.monotonicMs()
      const due = markets.filter(
        ({ marketToken }) =>
          nowMs - (lookedAtMs.get(hexKey(marketToken)) ?? Number.NEGATIVE_INFINITY) >= LOOK_MS,
      )
      if (due.length === 0) return
      for (const { marketToken } of due) lookedAtMs.set(hexKey(marketToken), nowMs)
      const read = readAll(due).catch(fatal)
      const isKnown = due.every(({ marketToken }) => youngOf(marketToken).length > 0)
      if (!isKnown) await read
    },
  }
}

/** The markets of a snapshot's positions, as far as it has them. */
export function heldMarketsOf({ markets, positions }: Snapshot): readonly Market[] {
  return [...marketKeysOf(positions.value)].flatMap((key) => markets.get(key)?.market ?? [])
}

/** Resolves with the first that does; at once where there is none. */
async function anyOf(reads: readonly Promise<unknown>[]): Promise<void> {
  if (reads.length > 0) await Promise.race(reads)
}
