/** The secrets of signals from outside, read from files that nobody else can read; none of them is a token of the control port. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../base/defined.ts'
import { reasonOf } from '../../base/errors.ts'
import { Secret } from '../../base/secret.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Tokens } from '../../control/guard/access.ts'
import type { SignalSettings } from '../../control/signalRoutes.ts'
import type { Emit } from '../../domain/event.ts'
import { readSecretFile } from '../../keys/privateFile.ts'
import type { LoadedStrategy } from '../../strategy/files/load.ts'
import { makeToken } from './controlTokens.ts'

const signingSetting = 'control.signalSecretFile'
const bodySetting = 'control.signalBodySecrets'
/** A secret of one's own: long, and without what a shell or an editor adds. */
const shape = /^[\x21-\x7e]{32,256}$/

/**
 * Opens the acceptance of signals for this account; undefined where neither setting is there. A signing secret that does not exist yet is made.
 *
 * @throws KeyFileError when a file cannot be made or others may read it; CommandError with exit code 4 for a secret that is none, or
 * that stands in two places.
 */
export function openSignals(
  config: Config,
  tokens: Tokens,
  { account, emit }: { readonly account: string; readonly emit: Emit },
): SignalSettings | undefined {
  const { signalSecretFile, signalBodySecrets, signalWindowSeconds, signalsPerSecond } = config.control
  if (signalSecretFile === undefined && signalBodySecrets === undefined) return undefined
  const read = signalSecretReader(Object.values(tokens), !config.isPaper)
  if (signalSecretFile !== undefined && !existsSync(signalSecretFile))
    makeToken(signalSecretFile, signingSetting)
  const signing = signalSecretFile === undefined ? undefined : read(signalSecretFile, signingSetting)
  const inBody = new Map(
    bodySecretFiles(config).map(({ name, path, setting }) => [name, read(path, setting)] as const),
  )
  return {
    secrets: { ...defined({ signing }), inBody },
    receiver: { profile: config.profile, account },
    windowMs: signalWindowSeconds * 1000,
    perSecond: signalsPerSecond,
    emit,
  }
}

/**
 * The reader of one secret of signals after the other.
 *
 * @param tokens those of the control port, of which none may be one of these.
 * @returns a function that throws as `openSignals` does, also for a secret that an earlier file held.
 */
export function signalSecretReader(
  tokens: readonly Secret[],
  checksFolder: boolean,
): (path: string, setting: string) => Secret {
  const used = new Map(tokens.map((token) => [token.reveal(), 'a token of the control port']))
  return (path, setting) => {
    const text = readSecretFile(path, { setting, checksFolder }).reveal().trim()
    const twice = used.get(text)
    if (twice !== undefined) {
      throw unfit(
        `${path} holds the same secret as ${twice}.\n  Use a different one for each: openssl rand -hex 32`,
      )
    }
    if (!shape.test(text)) {
      throw unfit(
        `${path} holds no signal secret: 32 to 256 letters, digits and signs without spaces.\n  Make one: openssl rand -hex 32; the setting is ${setting}.`,
      )
    }
    used.set(text, path)
    return new Secret(text)
  }
}

/** The files of secrets in bodies, by the instance that each is of. Throws CommandError when their folder cannot be read. */
export function bodySecretFiles({ control: { signalBodySecrets: folder } }: Config): readonly {
  readonly name: string
  readonly path: string
  readonly setting: string
}[] {
  if (folder === undefined) return []
  return namesIn(folder).map((name) => ({ name, path: join(folder, name), setting: bodySetting }))
}

/** Files of a folder that are named as instances are. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => /^[a-z0-9][a-z0-9-]*$/.test(name))
  } catch (error) {
    throw unfit(
      `${folder} cannot be read: ${reasonOf(error)}\n  Create the folder, or set ${bodySetting} to empty.`,
    )
  }
}

function unfit(text: string): CommandError {
  return new CommandError(text, exitCodes.configuration)
}

/** Warns of strategies that wait for signals that cannot come. */
export function signalWarnings(
  strategies: readonly LoadedStrategy[],
  signals: SignalSettings | undefined,
): readonly string[] {
  if (signals !== undefined) return []
  const names = strategies.filter(({ strategy }) => strategy.takesSignals === true).map(({ name }) => name)
  return names.length === 0
    ? []
    : [
        `${names.join(', ')} waits for signals, but perpd accepts none: set ${signingSetting} (docs/signals.md).`,
      ]
}
