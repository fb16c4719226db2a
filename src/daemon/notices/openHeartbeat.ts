/** Opens the dead man's switch of a run: its address is a secret, and what it looks at is health and halts. */
import { Secret } from '../../base/secret.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { isSafeUrl } from '../../config/sections/formats.ts'
import type { HaltReason } from '../../domain/accountRecords/tradingState.ts'
import type { Emit } from '../../domain/event.ts'
import type { TradingState } from '../../domain/limits/limits.ts'
import { type PrivateFileRules, readSecretFile } from '../../keys/privateFile.ts'
import { type Beat, createHeartbeat, type Heartbeat } from '../../notify/heartbeat.ts'
import { openPost } from './notifySinks.ts'

const setting = 'notify.heartbeatUrlFile'
/** Longest wait for an answer, ms: what ends waits for the last one. */
const TIMEOUT_MS = 3_000

/** Derives the heartbeat from health and halts: a halt that no person requested is a failure, and a hanging loop sends nothing. */
export function beatOf(
  isAlive: boolean,
  halts: readonly { readonly state: Exclude<TradingState, 'active'>; readonly cause: HaltReason }[],
): Beat {
  if (!isAlive) return 'silent'
  const isFault = halts.some(
    ({ state, cause }) => state === 'halted' && cause !== 'operator' && cause !== 'kill',
  )
  return isFault ? 'fail' : 'well'
}

/**
 * Starts the heartbeat of the configuration; one that does nothing where none is set.
 *
 * @param credentialsDirectory where systemd puts the credentials of the service; absent: nowhere.
 * @throws KeyFileError when its file cannot be opened or others may read it; CommandError with exit code 4 when it holds no address.
 */
export function openHeartbeat(
  config: Config,
  emit: Emit,
  look: () => Beat,
  credentialsDirectory = process.env.CREDENTIALS_DIRECTORY,
): Heartbeat {
  const { heartbeatUrlFile: path, heartbeatSeconds } = config.notify
  if (path === undefined) return { fail: () => undefined, stop: () => Promise.resolve() }
  const url = readHeartbeatUrl(path, { checksFolder: !config.isPaper, credentialsDirectory })
  const { post, close } = openPost()
  const heartbeat = createHeartbeat({
    url,
    periodMs: heartbeatSeconds * 1_000,
    timeoutMs: TIMEOUT_MS,
    post,
    clock: systemClock,
    emit,
    look,
  })
  return {
    fail: heartbeat.fail,
    async stop() {
      await heartbeat.stop()
      close()
    },
  }
}

/** The address that a file holds. Throws as `openHeartbeat` does. */
export function readHeartbeatUrl(path: string, rules: Omit<PrivateFileRules, 'setting' | 'what'>): Secret {
  const url = readSecretFile(path, { ...rules, setting })
    .reveal()
    .trim()
  if (isSafeUrl(url, true)) return new Secret(url)
  throw new CommandError(
    `${path} does not hold an https:// address; ${setting} names it.`,
    exitCodes.configuration,
  )
}
