/** Accounts of a process as they are started: each with its settings, its log and its newest lines. */
import type { Config } from '../../config/configTypes.ts'
import { accountIn, type LoadedConfig } from '../../config/loadConfig.ts'
import type { Log } from '../../monitor/log/log.ts'
import type { LogRing } from '../../monitor/log/logRing.ts'
import type { ReadAnew } from '../connectTrader.ts'

/** One account to start. */
export interface AccountStart extends ReadAnew {
  /** Absent: the process has one account without a name. */
  readonly name: string | undefined
  readonly config: Config
  /** The newest lines of its log, in memory. */
  readonly kept: LogRing
}

/** Logs of a process and of its accounts. */
export interface AccountLogs {
  readonly log: Log
  /** The newest lines of an account, and of the process. */
  readonly ringOf: (name: string | undefined) => LogRing
}

/** Returns the accounts of a configuration: the named ones, or the one without a name. `reload` reads the whole configuration anew. */
export function accountStarts(
  loaded: LoadedConfig,
  reload: () => LoadedConfig,
  { log, ringOf }: AccountLogs,
): readonly AccountStart[] {
  const startOf = (name: string | undefined): AccountStart => {
    const { config, values } = accountIn(loaded, name)
    const kept = ringOf(name)
    return {
      ...{ name, config, values, kept },
      log: name === undefined ? log : log.ofAccount(name, kept.keep),
      reload: () => accountIn(reload(), name),
    }
  }
  const { accounts } = loaded
  return accounts.length === 0 ? [startOf(undefined)] : accounts.map(({ name }) => startOf(name))
}
