/** The paper venue: inside the daemon, or alone for any client of the real APIs that only changes its base address. */
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { BaseError, reasonOf } from '../domain/errors.ts'
import { createLog, type Log } from '../monitor/log.ts'
import { type ServedVenue, serveVenue } from '../paper/serve.ts'
import { createVenue } from '../paper/venue.ts'
import type { Call } from './command.ts'
import type { Config } from './config/types.ts'
import { CommandError, exitCodes } from './exit.ts'
import { systemClock } from './systemClock.ts'

const hostname = '127.0.0.1'

/** A paper venue that serves. */
export interface StartedVenue {
  readonly hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] }
  readonly control: string
  /** Saves the world and frees the port. */
  close(): Promise<void>
}

/** Starts the venue that the configuration describes. Throws CommandError when its port is taken, BaseError for a bad state file. */
export async function startVenue(config: Config, log: Log): Promise<StartedVenue> {
  const { paper, venue } = config
  mkdirSync(dirname(paper.stateFile), { recursive: true, mode: 0o700 })
  const world = createVenue({
    clock: systemClock,
    chain: venue.chain,
    seed: paper.seed,
    stateFile: paper.stateFile,
    settings: {
      keeperDelayMs: paper.keeperDelayMs,
      orderDeadlineSeconds: paper.orderDeadlineSeconds,
      startBalances: Object.fromEntries(paper.startBalances.map(({ symbol, amount }) => [symbol, amount])),
    },
  })
  const served = await serve(world, paper.port, log)
  return {
    hosts: { api: served.api, oracle: served.oracle },
    control: served.control,
    close: () => served.close(),
  }
}

async function serve(world: ReturnType<typeof createVenue>, port: number, log: Log): Promise<ServedVenue> {
  try {
    return await serveVenue(world, {
      hostname,
      port,
      onError: (error) => log.note('error', `the paper venue failed: ${reasonOf(error)}`),
    })
  } catch (error) {
    if (!(error instanceof Error) || !('code' in error) || error.code !== 'EADDRINUSE') throw error
    throw new CommandError(
      `The paper venue cannot listen on ${hostname}:${port}: another process does.\n` +
        '  Stop that process, or choose another port: --paper.port 0 takes a free one.',
      exitCodes.error,
    )
  }
}

/** `perpd paper`: serves until a signal; `--print-hosts` prints the addresses as JSON on standard output first. */
export async function paper({ loaded, flags, out, err, env }: Call): Promise<number> {
  const { config } = loaded
  if (!config.isPaper) {
    throw new CommandError(
      `perpd paper serves play money, and the profile is "${config.profile}".\n  Leave out --profile, or say --profile paper.`,
      exitCodes.configuration,
    )
  }
  // What the venue says goes to standard error, so that the addresses can be piped.
  const log = createLog({
    level: config.log.level,
    format: config.log.format,
    stream: process.stderr,
    color: process.stderr.isTTY === true && (env['NO_COLOR'] ?? '') === '',
  })
  const started = await startVenue(config, log)
  const { hosts, control } = started
  if (flags.has('print-hosts')) {
    out(JSON.stringify({ [config.venue.chain.name]: { ...hosts, control } }, undefined, 2))
  } else {
    out(`paper venue of ${config.venue.chain.name}, world in ${config.paper.stateFile}`)
    for (const host of hosts.api) out(`  application API  ${host}`)
    for (const host of hosts.oracle) out(`  oracle           ${host}`)
    out(`  control          ${control} (not part of the wire)`)
  }
  await new Promise<void>((resolve) => {
    process.once('SIGINT', () => resolve())
    process.once('SIGTERM', () => resolve())
  })
  try {
    await started.close()
  } catch (error) {
    if (!(error instanceof BaseError)) throw error
    err(error.message)
    return exitCodes.error
  }
  return exitCodes.ok
}
