/** One account as it runs: its trader, what the control port shows of it, and what runs beside its trader. */
import { defined } from '../../base/defined.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { AccountContext } from '../../control/routes.ts'
import type { SignalSettings } from '../../control/signalRoutes.ts'
import type { createHostBook } from '../../monitor/hostFigures.ts'
import type { EngineApi } from '../../operator/port/engineStatus.ts'
import { announce } from '../announce.ts'
import { strategyWarnings } from '../checkStrategies.ts'
import { connectTrader } from '../connectTrader.ts'
import type { VenueConnection } from '../connectVenue.ts'
import { equityFile } from '../controlPort/equityFile.ts'
import { journalAnswers } from '../controlPort/journalAnswers.ts'
import { besideJournal } from '../journalFile.ts'
import { loggedEngineApi } from '../logging/loggedEngineApi.ts'
import { tellPeople } from '../notices/tellPeople.ts'
import { watchReplication } from '../notices/watchReplication.ts'
import { copyNotes, ownCopies } from '../ownFiles/ownCopies.ts'
import { openSignals, signalWarnings } from '../ownFiles/signalSecrets.ts'
import type { Trader } from '../trader.ts'
import { nextStart } from '../waitingSettings.ts'
import { watchStrategies } from '../watchStrategies.ts'
import type { AccountStart } from './accountStart.ts'
import type { DeskDealer } from './dealDesk.ts'
import type { HeardAccount } from './hearAccount.ts'
import type { Closers } from './openAccount.ts'

/** An account with its trader. */
export interface RunningAccount extends HeardAccount {
  readonly trader: Trader
  /** The trader as the control port and chats ask it. */
  readonly engine: EngineApi
  readonly signals: SignalSettings | undefined
  /** Ends the account by a fault: its trader at once. */
  readonly fail: (error: unknown) => void
}

/** Parts of a process that its accounts share. */
export interface DeskParts {
  readonly connection: VenueConnection
  readonly tokens: Parameters<typeof openSignals>[1]
  /** Deals limits of all accounts out; absent: there are none. */
  readonly dealing?: DeskDealer | undefined
  readonly closers: Closers
}

/** Makes the trader of an account; nothing is traded yet. */
export async function connectAccount(
  account: HeardAccount,
  { connection, tokens, dealing, closers }: DeskParts,
): Promise<RunningAccount> {
  const { start, parts, emit, fatal, told, recordTurn, address } = account
  const { config } = start
  const trader = await connectTrader(config, start, parts, {
    ...{ connection, emit, fatal, told, recordTurn, closers },
    deskBudgets: dealing?.budgetsOf(start.name ?? ''),
  })
  if (dealing !== undefined) closers.push(dealing.add(start.name ?? '', trader.deskUse))
  const fail = (error: unknown): void => {
    trader.abort()
    fatal(error)
  }
  const signals = openSignals(config, tokens, { account: address, emit })
  return { ...account, trader, engine: loggedEngineApi(trader, start, fail), signals, fail }
}

/** Returns what the control port answers from of an account. */
export function servedAccount(
  { start, engine, metrics, health, decisions, notifier, journal, signals, address }: RunningAccount,
  hosts: ReturnType<typeof createHostBook>,
): AccountContext {
  const { config, values, reload, log, kept } = start
  const path = besideJournal(config, 'equity')
  const warn = (text: string) => log.note('console.curveLost', 'warn', text)
  return {
    ...{ engine, metrics, health },
    ...defined({ signals }),
    nextStart: () => nextStart({ config, values }, reload),
    ...journalAnswers(config, journal),
    recent: { log: kept, levels: log.levels, decisions, hosts, incidents: notifier.incidents },
    ...defined({ equityStore: path === undefined ? undefined : equityFile(path, address, warn) }),
  }
}

/** Facts of a start that its report names. */
export interface StartWords {
  readonly connection: VenueConnection
  readonly statusUrl: string
  readonly notes: readonly string[]
}

/** Reports the start of an account and starts its trader, with what runs beside it; returns what ends that. */
export function beginAccount(
  account: RunningAccount,
  { connection, statusUrl, notes }: StartWords,
): { readonly announce: () => void; readonly trade: () => void; readonly end: () => void } {
  const { start, files, signer, journal, openedMs, trader, emit, fail, notifier, engine, signals } = account
  const { config, log } = start
  const { strategies, disabled } = files
  const endTelling = tellPeople(config, { notifier, engine, journal })
  const watching = new AbortController()
  return {
    announce() {
      const { hosts, evidence } = connection
      announce(config, emit, { strategies, signer, journal, openedMs, hosts, statusUrl, evidence, notes })
    },
    trade() {
      for (const warning of strategyWarnings(strategies, disabled, config.limits, config.marketLimits)) {
        log.note('strategy.warned', 'warn', warning)
      }
      for (const copy of copyNotes(config, strategies)) log.note('strategy.copied', 'info', copy)
      for (const warning of signalWarnings(strategies, signals)) log.note('signal.warned', 'warn', warning)
      // In a later turn: a command that waits for a record gets its answer first.
      void journal.failed.then((error) => setImmediate(fail, error))
      trader.start().catch(fail)
      watchFiles(start, trader, watching.signal).catch(fail)
      watchReplication({ journal, clock: systemClock, emit, signal: watching.signal }).catch(fail)
    },
    end() {
      endTelling()
      watching.abort()
    },
  }
}

/** Takes over strategy files that changed, or says what would be taken over, as the setting has it. */
async function watchFiles({ config, log }: AccountStart, trader: Trader, signal: AbortSignal): Promise<void> {
  const { watch } = config.strategies
  const paths = [...config.strategies.paths, ownCopies(config).folder]
  if (watch === 'off') return
  const isPreview = watch === 'report'
  const changed = async (): Promise<boolean> => {
    const preview = defined({ isPreview: isPreview || undefined })
    const asked = { type: 'reload', isConfirmed: false, ...preview } as const
    const answer = await trader.operate(asked, { by: 'perpd', via: 'files' })
    if (!answer.ok && (answer.code === 'NOT_READY' || answer.code === 'STOPPING')) return false
    // As at the first look, which finds what was read at the start.
    const isSame =
      answer.ok && 'strategies' in answer && answer.strategies?.length === 0 && answer.waiting?.length === 0
    if (isSame) return true
    const how = isPreview && answer.ok ? '. To apply: perpd strategies reload' : ''
    const text = answer.ok ? answer.statement : answer.reason
    log.note('files.changed', answer.ok ? 'warn' : 'error', `strategy files changed: ${text}${how}`)
    return true
  }
  await watchStrategies({ paths, clock: systemClock, changed, signal })
}
