/** Listeners of one account's events: its log, metrics, health, newest decisions and notices. */
import { OPERATOR } from '../../account/halts/tradingHalts.ts'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { type Emit, emitTo } from '../../domain/event.ts'
import { createHealth, type Health } from '../../monitor/health.ts'
import { createLastDecisions } from '../../monitor/lastDecisions.ts'
import type { Log } from '../../monitor/log/log.ts'
import { createMetrics, type Metrics } from '../../monitor/metrics/metrics.ts'
import type { VenueHosts } from '../connectVenue.ts'
import { fatalStop } from '../fatalStop.ts'
import { traceHeaders } from '../logging/traceHeaders.ts'
import { approvalStore, noticeStore } from '../notices/noticeStores.ts'
import { crashNotice, type OpenNotifier, openNotifier } from '../notices/notifySinks.ts'
import { priorIncidents } from '../notices/priorIncidents.ts'
import { metricsOf } from '../standbyPort.ts'
import type { TraderListeners } from '../trader.ts'
import type { Closers, OpenAccount } from './openAccount.ts'

/** Longest time that an ending daemon waits for its notifications to be sent, ms. */
export const LAST_WORDS_MS = 3_000

/** An account whose events are heard. */
export interface HeardAccount extends OpenAccount {
  readonly emit: Emit
  readonly metrics: Metrics
  readonly health: Health
  readonly decisions: ReturnType<typeof createLastDecisions>
  readonly notifier: OpenNotifier
  /** Store of the notifications about the approval; undefined: its key is no delegated one. */
  readonly told: ReturnType<typeof approvalStore> | undefined
  /** Receives each turn that a kind answered; undefined: turns are not recorded. */
  readonly recordTurn: TraderListeners['recordTurn'] | undefined
  /** Ends the account by a fault, once. */
  readonly fatal: (error: unknown) => void
}

/** Listeners that an account has in common with others. */
export interface AccountEars {
  readonly hosts: VenueHosts
  /** Told with which code a fault ended the account, why, and the fault. */
  readonly ended: (code: number, reason: string, error: unknown) => void
  /** Listeners of its events besides its own. */
  readonly also: readonly Emit[]
  readonly closers: Closers
}

/** Creates the listeners of an account. */
export async function hearAccount(account: OpenAccount, ears: AccountEars): Promise<HeardAccount> {
  const { start, signer, files, journal, parts } = account
  const { hosts, closers } = ears
  const { config, log, name } = start
  const notifier = await openNotifier(config, (event) => emit(event), { stories: noticeStore(journal) })
  const subject = name === undefined ? 'perpd' : `the account ${name}`
  let reason = ''
  const { fatal, isOver } = fatalStop(
    log,
    (code, error) => ears.ended(code, reason, error),
    (why) => {
      reason = why
      notifier.tell(crashNotice(why, subject))
    },
    subject,
  )
  const metrics = createMetrics({
    ...metricsOf(config),
    ...defined({ isOfAccount: name === undefined ? undefined : true }),
  })
  const health = createHealth()
  const named = [...files.strategies.map((each) => each.name), ...files.disabled, OPERATOR]
  const newest = await Promise.all(named.map((strategy) => journal.intents({ strategy, limit: 1 })))
  const decisions = createLastDecisions(
    systemClock.now,
    newest.flat().map(({ intent }) => intent),
  )
  // Once it was said that it stops, what falls over because of that is not said too.
  const tell: Emit = (event) => (isOver() ? undefined : log.listen(event))
  const traces = await tracesOf(config, log)
  if (traces !== undefined) closers.push(traces.close)
  const recording = await recordingOf(config, hosts, log)
  if (recording !== undefined) closers.push(recording.close)
  const listeners = [
    tell,
    metrics.listen,
    health.listen,
    decisions.listen,
    ...ears.also,
    notifier.listen,
    ...[traces, recording].flatMap((each) => (each === undefined ? [] : [each.listen])),
  ]
  const emit = emitTo(listeners, (error) =>
    log.note('listener.failed', 'error', `a listener failed: ${reasonOf(error)}`),
  )
  const told = config.account.owner === undefined ? undefined : approvalStore(journal, signer.address)
  const approval = { subaccount: signer.address, ...told?.read() }
  notifier.recall(priorIncidents(journal, { hosts: [...hosts.api, ...hosts.oracle], approval }))
  // Closed last of all that tells: its end is told too.
  closers.push(() => notifier.close(LAST_WORDS_MS))
  return {
    ...{ ...account, parts, emit, metrics, health, decisions, notifier, told, fatal },
    recordTurn: recording?.recordTurn,
  }
}

/** The recording of what the venue shows; a daemon that is not asked to loads nothing of it. */
async function recordingOf(config: Config, hosts: VenueHosts, log: Log) {
  if (!config.history.record) return undefined
  const { openRecording } = await import('../ownFiles/openRecording.ts')
  return openRecording(config, hosts, log)
}

/** Where the roads of orders are traced to; a daemon that is not asked to loads nothing of it. */
async function tracesOf({ otel: { endpoint, headersFile }, profile, venue, isPaper }: Config, log: Log) {
  if (endpoint === undefined) return undefined
  const { openTraces } = await import('../logging/openTraces.ts')
  return await openTraces({
    endpoint,
    ...defined({ headers: headersFile === undefined ? undefined : traceHeaders(headersFile, !isPaper) }),
    profile,
    chain: venue.chain.name,
    now: systemClock.now,
    failed: (reason) => log.note('trace.unsent', 'warn', reason),
  })
}
