/** Where the running daemon serves its control port: written by itself beside its tokens, believed by no other way. */
import { randomBytes } from 'node:crypto'
import { readFileSync, renameSync, rmSync } from 'node:fs'
import { BlockList, isIP } from 'node:net'
import { networkInterfaces } from 'node:os'
import { defined } from '../base/defined.ts'
import { reasonOf } from '../base/errors.ts'
import { isThere } from '../base/isThere.ts'
import { Secret } from '../base/secret.ts'
import type { Config } from '../config/configTypes.ts'
import { CommandError, exitCodes } from '../config/exit.ts'
import { makeRoom, withRoom } from '../journal/ballast.ts'
import { createPrivateFile, readSecretFile } from '../keys/privateFile.ts'
import type { Log } from '../monitor/log/log.ts'
import { besideJournal } from './journalFile.ts'

const setting = 'control.tokenFile'
const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** The file beside the tokens that says where their daemon serves. */
export function addressFileOf({ control }: Config): string {
  return `${control.tokenFile}.address`
}

/**
 * Writes where this daemon serves, whole or not at all, for its owner alone. Returns how to take it back, which leaves alone
 * what another daemon wrote since.
 *
 * @throws KeyFileError or a system error when it cannot be written.
 */
export function writeAddress(config: Config, url: string): () => void {
  const path = addressFileOf(config)
  const { port: wantedPort } = config.control
  const text = `${JSON.stringify({ address: url, pid: process.pid, wantedPort })}\n`
  const write = (): void => {
    const draft = `${path}.${randomBytes(6).toString('hex')}`
    try {
      createPrivateFile(draft, new Secret(text), setting)
      renameSync(draft, path)
    } catch (error) {
      rmSync(draft, { force: true })
      throw error
    }
  }
  const ballast = besideJournal(config, 'ballast')
  if (ballast === undefined) write()
  else withRoom(write, (error) => makeRoom(ballast, error))
  return () => {
    try {
      if (readFileSync(path, 'utf8') === text) rmSync(path)
    } catch {
      // Gone already: nothing more to take back.
    }
  }
}

/** As `writeAddress`; one that cannot be written keeps no daemon from managing what it holds, and the log says so. */
export function leaveAddress(config: Config, url: string, log: Pick<Log, 'note'>): () => void {
  try {
    return writeAddress(config, url)
  } catch (error) {
    if (!(error instanceof Error)) throw error
    const text = `${addressFileOf(config)} cannot be written: ${reasonOf(error)}`
    log.note(
      'daemon.addressLost',
      'error',
      `${text}. perpd trades, but commands cannot find it there; use signals: SIGUSR2 halts, SIGTERM stops`,
    )
    return () => undefined
  }
}

/**
 * Where the daemon of these tokens serves, by its own word; undefined when it left none, so that none runs.
 *
 * @throws KeyFileError when others may read or swap the file; HiddenPlaceError when this user may not look; CommandError with exit code 4 when it names no address of this
 * machine.
 */
export function readAddress(config: Config): string | undefined {
  const path = addressFileOf(config)
  if (!isThere(path)) return undefined
  const text = readSecretFile(path, { setting, checksFolder: !config.isPaper }).reveal()
  const address = addressIn(text)
  if (address !== undefined && isThisMachine(address)) return address.origin
  throw new CommandError(
    `${path} has no address of this machine; perpd writes one there at its start.\n  No request was sent. Remove the file and restart perpd.`,
    exitCodes.configuration,
  )
}

/** The facts that a daemon wrote with its address. */
interface LeftByDaemon {
  /** Its process. */
  readonly pid?: number
  /** The port that its settings name, which it may not have got. */
  readonly wantedPort?: number
}

/**
 * Reads the facts that the daemon of these tokens wrote; empty when it left nothing.
 *
 * @throws as `readAddress`.
 */
export function readLeft(config: Config): LeftByDaemon {
  const path = addressFileOf(config)
  if (!isThere(path)) return {}
  const text = readSecretFile(path, { setting, checksFolder: !config.isPaper }).reveal()
  try {
    const { pid, wantedPort } = JSON.parse(text) as { readonly pid?: unknown; readonly wantedPort?: unknown }
    return {
      ...defined({ pid: Number.isSafeInteger(pid) && Number(pid) > 1 ? Number(pid) : undefined }),
      ...defined({ wantedPort: Number.isSafeInteger(wantedPort) ? Number(wantedPort) : undefined }),
    }
  } catch {
    return {}
  }
}

function addressIn(text: string): URL | undefined {
  try {
    const { address } = JSON.parse(text) as { readonly address?: unknown }
    const url = new URL(String(address))
    return url.protocol === 'http:' && url.href === `${url.origin}/` ? url : undefined
  } catch {
    return undefined
  }
}

/** Tells whether an address is of this machine: a number, no name, because somebody else could answer for a name. */
function isThisMachine(
  { hostname }: { readonly hostname: string },
  interfaces: ReturnType<typeof networkInterfaces> = networkInterfaces(),
): boolean {
  const host = hostname.replace(/^\[(.+)\]$/, '$1')
  const family = isIP(host)
  if (family === 0) return false
  if (loopback.check(host, family === 4 ? 'ipv4' : 'ipv6')) return true
  return Object.values(interfaces).some((each) => each?.some(({ address }) => address === host))
}
