/**
 * Several chains at once: venues of their own with books of their own, whose prices begin at one moment and from one
 * seed, so that an asset costs the same on each of them.
 */
import type { Clock } from '../../base/clock.ts'
import { defined } from '../../base/defined.ts'
import type { Chain } from '../../protocol/chains/chain.ts'
import { savedStart } from '../venue/stateFile.ts'
import { createVenue, type Venue, type VenueOptions } from './venue.ts'

/** Options of a multi-chain venue. */
export interface MultiChainVenueOptions {
  readonly clock: Clock
  /** The chains, the main one first. */
  readonly chains: readonly Chain[]
  /** As for one venue. A saved venue keeps its own, and gives it to the venues that are new. */
  readonly seed?: number
  /** Settings of a chain's venue. */
  readonly settingsOf?: (chain: Chain) => VenueOptions['settings']
  /** Faults at given times after the start, on every chain. */
  readonly scenario?: VenueOptions['scenario']
  /** State file of a chain; absent: in memory only. */
  readonly stateFileOf?: (chain: Chain) => string | undefined
}

/**
 * Makes a venue for each chain. One alone has the paths of a single venue; several have the chain's name before every
 * path, as `/avalanche/api/0/v1`.
 *
 * @throws BaseError PAPER_CATALOG_MISSING, PAPER_STATE_UNREADABLE, PAPER_TOKEN_UNKNOWN
 */
export function createMultiChainVenue(options: MultiChainVenueOptions): readonly Venue[] {
  const { chains, clock } = options
  const stateFiles = chains.map((chain) => options.stateFileOf?.(chain))
  // A chain that joins later must join the prices that are already running.
  const running = stateFiles
    .flatMap((path) => (path === undefined ? [] : [savedStart(path)]))
    .find((start) => start !== undefined)
  const seed = running?.seed ?? options.seed
  const epochSeconds = running?.epochSeconds ?? Math.floor(clock.now() / 1000)
  const venues: readonly Venue[] = chains.map((chain, i) => {
    const settings = options.settingsOf?.(chain)
    const stateFile = stateFiles[i]
    return createVenue({
      neighbours: () => venues,
      clock,
      chain,
      epochSeconds,
      prefix: chains.length === 1 ? '' : `/${chain.name}`,
      ...defined({ seed, settings, scenario: options.scenario, stateFile }),
    })
  })
  return venues
}
