/** Sources of keys and passwords outside the configuration, gathered at the start of a command and nowhere else. */

import { Secret } from '../../base/secret.ts'
import { privateKeyVariable } from '../../config/privateKeyVariable.ts'
import type { AskHidden, PasswordSources } from '../../keys/password.ts'

/** Sources of keys and passwords outside the configuration. */
export interface KeySources {
  /** Value of `PERPD_PRIVATE_KEY`. */
  readonly privateKey: Secret | undefined
  /** `$CREDENTIALS_DIRECTORY`, where systemd puts credentials. */
  readonly credentialsDirectory: string | undefined
  /** Asks at the terminal; undefined when there is none. */
  readonly ask: AskHidden | undefined
}

/**
 * Takes the sources out of the environment. The bare key is removed from it, so that no child process and no dump of the
 * environment has it; the system's own record of how the process was started (`/proc/PID/environ`) keeps it.
 */
export function takeKeySources(
  env: Record<string, string | undefined>,
  ask: AskHidden | undefined,
): KeySources {
  const privateKey = env[privateKeyVariable]
  delete env[privateKeyVariable]
  return {
    privateKey: privateKey === undefined || privateKey === '' ? undefined : new Secret(privateKey),
    credentialsDirectory: env.CREDENTIALS_DIRECTORY,
    ask,
  }
}

/** Returns the sources of a password, with the descriptor that a setting or a flag names; `account`: one of several. */
export function passwordSources(
  keys: KeySources,
  descriptor: number | undefined,
  account?: string,
): PasswordSources {
  return { descriptor, credentialsDirectory: keys.credentialsDirectory, account, ask: keys.ask }
}
