/** Files that hold keys and tokens: opened only when nobody else can read or swap them, made so that nothing is replaced. */
import {
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { BaseError, reasonOf } from '../base/errors.ts'
import { isReadOnlyMount, readOnlyRemedy } from '../base/readOnlyMount.ts'
import { Secret } from '../base/secret.ts'
import { type Untrusted, untrustedPart } from './trustedPath.ts'

/** A key file cannot be used. Never holds the key. */
export class KeyFileError extends BaseError {}

/** Which rules a file is held to, and how it is named to the operator. */
export interface PrivateFileRules {
  /** The setting or flag that names the file, as `account.keystore` or `--file`. */
  readonly setting: string
  /** Name of the file in messages; default `key file`. */
  readonly what?: string
  /**
   * True when the folder around it must be safe from others, too, because anybody who may write a folder may swap the file in it. False for play
   * money only.
   */
  readonly checksFolder: boolean
  /**
   * `$CREDENTIALS_DIRECTORY` of a systemd service. systemd may give a file there to root with an access list for us, which shows as a
   * right of the group; the folder is its own.
   */
  readonly credentialsDirectory?: string | undefined
}

/** Largest key file, bytes; a keystore is below 1,000. */
const MAX_BYTES = 65_536

/** Says what was not done, for messages: a daemon did not start, a command did nothing. */
export function notDone(setting: string): string {
  return setting.startsWith('--') ? 'Nothing was done.' : 'perpd did not start.'
}

/**
 * Reads a file that nobody but its owner can read.
 *
 * @throws KeyFileError KEY_FILE_UNREADABLE when it is missing, a link or too large, KEY_FILE_NOT_A_FILE for a directory,
 * pipe or device, KEY_FILE_OWNER when another user owns it, KEY_FILE_PERMISSIONS when others may use it, KEY_FILE_FOLDER
 * when others may swap it.
 */
export function readPrivateFile(path: string, rules: PrivateFileRules): Secret {
  const { setting, what = 'key file', checksFolder, credentialsDirectory } = rules
  const isCredential = credentialsDirectory !== undefined && dirname(path) === credentialsDirectory
  let descriptor: number
  try {
    // A link could point anywhere by the time it is read; a pipe must not be waited for.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (cause) {
    throw new KeyFileError(`The ${what} cannot be opened.`, {
      code: 'KEY_FILE_UNREADABLE',
      facts: { path, reason: isCode(cause, 'ELOOP') ? 'it is a symbolic link' : reasonOf(cause) },
      details: `${notDone(setting)} Name an existing regular file in ${setting} (links are refused).`,
      cause,
    })
  }
  try {
    refuseShared(path, fstatSync(descriptor), { setting, what }, isCredential)
    if (checksFolder && !isCredential) refuseOpenFolder(path, { setting, what })
    return contentOf(descriptor, path, { setting, what })
  } finally {
    closeSync(descriptor)
  }
}

/** The same of a file that holds another secret than a key: messages call it by its setting. Throws as `readPrivateFile` does. */
export function readSecretFile(path: string, rules: Omit<PrivateFileRules, 'what'>): Secret {
  return readPrivateFile(path, { ...rules, what: `file of ${rules.setting}` })
}

/** Names of a file in messages. */
type Named = Required<{ readonly setting: string; readonly what?: string }>

/** Reads what was judged, by its descriptor: the name may mean another file by now. */
function contentOf(descriptor: number, path: string, { setting, what }: Named): Secret {
  const bytes = Buffer.alloc(MAX_BYTES + 1)
  let length = 0
  for (;;) {
    const read = readSync(descriptor, bytes, length, bytes.length - length, null)
    length += read
    if (read === 0 || length === bytes.length) break
  }
  if (length > MAX_BYTES) {
    throw new KeyFileError(`The ${what} cannot be opened.`, {
      code: 'KEY_FILE_UNREADABLE',
      facts: { path, reason: `it is larger than ${MAX_BYTES} bytes` },
      details: `${notDone(setting)} Name a smaller file in ${setting}.`,
    })
  }
  const text = new Secret(bytes.toString('utf8', 0, length))
  bytes.fill(0)
  return text
}

function refuseShared(path: string, stat: Stats, { setting, what }: Named, isCredential: boolean): void {
  if (!stat.isFile()) {
    throw new KeyFileError(`The ${what} is no regular file.`, {
      code: 'KEY_FILE_NOT_A_FILE',
      facts: { path, found: stat.isDirectory() ? 'a directory' : 'a pipe, socket or device' },
      details: `${notDone(setting)} Name a regular file in ${setting}.`,
    })
  }
  const user = process.getuid?.()
  if (user !== undefined && stat.uid !== user && !(isCredential && stat.uid === 0)) {
    throw new KeyFileError(`The ${what} belongs to another user.`, {
      code: 'KEY_FILE_OWNER',
      facts: { path, owner: stat.uid, user },
      details: `${notDone(setting)} Give it to the user that runs perpd: chown ${user} ${path}`,
    })
  }
  if ((stat.mode & (isCredential ? 0o037 : 0o077)) !== 0) {
    throw new KeyFileError(`The ${what} is open to others.`, {
      code: 'KEY_FILE_PERMISSIONS',
      facts: { path, mode: (stat.mode & 0o777).toString(8), owner: stat.uid },
      details: `${notDone(setting)} Make it yours alone: chmod 600 ${path}`,
    })
  }
}

/**
 * The folder must be ours alone to write; it and all above it, links followed, must be ours or the system's and not open to
 * others. In a folder with the sticky bit, as /tmp, only the owner of a file may rename or remove it.
 */
function refuseOpenFolder(path: string, { setting, what }: Named): void {
  const own = realpathSync(dirname(path))
  const { mode, uid } = statSync(own)
  const isOpen = (mode & 0o022) !== 0 && (mode & 0o1000) === 0
  const found: Pick<Untrusted, 'path' | 'owner' | 'mode'> | undefined =
    untrustedPart(dirname(path)) ??
    (isOpen ? { path: own, owner: uid, mode: (mode & 0o7777).toString(8) } : undefined)
  if (found === undefined) return
  throw new KeyFileError(`The folder of the ${what} is open to others.`, {
    code: 'KEY_FILE_FOLDER',
    facts: { folder: found.path, mode: found.mode, owner: found.owner },
    details: `${notDone(setting)} Anyone who can write to the folder, or owns it, can replace the file. Use a folder of your own: chmod go-w ${found.path}`,
  })
}

/**
 * Makes a file for its owner alone and makes it durable, folder entry included. A file that is there is never replaced.
 *
 * @throws KeyFileError KEY_FILE_EXISTS when something has the name, KEY_FILE_NOT_MADE when it cannot be written whole;
 * nothing of it is left behind then.
 */
export function createPrivateFile(path: string, content: Secret, setting: string): void {
  const failed = (cause: unknown): KeyFileError =>
    new KeyFileError('The key file cannot be written.', {
      code: 'KEY_FILE_NOT_MADE',
      facts: { path, reason: reasonOf(cause) },
      details: isReadOnlyMount(cause, path)
        ? `${notDone(setting)} ${readOnlyRemedy} in ${setting}.`
        : `${notDone(setting)} Check the place for permissions and space, or name another one in ${setting}.`,
      cause,
    })
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
  } catch (cause) {
    throw failed(cause)
  }
  let descriptor: number | undefined
  try {
    const { O_WRONLY, O_CREAT, O_EXCL, O_NOFOLLOW } = constants
    descriptor = openSync(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600)
    // The mask of the shell may have taken bits away.
    fchmodSync(descriptor, 0o600)
    const bytes = Buffer.from(content.reveal(), 'utf8')
    for (let written = 0; written < bytes.length; ) written += writeSync(descriptor, bytes, written)
    bytes.fill(0)
    fsyncSync(descriptor)
    syncFolder(dirname(path))
  } catch (cause) {
    if (descriptor !== undefined) unlinkSync(path)
    throw isCode(cause, 'EEXIST') ? taken(path, setting) : failed(cause)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/**
 * Says early that a name is taken, before anything is asked or computed for the file; making it says so again.
 *
 * @throws KeyFileError KEY_FILE_EXISTS when something has the name.
 */
export function refuseTaken(path: string, setting: string): void {
  if (lstatSync(path, { throwIfNoEntry: false }) !== undefined) throw taken(path, setting)
}

function taken(path: string, setting: string): KeyFileError {
  return new KeyFileError('A file of that name exists already; perpd never replaces keys.', {
    code: 'KEY_FILE_EXISTS',
    facts: { path },
    details: `${notDone(setting)} Name a file that does not exist yet in ${setting}.`,
  })
}

function syncFolder(folder: string): void {
  const descriptor = openSync(folder, constants.O_RDONLY)
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Tells whether an error of the system has that code, as ENOENT. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
