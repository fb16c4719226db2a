/** `perpd run`: the log of this run, and the daemon over it. */
import { randomUUID } from 'node:crypto'
import { createLog } from '../monitor/log.ts'
import type { Call } from './command.ts'
import { processWarnings } from './hardening.ts'
import { run } from './run.ts'

/** Runs the daemon until it ends; resolves with its exit code. */
export function runCommand({ loaded, reload, env, keys }: Call): Promise<number> {
  const { config, warnings } = loaded
  const log = createLog({
    level: config.log.level,
    format: config.log.format,
    stream: process.stdout,
    color: process.stdout.isTTY === true && (env.NO_COLOR ?? '') === '',
    runId: randomUUID().slice(0, 8),
    secrets: [...config.rpc.http, ...config.rpc.ws],
  })
  return run(config, { log, notes: [...warnings, ...processWarnings(config, env)], keys, reload })
}
