/** A perpd that waits for its journal, for people and probes: its lines in the log, and its control port until the journal is its own. */
import { reasonOf } from '../base/errors.ts'
import { systemClock } from '../base/systemClock.ts'
import type { Config } from '../config/configTypes.ts'
import { version } from '../config/version.ts'
import { createStandbyServer } from '../control/server.ts'
import type { StandbyStatus } from '../control/standbyRoutes.ts'
import type { JournalFaultError } from '../journal/journal.ts'
import type { Log } from '../monitor/log/log.ts'
import { createMetrics } from '../monitor/metrics/metrics.ts'
import { leaveAddress } from './controlAddress.ts'
import { journalNameOf, postgresOf } from './journalFile.ts'
import { type Awaited, awaitedOf, tellWaiting } from './logging/tellWaiting.ts'
import { openService } from './openService.ts'
import { openTokens } from './ownFiles/controlTokens.ts'
import type { ServiceManager } from './systemd.ts'

/** A standby's port; nothing is opened before it has to wait. */
export interface StandbyPort {
  /** Hears of each look that found the journal taken, unreadable, or no server. */
  readonly hear: (fault: JournalFaultError) => void
  /** True once it had to wait. */
  readonly hasWaited: () => boolean
  /**
   * Waits for the opening of the journal. From the first look that had to wait on, SIGINT and SIGTERM end the wait, and the result is undefined: this process
   * has no order to follow, and nothing to give back but its port.
   */
  opened<T>(opening: Promise<T>): Promise<T | undefined>
  /** Closes the port, which the daemon takes next. Safe to call twice. */
  close(): Promise<void>
}

/** Signals that end a process which waits. */
const endSignals = ['SIGINT', 'SIGTERM'] as const

/** Makes one. A port that cannot be opened keeps no standby from taking over: the log says so. */
export function createStandbyPort(config: Config, log: Log): StandbyPort {
  const startedAtMs = systemClock.now()
  const tell = tellWaiting(log.note)
  const ended = Promise.withResolvers<undefined>()
  let awaited: Awaited | undefined
  let opened: Promise<() => Promise<void>> | undefined
  let service: ServiceManager | undefined

  const onSignal = (signal: NodeJS.Signals): void => {
    log.note('journal.waiting', 'info', `standby: ended by ${signal}; it held nothing`)
    ended.resolve(undefined)
  }

  const standby = (): StandbyStatus => standbyStatusOf(config, startedAtMs, awaited)

  async function open(): Promise<() => Promise<void>> {
    const options = {
      ...portSettings(config),
      standby,
      tokens: openTokens(config),
      metrics: createMetrics(metricsOf(config)),
    }
    try {
      const server = await createStandbyServer({ ...options, moved: () => undefined })
      const takeBack = leaveAddress(config, server.localUrl, log)
      return async () => {
        takeBack()
        await server.close()
      }
    } catch (error) {
      log.note('journal.waiting', 'warn', `standby: no control port can be opened: ${reasonOf(error)}`)
      return async () => undefined
    }
  }

  return {
    hear(fault) {
      if (awaited === undefined) for (const signal of endSignals) process.on(signal, onSignal)
      awaited = awaitedOf(fault)
      tell(awaited)
      opened ??= open()
      if (service !== undefined) return
      // It is what it should be: a unit that waits for READY=1 would end it after TimeoutStartSec.
      service = openService(
        () => awaited?.reason ?? 'standby: waits',
        () => true,
        log,
      )
      service.ready()
    },
    hasWaited: () => awaited !== undefined,
    async opened(opening) {
      try {
        return await Promise.race([opening, ended.promise])
      } finally {
        for (const signal of endSignals) process.off(signal, onSignal)
      }
    },
    async close() {
      const closing = opened
      opened = undefined
      service?.close()
      await (await closing)?.()
    },
  }
}

/** Returns the status of a wait for the journal of this configuration. */
export function standbyStatusOf(
  config: Config,
  startedAtMs: number,
  awaited: Awaited | undefined,
): StandbyStatus {
  const { code = '', reason = '', ...found } = awaited ?? {}
  return {
    ...{ version, profile: config.profile, chain: config.venue.chain.name, state: 'waiting' },
    ...{ nowMs: systemClock.now(), startedAtMs, code, reason },
    journal: { path: journalNameOf(config), ...found },
  }
}

/** The settings of the control port that do not depend on what it serves. */
export function portSettings({ control }: Config) {
  const { host, port, hostNames, isMetricsOpen, isHealthOpen, requestsPerSecond } = control
  return { host, port, hostNames, isMetricsOpen, isHealthOpen, requestsPerSecond }
}

/** Labels of the metrics of this configuration. */
export function metricsOf(config: Config): Parameters<typeof createMetrics>[0] {
  const { profile, venue } = config
  const account = postgresOf(config)?.account
  return {
    ...{ version, profile, chain: venue.chain.name },
    ...(account !== undefined && { journalAccount: account }),
  }
}
