/**
 * The running daemon as commands see it: at the address that it wrote beside its tokens, on this machine. The token is never
 * sent: both sides prove that they hold it, and an answer without that proof is not believed.
 */
import { createNodeFetch } from '../../api/transport/nodeFetch.ts'
import { RequestFailed } from '../../api/transport/requestFailed.ts'
import type { FetchAnswer } from '../../api/transport/route.ts'
import { defined } from '../../base/defined.ts'
import { isThere } from '../../base/isThere.ts'
import type { Secret } from '../../base/secret.ts'
import { systemClock } from '../../base/systemClock.ts'
import type { Config } from '../../config/configTypes.ts'
import { CommandError, exitCodeOfRefusal, exitCodes } from '../../config/exit.ts'
import type { Role } from '../../control/guard/access.ts'
import { accountPath, isAccountRefusal, STANDBY_WAITS } from '../../control/guard/accountRefusals.ts'
import { linkPath } from '../../control/guard/browserRules.ts'
import {
  answerCode,
  bodyDigestOf,
  challengePath,
  isSameCode,
  newNonce,
  proofHeader,
  proofOf,
} from '../../control/guard/proof.ts'
import type { StatusBody } from '../../control/routes.ts'
import type { StandbyStatus } from '../../control/standbyRoutes.ts'
import { addressFileOf, readAddress, readLeft } from '../../daemon/controlAddress.ts'
import { journalNameOf } from '../../daemon/journalFile.ts'
import { readToken, tokenFileOf } from '../../daemon/ownFiles/controlTokens.ts'
import type { Plain } from '../../domain/summaries/orderView.ts'
import type { Verdict } from '../../monitor/health.ts'
import type { OperatorAnswer, PoolChoice } from '../../operator/operatorAnswer.ts'
import { liftedBy } from './liftedBy.ts'

/** A daemon answers within milliseconds; one that does not within this hangs, ms. */
const TIMEOUT_MS = 5_000

/** A process that is killed breaks its connections first, and is gone within this, ms. */
const ENDING_MS = 1_000

/** A daemon is asked directly: the global fetch takes a proxy of the environment where Node was switched to that. */
const { fetch } = createNodeFetch()

/** The configuration, and which of it was said on the command line. */
type DaemonTarget = { readonly config: Config; readonly origins: Readonly<Record<string, string>> }

/** The perpd that answers waits for its journal: it has no status of an account. The message is its one sentence. */
export class StandbyWaits extends CommandError {
  readonly standby: StandbyStatus

  constructor(standby: StandbyStatus) {
    super(`perpd does not trade: ${standby.reason}`, exitCodes.error)
    this.standby = standby
  }
}

/**
 * The daemon's status.
 *
 * @throws CommandError with exit code 3 when no perpd of this profile answers; StandbyWaits, code 1, when it waits for its journal.
 */
export async function queryStatus(told: DaemonTarget): Promise<StatusBody> {
  const { address, body } = await ask(told, 'read', '/api/status')
  const { profile } = told.config
  if (isStandby(body)) throw new StandbyWaits(body.standby)
  if (isAccountRefusal(body))
    throw new CommandError(
      `perpd has no answer: ${body.message}`,
      // Its journal is free: what is read without a daemon can be read.
      body.error === 'ACCOUNT_FAILED' ? exitCodes.notRunning : exitCodes.error,
    )
  if (!isStatus(body)) throw odd(address)
  if (body.profile !== profile) {
    throw new CommandError(
      `The perpd at ${address} runs the profile ${body.profile}, not ${profile}.\n  Use --profile ${body.profile} for it, or name the other daemon's token file with --control.tokenFile FILE`,
      exitCodes.notRunning,
    )
  }
  return body
}

/** Reads from the daemon's probe route whether it does its work. Throws CommandError with exit code 3 when no perpd of this profile answers. */
export async function queryAlive(told: DaemonTarget): Promise<Verdict> {
  const { address, body } = await ask(told, 'read', '/livez')
  if (!isVerdict(body)) throw odd(address)
  return body
}

/**
 * Tells whether a daemon runs on this configuration's journal; commands then go through the daemon and leave the file alone.
 *
 * @throws the errors of reading its token: a daemon is there, and it cannot be asked.
 */
export async function isRunning(told: DaemonTarget): Promise<boolean> {
  try {
    return (await queryStatus(told)).journal.path === journalNameOf(told.config)
  } catch (error) {
    // Another daemon, or another program: the journal's own lock says whether it is free.
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) return false
    throw error
  }
}

/**
 * Reads a route of the daemon: a record, or a list. `isIt` tells whether the response has the shape that the caller reads.
 *
 * @throws CommandError with exit code 3 when no perpd answers, 2 when the thing asked for does not exist, 1 when it refuses.
 */
export async function queryDaemon<T>(
  told: DaemonTarget,
  path: string,
  isIt: (body: unknown) => body is T,
): Promise<T> {
  const { address, status, body } = await ask(told, 'read', path)
  if (status === 200 && isIt(body)) return body
  if (status === 200 || !isRecord(body) || typeof body.message !== 'string') throw odd(address)
  throw new CommandError(
    `perpd has no answer: ${body.message}`,
    status === 404 ? exitCodes.notFound : exitCodes.error,
  )
}

/**
 * Sends a command; gives the daemon's sentence. `timeoutMs`: how long it may take, where it is more than an answer at once.
 *
 * @throws CommandError when it is refused, or with exit code 3 when no perpd answers.
 */
export async function command(
  told: DaemonTarget,
  path: string,
  body: object,
  timeoutMs?: number,
): Promise<string> {
  return (await commandAnswer(told, path, body, timeoutMs)).statement
}

/** A command that the daemon refused. */
export class RefusedCommand extends CommandError {
  readonly pools: readonly Plain<PoolChoice>[]

  constructor(message: string, exitCode: number, pools: readonly Plain<PoolChoice>[]) {
    super(message, exitCode)
    this.pools = pools
  }
}

/** Response of the daemon to a command that it accepted: a sentence, and for a manual order its id and quote. */
export type CommandAnswer = Plain<Extract<OperatorAnswer, { readonly ok: true }>>

/**
 * The same with all that the daemon answers. `timeoutMs`: how long it may take; it may have to ask the venue first.
 *
 * @throws CommandError as `command` does.
 */
export async function commandAnswer(
  told: DaemonTarget,
  path: string,
  body: object,
  timeoutMs: number = TIMEOUT_MS,
): Promise<CommandAnswer> {
  const { address, status, body: answer } = await ask(told, 'operate', path, body, timeoutMs)
  if (!isRecord(answer)) throw odd(address)
  if (status === 200 && typeof answer.statement === 'string') return answer as unknown as CommandAnswer
  const lifted = liftedBy(String(answer.error))
  const way = lifted === undefined ? '' : `\nWay out: ${lifted}.`
  throw new RefusedCommand(
    `perpd refuses: ${String(answer.message)} (${String(answer.error)})${way}`,
    exitCodeOfRefusal(String(answer.error)),
    Array.isArray(answer.pools) ? (answer.pools as RefusedCommand['pools']) : [],
  )
}

/** A link to the console that is good once, as the daemon gives it. */
export interface GivenLink {
  readonly url: string
  readonly role: Role
  /** Unix ms. */
  readonly expiresAtMs: number
}

/**
 * A new link to the console, for a session of this role; its token is proven as every other.
 *
 * @throws CommandError with exit code 3 when no perpd answers, 1 when it serves no console or refuses.
 */
export async function askLink(told: DaemonTarget, role: Role): Promise<GivenLink> {
  const { address, status, body } = await ask(told, role, linkPath, {})
  if (!isRecord(body)) throw odd(address)
  const { url, expiresAtMs, role: given, message } = body
  if (status === 200 && typeof url === 'string' && typeof expiresAtMs === 'number' && given === role) {
    return { url, role, expiresAtMs }
  }
  if (status === 404 || (status === 403 && role === 'read')) {
    throw new CommandError(
      `The perpd at ${address} serves no console.\n  Set control.console to true, and restart it.`,
      exitCodes.error,
    )
  }
  if (typeof message !== 'string') throw odd(address)
  throw new CommandError(`perpd gives no link: ${message}`, exitCodes.error)
}

interface Answer {
  readonly address: string
  readonly status: number
  readonly body: unknown
}

/** One request with the daemon's challenge. A read whose kept connection the daemon had closed meanwhile is sent again, once. */
async function ask(
  told: DaemonTarget,
  role: Role,
  path: string,
  body?: object,
  timeoutMs: number = TIMEOUT_MS,
): Promise<Answer> {
  try {
    return await askOnce(told, role, path, timeoutMs, body)
  } catch (error) {
    const wasCut = error instanceof CommandError && /\((ECONNRESET|EPIPE)\)/.test(error.message)
    if (body !== undefined || !wasCut) throw error
    return await askOnce(told, role, path, timeoutMs)
  }
}

async function askOnce(
  { config, origins }: DaemonTarget,
  role: Role,
  path: string,
  timeoutMs: number,
  body?: object,
): Promise<Answer> {
  const address = addressOf(config, origins)
  const to = { config, address, role, token: tokenOf(config, role, address) }
  const { body: first } = await askProven(to, challengePath)
  if (!isRecord(first) || typeof first.challenge !== 'string') throw odd(address)
  const { challenge } = first
  return await askProven(to, pathOf(config, path), { challenge, timeoutMs, ...defined({ body }) })
}

/** The path of a route: those of an account with a name are below it. A link to the console, and a probe, are of the process. */
function pathOf({ accountName }: Config, path: string): string {
  const isOfAccount = accountName !== undefined && path.startsWith('/api/') && path !== linkPath
  return isOfAccount ? `${accountPath(accountName)}${path}` : path
}

/** The address that the daemon wrote; a port on the command line must be the same. */
function addressOf(config: Config, origins: DaemonTarget['origins']): string {
  const address = readAddress(config)
  if (address === undefined) {
    throw new CommandError(
      `No perpd is running here: ${addressFileOf(config)} does not exist.\n  Start it with: perpd run (in a checkout: npm start). If it runs elsewhere, run this there, or name its token file with --control.tokenFile FILE. Orders are readable without the daemon: perpd orders`,
      exitCodes.notRunning,
    )
  }
  const { port } = config.control
  // It is the right one too when it did not get the port that it was to have.
  const isWanted = readLeft(config).wantedPort === port
  if (
    port === 0 ||
    isWanted ||
    !origins['control.port']?.startsWith('flag') ||
    new URL(address).port === String(port)
  ) {
    return address
  }
  throw new CommandError(
    `The perpd whose token is ${config.control.tokenFile} serves ${address}, not the port ${port}.\n  Leave out the port, or name the other daemon's token file with --control.tokenFile FILE`,
    exitCodes.notRunning,
  )
}

async function askProven(
  to: { readonly config: Config; readonly address: string; readonly role: Role; readonly token: Secret },
  path: string,
  options: { readonly challenge?: string; readonly body?: object; readonly timeoutMs?: number } = {},
): Promise<Answer> {
  const { config, address, role, token } = to
  const url = new URL(`${address}${path}`)
  const method = options.body === undefined ? 'GET' : 'POST'
  const text = options.body === undefined ? '' : JSON.stringify(options.body)
  const { challenge, timeoutMs = TIMEOUT_MS } = options
  const asked = {
    role,
    method,
    path: `${url.pathname}${url.search}`,
    nonce: newNonce(),
    ...defined({ challenge }),
    bodyDigest: bodyDigestOf(text),
  }
  const signal = AbortSignal.timeout(timeoutMs)
  let answer: FetchAnswer
  let content: string
  try {
    answer = await fetch(url.href, {
      method,
      headers: {
        authorization: proofOf(token, asked),
        ...defined({ 'content-type': method === 'GET' ? undefined : 'application/json' }),
      },
      ...defined({ body: method === 'GET' ? undefined : text }),
      redirect: 'manual',
      signal,
    })
    content = await answer.text()
  } catch (error) {
    if (!(error instanceof RequestFailed)) throw error
    const isLate = signal.aborted
    const cause = error.code ?? error.message
    const { pid } = readLeft(config)
    if (pid !== undefined && (isLate || (await staysAlive(pid)))) {
      throw new CommandError(
        `The daemon (pid ${pid}) does not answer at ${address} (${isLate ? `nothing in ${timeoutMs / 1_000} s` : cause}).\n  It hangs, or is starting or stopping. Check its log. If this persists: kill -9 ${pid}, then restart it; the journal has every order. Orders are readable without it: perpd orders`,
        isLate ? exitCodes.timeout : exitCodes.error,
      )
    }
    throw new CommandError(
      `No perpd answers at ${address}, its last known address (${cause}).\n  Start it with: perpd run (in a checkout: npm start). Orders are readable without it: perpd orders`,
      exitCodes.notRunning,
    )
  }
  const code = answerCode(token, asked, { status: answer.status, bodyDigest: bodyDigestOf(content) })
  if (!isSameCode(code, answer.headers.get(proofHeader) ?? '')) {
    if (answer.status === 401) {
      throw new CommandError(
        `The program at ${address} does not know the token of ${tokenFileOf(config, role)}: it is not perpd, or a perpd with another token. No token was sent.\n  Name its token file with --control.tokenFile FILE`,
        exitCodes.notRunning,
      )
    }
    throw foreignProcess(address, tokenFileOf(config, role))
  }
  try {
    return { address, status: answer.status, body: JSON.parse(content) }
  } catch {
    throw odd(address)
  }
}

/** Tells whether a process whose connection broke still exists at a time when a killed one would be gone. */
async function staysAlive(pid: number): Promise<boolean> {
  const untilMs = systemClock.monotonicMs() + ENDING_MS
  while (isAlive(pid)) {
    if (systemClock.monotonicMs() >= untilMs) return true
    await systemClock.sleep(50)
  }
  return false
}

/** Tells whether such a process exists; another user's counts as well. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function tokenOf(config: Config, role: Role, address: string): Secret {
  const path = tokenFileOf(config, role)
  if (isThere(path)) return readToken(config, role)
  throw new CommandError(
    `The perpd at ${address} requires a token, and there is none at ${path}.\n  Name the token file with --control.tokenFile FILE, or run this where the daemon was started.`,
    exitCodes.error,
  )
}

function foreignProcess(address: string, tokenFile: string): CommandError {
  return new CommandError(
    `The program at ${address} does not prove that it is the perpd whose token is ${tokenFile}: its answers are ignored, and no token was sent.\n  If perpd is not running, start it with: perpd run (in a checkout: npm start)`,
    exitCodes.notRunning,
  )
}

function odd(address: string): CommandError {
  return new CommandError(
    `The perpd at ${address} has another version, and this one does not understand its answer.\n  Use the perpd that is installed there.`,
    exitCodes.error,
  )
}

function isStatus(body: unknown): body is StatusBody {
  return isRecord(body) && 'notReady' in body && 'tradingState' in body
}

function isStandby(body: unknown): body is { readonly standby: StandbyStatus } {
  return isRecord(body) && body.error === STANDBY_WAITS && isRecord(body.standby)
}

function isVerdict(body: unknown): body is Verdict {
  return isRecord(body) && typeof body.ok === 'boolean' && Array.isArray(body.reasons)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
