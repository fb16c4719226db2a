/**
 * Where a password comes from: a file descriptor, a systemd credential or a question at the terminal. Never an argument,
 * which every user of the machine can list, and never the environment, which child processes inherit.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { isatty } from 'node:tty'
import { BaseError, reasonOf } from '../base/errors.ts'
import { Secret } from '../base/secret.ts'

/** A password cannot be had. */
export class PasswordError extends BaseError {}

/** Asks a question at the terminal; what is typed is not shown. */
export type AskHidden = (question: string) => Promise<Secret>

/** Sources of a password; the first one present is used. */
export interface PasswordSources {
  /** An open file descriptor: `--password-fd`, `account.passwordFd`. */
  readonly descriptor: number | undefined
  /** `$CREDENTIALS_DIRECTORY` of a systemd service. */
  readonly credentialsDirectory: string | undefined
  /** Name of the account where a process has several: its credential has that name at its end. */
  readonly account?: string | undefined
  /** Undefined when nobody sits at a terminal. */
  readonly ask: AskHidden | undefined
}

/** The credential's name, as in `LoadCredentialEncrypted=perpd-password:...`. */
const passwordCredential = 'perpd-password'

/** Longest password, bytes. */
const MAX_BYTES = 4_096

/** Which source would be used, in words for the operator; undefined when there is none. */
export function passwordSourceText(sources: PasswordSources): string | undefined {
  if (sources.descriptor !== undefined) return `file descriptor ${sources.descriptor}`
  if (credentialPath(sources) !== undefined) return `the systemd credential ${credentialOf(sources)}`
  return sources.ask === undefined ? undefined : 'a question at the terminal'
}

/**
 * Reads the password of an existing keystore.
 *
 * @throws PasswordError PASSWORD_MISSING when there is no source, PASSWORD_UNREADABLE when the source gives none.
 */
export async function readPassword(sources: PasswordSources, question: string): Promise<Secret> {
  const given = givenPassword(sources)
  if (given !== undefined) return given
  return nonEmpty(await asked(sources)(question), 'what was typed')
}

/**
 * Reads the password of a new keystore; one that is typed is typed twice.
 *
 * @throws PasswordError as `readPassword`, and PASSWORD_DIFFERS when the two are not the same.
 */
export async function readNewPassword(sources: PasswordSources): Promise<Secret> {
  const given = givenPassword(sources)
  if (given !== undefined) return given
  const ask = asked(sources)
  const first = nonEmpty(await ask('New password: '), 'what was typed')
  const second = await ask('The same again: ')
  if (first.reveal() === second.reveal()) return first
  throw new PasswordError('The two passwords differ.', {
    code: 'PASSWORD_DIFFERS',
    details: 'Nothing was written. Try again.',
  })
}

function asked({ ask }: PasswordSources): AskHidden {
  if (ask !== undefined) return ask
  throw new PasswordError('The password of the keystore is missing.', {
    code: 'PASSWORD_MISSING',
    details: `Nothing was done. Pass it through a file descriptor (account.passwordFd, --password-fd N), the systemd credential ${passwordCredential}, or a terminal; never as an argument.`,
  })
}

function givenPassword(sources: PasswordSources): Secret | undefined {
  if (sources.descriptor !== undefined) return secretOfDescriptor(sources.descriptor)
  const path = credentialPath(sources)
  if (path === undefined) return undefined
  let descriptor: number
  try {
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW)
  } catch (cause) {
    throw unreadable(path, reasonOf(cause))
  }
  try {
    // systemd may give the file to root with an access list for us, which shows as a right of the group.
    if ((fstatSync(descriptor).mode & 0o007) !== 0) throw unreadable(path, 'every user may read it')
    return lineOf(descriptor, path)
  } finally {
    closeSync(descriptor)
  }
}

/** Name of the credential: of one of several accounts it has the account's name. */
function credentialOf({ account }: PasswordSources): string {
  return account === undefined ? passwordCredential : `${passwordCredential}-${account}`
}

function credentialPath(sources: PasswordSources): string | undefined {
  const { credentialsDirectory } = sources
  if (credentialsDirectory === undefined || !isAbsolute(credentialsDirectory)) return undefined
  const path = join(credentialsDirectory, credentialOf(sources))
  // The service may bring credentials and none of ours.
  return existsSync(path) ? path : undefined
}

/**
 * Reads a descriptor that this process was given to its end, without the line break after it, and closes it: what starts from
 * here inherits it not. A descriptor of Node's own, which has a low number where the starter passed none on, is neither read
 * nor closed.
 *
 * @throws PasswordError PASSWORD_UNREADABLE when it was not given, is a terminal, or gives nothing.
 */
export function secretOfDescriptor(descriptor: number): Secret {
  const name = `file descriptor ${descriptor}`
  // A terminal would show what is typed.
  if (isatty(descriptor))
    throw unreadable(name, 'it is a terminal; omit it and perpd prompts for the password')
  if (!isGiven(descriptor)) {
    throw unreadable(
      name,
      'it is not open here; npm and npx pass on only standard input (--password-fd 0 <FILE). Start perpd with node to use other descriptors',
    )
  }
  const text = lineOf(descriptor, name)
  if (descriptor > 2) closeSync(descriptor)
  return text
}

/** Most descriptors that are looked through for the other end of a pipe. */
const MOST_DESCRIPTORS = 256

/** Tells whether a descriptor came from outside: its kind can hold a password, and it is no pipe of which this process holds both ends. */
function isGiven(descriptor: number): boolean {
  const found = statOf(descriptor)
  if (found === undefined) return false
  if (found.isFile() || found.isSocket() || found.isCharacterDevice()) return true
  if (!found.isFIFO()) return false
  for (let other = 0; other < MOST_DESCRIPTORS; other++) {
    const end = other === descriptor ? undefined : statOf(other)
    if (end?.isFIFO() && end.ino === found.ino && end.dev === found.dev && isWritable(other)) return false
  }
  return true
}

function statOf(descriptor: number): Stats | undefined {
  try {
    return fstatSync(descriptor)
  } catch {
    return undefined
  }
}

/** Tells whether a descriptor is open for writing: it writes no bytes, so that nothing moves. */
function isWritable(descriptor: number): boolean {
  try {
    writeSync(descriptor, Buffer.alloc(0))
    return true
  } catch {
    return false
  }
}

function lineOf(descriptor: number, name: string): Secret {
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  let length = 0
  try {
    for (;;) {
      const read = readSync(descriptor, bytes, length, bytes.length - length, null)
      length += read
      if (read === 0 || length === bytes.length) break
    }
  } catch (cause) {
    throw unreadable(name, reasonOf(cause))
  }
  if (length > MAX_BYTES) throw unreadable(name, `it is longer than ${MAX_BYTES} bytes`)
  const text = new Secret(bytes.toString('utf8', 0, length).replace(/\r?\n$/, ''))
  bytes.fill(0)
  return nonEmpty(text, name)
}

function nonEmpty(text: Secret, name: string): Secret {
  if (text.reveal() === '') throw unreadable(name, 'it is empty')
  return text
}

function unreadable(from: string, reason: string): PasswordError {
  return new PasswordError('The password cannot be read.', {
    code: 'PASSWORD_UNREADABLE',
    facts: { from, reason },
    details: 'Nothing was signed.',
  })
}
