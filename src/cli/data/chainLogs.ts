/** `perpd data get --chain-logs`: pools, open interest, funding and borrowing of markets from the chain's own events. */
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { BaseError } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { TimeRange } from '../../history/gaps.ts'
import { getLogs, type LogsOutcome } from '../../history/getLogs.ts'
import type { MarketFacts } from '../../protocol/catalogue.ts'
import type { Call } from '../call/command.ts'
import { minuteText } from './dataText.ts'
import { logSourceOf, openNodes } from './logSource.ts'

/** Outcome for one market, for people and programs. */
export interface LogsShown extends LogsOutcome {
  readonly market: string
  /** Why it ended early; what came before is kept. */
  readonly problem?: string
}

/** Reads the events of a market. `progress`: blocks done, of those wanted. */
export type LogsReader = (
  market: MarketFacts,
  range: TimeRange,
  progress: (done: number, total: number) => void,
) => Promise<LogsShown>

/**
 * Opens the endpoints of `rpc.http` for `use`.
 *
 * @throws CommandError without endpoints, or where one serves another chain
 */
export async function withChainLogs<T>({ loaded }: Call, use: (read: LogsReader) => Promise<T>): Promise<T> {
  const { rpc, venue, history } = loaded.config
  const { chain } = venue
  const urls = rpc.http.map((url) => url.reveal())
  if (urls.length === 0)
    throw new CommandError(
      '--chain-logs reads the chain through your own endpoint, and none is set. Nothing was downloaded.\n  Set rpc.http to one endpoint of the chain, or better two of different providers.',
      exitCodes.configuration,
    )
  const { fetch, close } = createNodeFetch()
  try {
    const finality = rpc.finality ?? chain.finality
    const nodes = await openNodes({ chain, urls, finality, timeoutMs: rpc.timeoutMs, fetch })
    return await use(async (market, range, progress) => {
      let requests = 0
      const counted = (done: number, total: number): void => {
        requests += 1
        progress(done, total)
      }
      const { symbol, marketToken } = market
      const source = logSourceOf(nodes, chain, market)
      const named = { chain: chain.name, market: symbol, marketToken }
      const wish = { ...range, market: named, maxSpan: rpc.maxLogBlocks, clock: systemClock }
      try {
        return { market: symbol, ...(await getLogs(source, history.folder, wish, counted)) }
      } catch (error) {
        if (!(error instanceof BaseError)) throw error
        return { market: symbol, requests, added: 0, covered: undefined, problem: error.message }
      }
    })
  } catch (error) {
    if (!(error instanceof BaseError) || error instanceof CommandError) throw error
    throw new CommandError(error.message, exitCodes.configuration)
  } finally {
    close()
  }
}

/** Puts the outcome of a download into words. */
export function logsText({ market, requests, added, covered, problem }: LogsShown): string {
  if (problem !== undefined)
    return [
      `  Chain: events of ${market} ended early: ${problem}`,
      '  The events so far are saved; the same command continues there.',
    ].join('\n')
  const span =
    covered === undefined
      ? 'none'
      : `${minuteText(covered.fromSeconds)} to ${minuteText(covered.toSeconds)} UTC`
  return `  Chain: ${added} new events of ${market} by ${requests} requests; stored: ${span}.`
}
