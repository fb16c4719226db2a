/** The two tokens of the control port: made at the daemon's first start, read by the commands that talk to it. */
import { randomBytes } from 'node:crypto'
import { existsSync, linkSync, unlinkSync } from 'node:fs'
import { Secret } from '../../base/secret.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import type { Role, Tokens } from '../../control/guard/access.ts'
import { createPrivateFile, isCode, readSecretFile } from '../../keys/privateFile.ts'

const setting = 'control.tokenFile'
const shape = /^[A-Za-z0-9_-]{43}$/

/** Where the token of a role stands. */
export function tokenFileOf({ control }: Config, role: Role): string {
  return role === 'operate' ? control.tokenFile : `${control.tokenFile}.read`
}

/**
 * The tokens of the configured files; those that do not exist yet are made, with mode 0600.
 *
 * @throws KeyFileError when a file cannot be made, or others may read it; CommandError with exit code 4 when it holds
 * something else.
 */
export function openTokens(config: Config): Tokens {
  const open = (role: Role): Secret => {
    if (!existsSync(tokenFileOf(config, role))) makeToken(tokenFileOf(config, role))
    return readToken(config, role)
  }
  return { operate: open('operate'), read: open('read') }
}

/**
 * The token of a role. Throws as `openTokens` does, and KeyFileError when there is none: no daemon has run here yet.
 */
export function readToken(config: Config, role: Role): Secret {
  const path = tokenFileOf(config, role)
  const text = readSecretFile(path, { setting, checksFolder: !config.isPaper })
  const token = text.reveal().trim()
  if (!shape.test(token)) {
    throw new CommandError(
      `${path} holds no token of the control port.\n  Remove it, and perpd makes a new one at its next start; the setting is ${setting}.`,
      exitCodes.configuration,
    )
  }
  return new Secret(token)
}

/** Makes a file with a new token. Two daemons may start at once: the file gets its name when it is whole, and the first one wins. */
export function makeToken(path: string, namedBy: string = setting): void {
  const draft = `${path}.${randomBytes(6).toString('hex')}`
  createPrivateFile(draft, new Secret(`${randomBytes(32).toString('base64url')}\n`), namedBy)
  try {
    linkSync(draft, path)
  } catch (error) {
    if (!isCode(error, 'EEXIST')) throw error
  } finally {
    unlinkSync(draft)
  }
}
