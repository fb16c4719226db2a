/** Reports the start before the first reading: the account, the venue, and the orders that the journal left open; refuses a journal of another account. */
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import { version } from '../config/version.ts'
import type { Emit } from '../domain/event.ts'
import { isUnresolved } from '../domain/order/intent.ts'
import type { Signer } from '../domain/signer.ts'
import { noTasks, type Tasks } from '../domain/taskStates/taskRecord.ts'
import type { Journal } from '../journal/journal.ts'
import { type Address, sameHex } from '../protocol/address.ts'
import type { LoadedStrategy } from '../strategy/files/load.ts'
import { isExecutor } from '../tasks/taskRows.ts'
import type { EvidenceChoice } from './evidence/evidenceSource.ts'
import { journalNameOf } from './journalFile.ts'

/** Open orders of another account or chain would be signed by the wrong key: the journal is refused whole. */
export function refuseForeign(journal: Journal, account: Address, config: Config): void {
  const chainName = config.venue.chain.name
  const foreign = journal
    .openIntents()
    .find(({ intent }) => !sameHex(intent.account, account) || intent.chain !== chainName)
  if (foreign === undefined) return
  const { account: owner, chain, intentId } = foreign.intent
  throw new CommandError(
    `The journal ${journal.path} holds open orders of another account:\n` +
      `  ${intentId} belongs to ${owner} on ${chain}; this perpd trades ${account} on ${chainName}.\n` +
      '  Nothing was sent. Run with the key and profile that made it, or set another journal for this account: journal.path.',
    exitCodes.configuration,
  )
}

/** Reports the start: the daemon, its evidence, and what was resumed. */
export function announce(
  config: Config,
  emit: Emit,
  parts: {
    readonly strategies: readonly LoadedStrategy[]
    readonly signer: Signer
    readonly journal: Journal
    readonly openedMs: number
    readonly hosts: { readonly api: readonly string[]; readonly oracle: readonly string[] }
    readonly statusUrl: string
    readonly evidence: EvidenceChoice
    readonly notes: readonly string[]
  },
): void {
  const { owner } = config.account
  const delegated =
    owner === undefined ? [] : [`the key ${parts.signer.address} is a delegated one; it trades for ${owner}`]
  const liveNotes = config.isPaper ? [] : ['LIVE: orders use real money from now on.']
  emit({
    type: 'daemon.started',
    version,
    profile: config.profile,
    chain: config.venue.chain.name,
    account: config.account.owner ?? parts.signer.address,
    strategies: parts.strategies.map(({ name }) => name),
    journalPath: journalNameOf(config),
    statusUrl: parts.statusUrl,
    apiHosts: parts.hosts.api,
    oracleHosts: parts.hosts.oracle,
    notes: [
      ...parts.notes,
      ...(config.embedsVenue ? ['paper: the venue runs inside this process, with play money'] : []),
      ...delegated,
      ...liveNotes,
    ],
  })
  const { source, endpoints, text, isWeak } = parts.evidence
  emit({ type: 'evidence.chosen', source, endpoints, text, isWeak })
  const { records, intents } = parts.journal.summary()
  const open = parts.journal.openIntents()
  if (records === 0) return
  emit({
    type: 'daemon.resumed',
    records,
    intents,
    openIntents: open.length,
    unresolved: open.filter(({ attempts }) => attempts.some(isUnresolved)).length,
    tasks: runningTaskNames(parts.journal.account().tasks),
    tookMs: parts.openedMs,
  })
}

/** Names the tasks that make orders and have not ended, with what each was asked for. */
export function runningTaskNames(tasks: Tasks = noTasks): readonly string[] {
  return [...tasks.values()]
    .filter((task) => task.end === undefined)
    .filter(isExecutor)
    .map(({ taskId, params }) => `${taskId} (${params.asked})`)
}
