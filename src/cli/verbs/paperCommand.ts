/** `perpd paper`: the paper venue alone, for any client of the real APIs that only changes its base address. */
import { BaseError } from '../../base/errors.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { besideStateFile, type StartedVenue, startVenue } from '../../daemon/embeddedVenue.ts'
import { logFormatOf } from '../../daemon/logging/logFormat.ts'
import { createLog } from '../../monitor/log/log.ts'
import type { Call } from '../call/command.ts'

/** Addresses that the venue serves, as JSON by chain: lists of host addresses, and the control address. */
function printedHosts(started: StartedVenue): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(started.chains).map(([chain, { port: _port, close: _close, ...hosts }]) => [chain, hosts]),
  )
}

/** A configuration of perpd whose hosts are the venue's, of the daemon's own chain. */
function printedConfig(config: Config, { hosts, chains }: StartedVenue): Record<string, unknown> {
  return {
    profile: 'paper',
    venue: {
      chain: config.venue.chain.name,
      apiHosts: hosts.api,
      oracleHosts: hosts.oracle,
    },
    rpc: {
      http: chains[config.venue.chain.name]?.rpc ?? [],
      ws: chains[config.venue.chain.name]?.ws ?? [],
      finality: 'safe',
    },
  }
}

/** `perpd paper`: serves until a signal; `--print-hosts` prints the addresses as JSON on standard output first, `--print-config` a configuration. */
export async function paper({ loaded, flags, out, err, env }: Call): Promise<number> {
  const { config } = loaded
  if (!config.isPaper) {
    throw new CommandError(
      `perpd paper serves only play money, but the profile is "${config.profile}".\n  Leave out --profile, or use --profile paper.`,
      exitCodes.configuration,
    )
  }
  if (flags.has('print-hosts') && flags.has('print-config')) {
    throw new CommandError('Give --print-hosts or --print-config, not both.', exitCodes.error)
  }
  // The venue's own log goes to standard error, so that the addresses can be piped.
  const log = createLog({
    level: config.log.level,
    levels: config.log.levels,
    format: logFormatOf(config.log.format, { env, pid: process.pid, stream: process.stderr }),
    stream: process.stderr,
    color: process.stderr.isTTY === true && (env.NO_COLOR ?? '') === '',
  })
  const started = await startVenue(config, log)
  if (flags.has('print-hosts')) {
    out(JSON.stringify(printedHosts(started), undefined, 2))
  } else if (flags.has('print-config')) {
    out(JSON.stringify(printedConfig(config, started), undefined, 2))
  } else {
    for (const [chain, served] of Object.entries(started.chains)) {
      const main = chain === config.venue.chain.name
      const file = main ? config.paper.stateFile : besideStateFile(config.paper.stateFile, chain)
      out(`paper venue of ${chain}, seed ${started.seed}, world in ${file}`)
      for (const host of served.api) out(`  application API  ${host}`)
      for (const host of served.oracle) out(`  oracle           ${host}`)
      for (const host of [...served.rpc, ...served.ws]) out(`  JSON-RPC         ${host}`)
      out(`  control          ${served.control} (not part of the wire)`)
    }
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
