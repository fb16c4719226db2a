/** The chain endpoints of the configuration, checked before anything is read from them. */
import type { Fetch } from '../../api/transport/route.ts'
import type { Clock } from '../../base/clock.ts'
import { BaseError } from '../../base/errors.ts'
import { connectChain } from '../../chain/connectEndpoints.ts'
import { joinLooks } from '../../chain/joinLooks.ts'
import { createQuietAccounts } from '../../chain/quietAccounts.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Emit } from '../../domain/event.ts'
import type { ChainReader } from '../../domain/machine/chainReader.ts'
import type { EvidenceChoice } from './evidenceSource.ts'

/**
 * Connects to the endpoints that evidence is read from, if any. One that does not answer is told of and waited for. The accounts of a process share
 * the reader, and its looks.
 *
 * @throws CommandError when one serves another chain
 */
export async function connect(
  config: Config,
  evidence: EvidenceChoice,
  { clock, emit, fetch }: { readonly clock: Clock; readonly emit: Emit; readonly fetch: Fetch },
  closers: (() => void)[],
): Promise<ChainReader | undefined> {
  if (evidence.source === 'api') return undefined
  const { chain } = config.venue
  const reader = connectChain({
    http: evidence.http.map((url) => url.reveal()),
    ws: evidence.ws.map((url) => url.reveal()),
    finality: evidence.finality,
    chainId: chain.chainId,
    eventEmitter: chain.contracts.eventEmitter,
    wrappedNative: chain.contracts.wrappedNative,
    markets: chain.facts.markets,
    multicall: chain.contracts.multicall,
    timeoutMs: config.rpc.timeoutMs,
    maxLogSpan: config.rpc.maxLogBlocks,
    clock,
    emit,
    fetch,
  })
  closers.push(() => reader.close())
  try {
    await reader.check()
  } catch (error) {
    if (error instanceof BaseError) throw new CommandError(error.message, exitCodes.configuration)
    throw error
  }
  const quietAgoMs = createQuietAccounts(reader.recentEvents, clock)
  return { ...reader, poll: joinLooks(reader.poll, clock), quietAgoMs }
}
