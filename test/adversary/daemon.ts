/** The real daemon on a simulated clock, with the settings of a live profile. */
import type { Fetch } from '../../src/api/transport/route.ts'
import { createLabTrader } from '../../src/backtest/lab/labTrader.ts'
import type { Clock } from '../../src/base/clock.ts'
import type { Config } from '../../src/config/configTypes.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import type { Engine } from '../../src/daemon/engine.ts'
import type { Event } from '../../src/domain/event.ts'
import type { GuardTable } from '../../src/domain/guardTable.ts'
import type { Journal } from '../../src/journal/journal.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { createLocalSigner } from '../../src/keys/local.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import type { LoadedStrategy } from '../../src/strategy/files/load.ts'

const signer = createLocalSigner(`0x${'11'.repeat(32)}`)

/** The account that is traded, and whose key signs. */
export const account = signer.address

/** What a daemon is made of here. */
export interface DaemonParts {
  readonly config: Config
  readonly clock: Clock
  readonly random: () => number
  readonly fetch: Fetch
  readonly apiHosts: readonly string[]
  readonly oracleHosts: readonly string[]
  /** Endpoints of the chain; none: the APIs alone close orders. */
  readonly endpoints: readonly string[]
  readonly strategies: readonly LoadedStrategy[]
  readonly emit: (event: Event) => void
  readonly fatal: (error: unknown) => void
  /** Where its journal and the table of its guard are; absent: in memory. */
  readonly files?: { readonly journal: Journal; readonly table: GuardTable }
}

/** A daemon. */
export interface RunningDaemon {
  readonly engine: Engine
  readonly journal: Journal
  close(): void
}

const configs = new Map<string, Config>()

/** The settings of the shipped profile of Arbitrum, with these flags on top. */
export function liveConfig(flags: readonly string[] = []): Config {
  const key = flags.join(' ')
  const known = configs.get(key)
  if (known !== undefined) return known
  // No folder: nothing of this machine is read.
  const { config } = loadConfig({ argv: ['--profile', 'arbitrum', ...flags], env: {}, cwd: '/nonexistent' })
  configs.set(key, config)
  return config
}

/** Makes a daemon; `engine.start()` is the caller's. */
export function createDaemon(parts: DaemonParts): RunningDaemon {
  const { config, clock, fetch, emit, fatal, strategies, random } = parts
  const journal = parts.files?.journal ?? createMemoryJournal()
  const { trader, close } = createLabTrader({
    ...{ config, clock, fetch, emit, fatal, strategies, random, journal, signer },
    chain: config.venue.chain,
    hosts: { api: parts.apiHosts, oracle: parts.oracleHosts, rpc: parts.endpoints },
    // What a liar may cost is not bounded by how seldom hosts are asked.
    isPaper: true,
    ...(parts.files === undefined ? {} : { table: parts.files.table }),
  })
  return { engine: trader, journal, close }
}

/** The chain that is traded on. */
export const chain = arbitrum
