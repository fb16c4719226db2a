/** Starts the paper venue inside this process. Only what serves a venue imports this file, and on demand: it loads all of the venue. */
import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, parse } from 'node:path'
import { type ReplayPlace, type RunningReplay, replayPlace } from '../base/candles/replayPlace.ts'
import type { Clock } from '../base/clock.ts'
import { defined } from '../base/defined.ts'
import { BaseError, reasonOf } from '../base/errors.ts'
import { isReadOnlyMount, readOnlyRemedy } from '../base/readOnlyMount.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import { MOST_SEED } from '../config/sections/embeddedVenueSection.ts'
import { acquireWriterLock, type WriterLock } from '../journal/lock.ts'
import type { Log } from '../monitor/log/log.ts'
import { loadCatalog } from '../paper/catalog/catalog.ts'
import { createMultiChainVenue } from '../paper/server/multiChainVenue.ts'
import { type ServedVenue, serveVenues } from '../paper/server/serve.ts'
import { parseMarketHours } from '../paper/state/hours.ts'
import { findMarket } from '../paper/state/lookup.ts'
import type { VenueSettings } from '../paper/state/settings.ts'
import type { VenueState } from '../paper/state/venueState.ts'
import { hexKey } from '../protocol/address.ts'
import type { Chain } from '../protocol/chains/chain.ts'
import { simulated } from '../protocol/settings/paperSection.ts'
import { parseUnits } from '../protocol/units.ts'
import { tellReplay } from './logging/tellReplay.ts'
import { readVenueFiles } from './ownFiles/venueFiles.ts'

const hostname = '127.0.0.1'

/** A paper venue that serves. */
export interface StartedVenue {
  /** The time of the daemon's own chain, which is never set back: a process with a venue in it has one time. */
  readonly clock: Clock
  /** Seed of its prices: the configured one, that of the saved world, or the one drawn for a new folder. */
  readonly seed: number
  /** Addresses of the daemon's own chain. */
  readonly hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] }
  readonly control: string
  /** All addresses by chain, the daemon's own chain first. */
  readonly chains: Readonly<Record<string, ServedVenue>>
  /** Where the replay is that its prices follow; absent: none. */
  readonly replay?: () => ReplayPlace
  /** Saves the worlds and frees the port. */
  close(): Promise<void>
}

/**
 * Starts the venues that the configuration describes, one for each chain of `paper.chains`, on one port.
 *
 * @throws CommandError when another perpd keeps its world in the same file, the faults of the start cannot be read, or a share or whitelist names a market of
 * none of the chains; BaseError for a bad state or scenario file, a start balance of an unknown token or unknown market hours
 */
export async function startVenue(config: Config, log: Log): Promise<StartedVenue> {
  const release = lockWorlds(config)
  try {
    return await startLocked(config, log, release)
  } catch (error) {
    release()
    throw error
  }
}

async function startLocked(config: Config, log: Log, release: () => void): Promise<StartedVenue> {
  const { paper } = config
  refuseUnknownMarkets(paper)
  const files = await readVenueFiles(config)
  const venues = usingFiles(paper.stateFile, () => {
    mkdirSync(dirname(paper.stateFile), { recursive: true, mode: 0o700 })
    return createMultiChainVenue({
      clock: systemClock,
      chains: paper.chains,
      // A saved world goes on with its own.
      seed: paper.seed === 0 ? randomInt(1, MOST_SEED) : paper.seed,
      stateFileOf: (chain) =>
        chain === config.venue.chain ? paper.stateFile : besideStateFile(paper.stateFile, chain.name),
      settingsOf: (chain) => ({ ...settingsOf(config, chain), replay: files.replay }),
      scenario: files.scenario,
    })
  })
  for (const [setting, { market }] of [
    ...paper.poolShares.map((one) => ['poolShares', one] as const),
    ...paper.whitelists.map((one) => ['whitelists', one] as const),
  ]) {
    if (venues.some(({ venueState }) => findMarket(venueState, market) !== undefined)) continue
    throw new CommandError(
      `paper.${setting} names a market that no chain of the venue has: ${market}\n  Nothing was started. Give a symbol of /markets, or a market token.`,
      exitCodes.configuration,
    )
  }
  const served =
    paper.port === 0
      ? await serveAgain(venues, paper.stateFile, log)
      : await serveAt(venues, paper.port, paper.stateFile, log)
  const [main] = served
  const world = venues[0]?.venueState
  if (main === undefined || world === undefined) throw new RangeError('no chain to serve')
  const { clock, seed } = world
  log.note('paper.seed', 'info', `prices of the paper venue follow seed ${seed} (paper.seed)`)
  const replay = runningReplay(config, world)
  const telling = new AbortController()
  if (replay !== undefined) void tellReplay(replay, clock, log.note, telling.signal)
  return {
    clock,
    seed,
    ...defined({ replay: replay === undefined ? undefined : () => replayPlace(replay, clock.now()) }),
    hosts: { api: main.api, oracle: main.oracle },
    control: main.control,
    chains: Object.fromEntries(paper.chains.flatMap(({ name }, i) => (served[i] ? [[name, served[i]]] : []))),
    close: async () => {
      telling.abort()
      try {
        await main.close()
      } finally {
        release()
      }
    },
  }
}

/** The replay of a world: it began when the world did. */
function runningReplay(
  { paper: { replayFile } }: Config,
  { epochSeconds, settings: { replay } }: VenueState,
): RunningReplay | undefined {
  return replay === undefined || replayFile === undefined
    ? undefined
    : { file: basename(replayFile), ...replay, epochSeconds }
}

/** Takes the right to write the state files of all chains: two venues on one file would each undo what the other keeps. */
function lockWorlds({ paper, venue }: Config): () => void {
  const locks: WriterLock[] = []
  const release = (): void => {
    for (const lock of locks.splice(0)) lock.release()
  }
  mkdirSyncQuietly(dirname(paper.stateFile))
  for (const chain of paper.chains) {
    const path = chain === venue.chain ? paper.stateFile : besideStateFile(paper.stateFile, chain.name)
    try {
      locks.push(acquireWriterLock(path, 'paper venue', systemClock.now()))
    } catch (error) {
      if (!(error instanceof BaseError)) throw error
      // The venue itself reports any other fault of the place, in its own words.
      if (error.code !== 'JOURNAL_LOCKED') continue
      release()
      throw new CommandError(
        `Another perpd uses the paper venue in ${path}.\n  Nothing was started, because both would overwrite the file. Stop that one, or set another file for this one: --paper.stateFile FILE`,
        exitCodes.error,
      )
    }
  }
  return release
}

function mkdirSyncQuietly(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch {
    // Told when the venue makes its files.
  }
}

/** Making a venue reads and writes its state files; what the system refuses is told as such. */
function usingFiles<T>(place: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof Error && 'syscall' in error)) throw error
    throw new CommandError(
      `The paper venue cannot save its state: ${reasonOf(error)}.\n  Nothing was started. ${isReadOnlyMount(error, place) ? readOnlyRemedy : 'Free space, or name another place'}: --paper.stateFile FILE`,
      exitCodes.error,
    )
  }
}

/** `venue.json` of the daemon's chain has `venue.avalanche.json` beside it. */
export function besideStateFile(path: string, chain: string): string {
  const { dir, name, ext } = parse(path)
  return join(dir, `${name}.${chain}${ext}`)
}

function refuseUnknownMarkets({ chains, onlyMarkets }: Config['paper']): void {
  const known = new Set(chains.flatMap(({ name }) => loadCatalog(name).markets.map(({ symbol }) => symbol)))
  const unknown = onlyMarkets.find((symbol) => !known.has(symbol))
  if (unknown === undefined) return
  throw new CommandError(
    `paper.onlyMarkets names a market that the paper venue does not have on ${chains.map(({ name }) => name).join(', ')}: ${unknown}\n  Nothing was started. Give full symbols, as ETH/USD [WETH-USDC], or leave paper.onlyMarkets empty for all markets.`,
    exitCodes.configuration,
  )
}

/** The chosen markets of a chain and those that its fees are swapped in; none chosen: none, which is all of the catalogue. */
function onlyMarketsOf({ onlyMarkets }: Config['paper'], { name, feeSwapPath }: Chain): readonly string[] {
  const { markets } = loadCatalog(name)
  if (!markets.some(({ symbol }) => onlyMarkets.includes(symbol))) return []
  const feeMarkets = new Set(feeSwapPath.map(hexKey))
  return markets
    .filter(({ symbol, marketToken }) => onlyMarkets.includes(symbol) || feeMarkets.has(hexKey(marketToken)))
    .map(({ symbol }) => symbol)
}

function settingsOf({ paper }: Config, chain: Chain): Partial<VenueSettings> {
  const symbols = new Set(loadCatalog(chain.name).tokens.map(({ symbol }) => symbol))
  const named = paper.startBalances.map(({ symbol, amount }) => ({
    symbol: symbol === 'USDC' && !symbols.has(symbol) ? chain.feeToken.symbol : symbol,
    amount,
  }))
  // With several chains a token need be on one of them only; alone, the venue itself refuses an unknown one.
  const balances = paper.chains.length === 1 ? named : named.filter(({ symbol }) => symbols.has(symbol))
  const listed = loadCatalog(chain.name).markets.filter(({ isListed }) => isListed)
  const markets = new Set(listed.map(({ symbol }) => symbol.replace(/ \[.*$/, '')))
  const hours = paper.marketHours.flatMap((text) => parseMarketHours(text) ?? [])
  const gwei = paper.gasPriceGwei.find((one) => one.chain === chain.name)?.gwei
  const poolShares: Record<string, Record<string, number>> = {}
  for (const { wallet, market, sharePpm } of paper.poolShares) {
    poolShares[wallet] = { ...poolShares[wallet], [market]: sharePpm }
  }
  const whitelists: Record<string, string[]> = {}
  for (const { wallet, market } of paper.whitelists) {
    whitelists[wallet] = [...(whitelists[wallet] ?? []), market]
  }
  return {
    ...simulatedOf(paper),
    onlyMarkets: onlyMarketsOf(paper, chain),
    gasPriceWei: gwei === undefined ? 0n : parseUnits(gwei, 9),
    poolShares,
    whitelists,
    startBalances: Object.fromEntries(balances.map(({ symbol, amount }) => [symbol, amount])),
    marketHours: paper.chains.length === 1 ? hours : hours.filter(({ market }) => markets.has(market)),
  }
}

/** The settings that the venue takes as they are. */
function simulatedOf(paper: Config['paper']): Partial<VenueSettings> {
  const names = Object.keys(simulated) as readonly (keyof typeof simulated)[]
  return Object.fromEntries(names.map((name) => [name, paper[name]]))
}

/**
 * On the port of the last time where it is free: orders that were under way at a crash are asked of the host that took them, which
 * would be away at another port, and told as a fault.
 */
async function serveAgain(
  venues: ReturnType<typeof createMultiChainVenue>,
  stateFile: string,
  log: Log,
): Promise<readonly ServedVenue[]> {
  const portFile = besideStateFile(stateFile, 'port')
  const last = existsSync(portFile) ? readFileSync(portFile, 'utf8').trim() : ''
  const served =
    /^[1-9]\d{3,4}$/.test(last) && Number(last) <= 65_535
      ? await serveIfFree(venues, Number(last), log)
      : undefined
  if (served !== undefined) return served
  const anew = await serve(venues, 0, log)
  usingFiles(portFile, () =>
    writeFileSync(portFile, `${new URL(anew[0]?.control ?? '').port}\n`, { mode: 0o600 }),
  )
  return anew
}

/** At the port that is configured; where another program has it, at a free one, and the log says so. */
async function serveAt(
  venues: ReturnType<typeof createMultiChainVenue>,
  port: number,
  stateFile: string,
  log: Log,
): Promise<readonly ServedVenue[]> {
  const served = await serveIfFree(venues, port, log)
  if (served !== undefined) return served
  const elsewhere = await serveAgain(venues, stateFile, log)
  log.note(
    'paper.moved',
    'error',
    `the paper venue cannot listen on ${hostname}:${port}, which another program uses, and serves at port ${elsewhere[0]?.port} instead. Stop that program, or choose another port: --paper.port 0 selects a free one`,
  )
  return elsewhere
}

async function serveIfFree(
  venues: ReturnType<typeof createMultiChainVenue>,
  port: number,
  log: Log,
): Promise<readonly ServedVenue[] | undefined> {
  try {
    return await serve(venues, port, log)
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error)) throw error
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error
    return undefined
  }
}

async function serve(
  venues: ReturnType<typeof createMultiChainVenue>,
  port: number,
  log: Log,
): Promise<readonly ServedVenue[]> {
  return await serveVenues(venues, {
    hostname,
    port,
    onError: (error) => log.note('paper.failed', 'error', `the paper venue failed: ${reasonOf(error)}`),
  })
}
