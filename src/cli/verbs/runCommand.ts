/** `perpd run`: the log of this run, and the daemon over it. */
import { randomUUID } from 'node:crypto'
import { defined } from '../../base/defined.ts'
import { ownVenueProblem } from '../../config/judge.ts'
import { ConfigError } from '../../config/loadConfig.ts'
import { accountStarts } from '../../daemon/desk/accountStart.ts'
import { run } from '../../daemon/desk/run.ts'
import { processWarnings, refuseOpenProcess } from '../../daemon/hardening.ts'
import { openLogFile } from '../../daemon/logging/logFile.ts'
import { logFormatOf } from '../../daemon/logging/logFormat.ts'
import { createLogOutput, neverWait, takenFrom, withoutWaiting } from '../../daemon/logging/logOutput.ts'
import { nodeReport } from '../../daemon/nodeBinary.ts'
import { createLog } from '../../monitor/log/log.ts'
import { createLogRing } from '../../monitor/log/logRing.ts'
import { binFile, createRunDesk, runsFolder } from '../backtesting/localRuns.ts'
import type { Call } from '../call/command.ts'
import { whileReading } from '../output/progressBar.ts'

/** Longest that the last lines of a daemon may take on their way to a terminal of another user, ms. */
const LAST_LINES_MS = 2_000

/** Runs the daemon until it ends; resolves with its exit code. Rejects with CommandError when it may not start like this. */
export async function runCommand({
  loaded,
  reload,
  env,
  execArgv,
  keys,
  cwd,
  settings,
}: Call): Promise<number> {
  const { config, warnings } = loaded
  refuseOpenProcess(config, { env, execArgv })
  const ofVenue = ownVenueProblem(config)
  if (ofVenue !== undefined) throw new ConfigError([ofVenue])
  const node = config.isPaper ? [] : nodeReport().warnings
  const runId = randomUUID().slice(0, 8)
  const names = loaded.accounts.map(({ name }) => name)
  const rings = new Map(
    (names.length === 0 ? [undefined] : names).map((name) => [name, createLogRing(runId)]),
  )
  const { file: path } = config.log
  const file =
    path === undefined
      ? undefined
      : openLogFile(path, Date.now, (reason) => log.note('log.fileFailed', 'error', reason))
  const stdout = withoutWaiting(process.stdout)
  neverWait(process.stderr)
  const output = createLogOutput(stdout)
  const format = logFormatOf(config.log.format, { env, pid: process.pid, stream: process.stdout })
  const log = createLog({
    level: config.log.level,
    levels: config.log.levels,
    format,
    stream: output,
    ...defined({ file }),
    color: process.stdout.isTTY === true && (env.NO_COLOR ?? '') === '',
    runId,
    keep: (line) => {
      for (const ring of rings.values()) ring.keep(line)
    },
    secrets: [...config.rpc.http, ...config.rpc.ws, ...(config.journal.url ? [config.journal.url] : [])],
  })
  const notes = [...warnings, ...processWarnings(config, { env }), ...node]
  const isPretty = process.stdout.isTTY === true && format === 'pretty'
  const terminal = (text: string): void => {
    stdout.write(`${text}\n`)
  }
  const runDesk = createRunDesk({
    folder: runsFolder(config),
    program: [process.execPath, ...execArgv, binFile],
    ...{ settings, cwd, env, now: Date.now },
  })
  try {
    const ringOf = (name: string | undefined) => rings.get(name) ?? createLogRing(runId)
    return await run(config, {
      runDesk,
      accounts: accountStarts(loaded, reload, { log, ringOf }),
      ...{ log, output, notes, keys, whileReading },
      ...defined({ terminal: isPretty ? terminal : undefined }),
    })
  } finally {
    await runDesk.close()
    if (stdout !== process.stdout) await takenFrom(stdout, LAST_LINES_MS)
    file?.close()
  }
}
