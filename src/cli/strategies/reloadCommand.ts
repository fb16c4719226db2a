/** `perpd strategies reload` and `set`: an operator's word on the files of strategies. */
import { isatty } from 'node:tty'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { StrategyDifference } from '../../engine/roster/rosterPlan.ts'
import type { Call } from '../call/command.ts'
import { commandAnswer } from '../call/daemonClient.ts'
import { commander, confirm } from '../call/whoAsks.ts'
import { type Column, table } from '../output/table.ts'

/** The daemon reads all strategy files for it, loads kinds of the user's own, and waits for turns to end. */
const RELOAD_TIMEOUT_MS = 60_000

/** Has the daemon take over its strategy files, or show what it would take over. */
export async function reload(call: Call): Promise<number> {
  const { flags, loaded, out, width } = call
  if (flags.has('dry-run') && flags.has('confirm')) {
    throw new CommandError('--dry-run and --confirm exclude each other: give one.', exitCodes.configuration)
  }
  const body = { preview: flags.has('dry-run'), confirm: flags.has('confirm'), by: commander(call) }
  const answer = await commandAnswer(loaded, '/api/strategies/reload', body, RELOAD_TIMEOUT_MS)
  const { statement, strategies = [], waiting = [] } = answer
  if (flags.has('json')) {
    out(JSON.stringify({ statement, strategies, waiting }, undefined, 2))
    return exitCodes.ok
  }
  out(`${statement}.`)
  const rows = strategies.flatMap(rowsOf)
  if (rows.length > 0) out(`\n${table(columns, rows, width)}`)
  return exitCodes.ok
}

/** Changes one field of a strategy's file and has it taken over, after a confirmation. */
export async function setStrategyField(call: Call): Promise<number> {
  const { flags, loaded, out, err, positionals } = call
  const [name = '', field = '', value = ''] = positionals
  const path = `/api/strategies/${encodeURIComponent(name)}/set`
  const body = { field, value, confirm: flags.has('confirm'), by: commander(call) }
  if (!flags.has('yes')) {
    if (!isatty(0))
      throw new CommandError(
        'No terminal to confirm the change; nothing was changed. To make it: --yes',
        exitCodes.error,
      )
    const { statement } = await commandAnswer(loaded, path, { ...body, preview: true }, RELOAD_TIMEOUT_MS)
    const show = flags.has('json') ? err : out
    show(`${statement}.`)
    if (!(await confirm())) {
      show('Nothing was changed.')
      return exitCodes.error
    }
  }
  const {
    statement,
    strategies = [],
    waiting = [],
  } = await commandAnswer(loaded, path, body, RELOAD_TIMEOUT_MS)
  out(flags.has('json') ? JSON.stringify({ statement, strategies, waiting }, undefined, 2) : `${statement}.`)
  return exitCodes.ok
}

const columns: readonly Column[] = [
  { title: 'STRATEGY', rank: 0, isName: true },
  { title: 'CHANGE', rank: 0 },
  { title: 'FIELD', rank: 1 },
  { title: 'WAS', rank: 2 },
  { title: 'IS', rank: 2 },
  { title: 'FILE', rank: 3 },
]

function rowsOf({
  strategy,
  change,
  fields,
  file,
}: Plain<StrategyDifference>): readonly (readonly string[])[] {
  const what = change === 'waiting' ? 'waits for a restart' : change
  if (fields.length === 0) return [[strategy, what, '', '', '', file]]
  return fields.map(({ field, from = 'not set', to = 'not set' }) => [strategy, what, field, from, to, file])
}
