/** The running daemon as commands see it: through its control port, with the token of its own file. */
import { existsSync } from 'node:fs'
import type { Role } from '../control/access.ts'
import type { StatusBody } from '../control/routes.ts'
import { reasonOf } from '../domain/errors.ts'
import type { Secret } from '../domain/secret.ts'
import type { MarketStanding } from '../engine/catalogue.ts'
import type { Config } from './config/types.ts'
import { readToken, tokenFileOf } from './controlTokens.ts'
import { CommandError, exitCodes } from './exit.ts'

const TIMEOUT_MS = 10_000

/** The address that the daemon of this configuration serves. */
export function addressOf({ control }: Config): string {
  return `http://${control.host.includes(':') ? `[${control.host}]` : control.host}:${control.port}`
}

/**
 * The daemon's status.
 *
 * @throws CommandError with exit code 3 when no perpd of this profile answers.
 */
export async function askStatus(config: Config): Promise<StatusBody> {
  const address = addressOf(config)
  const body = (await ask(config, 'read', '/api/status')).body
  if (!isStatus(body)) throw stranger(address)
  if (body.profile !== config.profile) {
    throw new CommandError(
      `The perpd at ${address} runs the profile ${body.profile}, not ${config.profile}.\n  Ask it with --profile ${body.profile}, or name the other's port with --port N`,
      exitCodes.notRunning,
    )
  }
  return body
}

/**
 * Whether a daemon runs on this configuration's journal; its commands then go through it, and the file is left alone.
 *
 * @throws what reading its token throws: a daemon is there, and it cannot be asked.
 */
export async function isRunning(config: Config): Promise<boolean> {
  try {
    return (await askStatus(config)).journal.path === config.journal.path
  } catch (error) {
    // Another daemon, or another program: the journal's own lock says whether it is free.
    if (error instanceof CommandError && error.exitCode === exitCodes.notRunning) return false
    throw error
  }
}

/**
 * Where the facts of each market come from, by the running daemon.
 *
 * @throws CommandError with exit code 3 when no perpd answers.
 */
export async function askMarkets(config: Config): Promise<readonly MarketStanding[]> {
  const { body } = await ask(config, 'read', '/api/markets')
  if (!Array.isArray(body)) throw stranger(addressOf(config))
  return body as readonly MarketStanding[]
}

/**
 * Sends a command; gives the daemon's sentence.
 *
 * @throws CommandError when it is refused, or with exit code 3 when no perpd answers.
 */
export async function command(config: Config, path: string, body: object): Promise<string> {
  const { status, body: answer } = await ask(config, 'operate', path, body)
  if (!isRecord(answer)) throw stranger(addressOf(config))
  if (status === 200 && typeof answer.statement === 'string') return answer.statement
  const isAbsent = /_(UNKNOWN|NOT_FOUND)$/.test(String(answer.error))
  throw new CommandError(
    `perpd refuses: ${String(answer.message)} (${String(answer.error)})`,
    isAbsent ? exitCodes.notFound : exitCodes.error,
  )
}

async function ask(
  config: Config,
  role: Role,
  path: string,
  body?: object,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const address = addressOf(config)
  let answer: Response
  try {
    // A program that is no perpd is sent no token.
    const live = await fetch(`${address}/livez`, {
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
    const word: unknown = await live.json().catch(() => undefined)
    if (!isRecord(word) || !('ok' in word || 'error' in word)) throw stranger(address)
    answer = await fetch(`${address}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        authorization: `Bearer ${tokenOf(config, role, address).reveal()}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      redirect: 'error',
      signal: AbortSignal.timeout(TIMEOUT_MS),
    })
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof DOMException)) throw error
    throw new CommandError(
      `No perpd answers at ${address} (${causeOf(error)}).\n  Start it with: perpd run (in a checkout: npm start). When it serves another port, say which: --port N. Orders are readable without it: perpd orders`,
      exitCodes.notRunning,
    )
  }
  if (answer.status === 401) {
    throw new CommandError(
      `The perpd at ${address} does not know the token of ${config.control.tokenFile}: it was started with another one.\n  Name its file with --control.tokenFile FILE`,
      exitCodes.error,
    )
  }
  try {
    return { status: answer.status, body: await answer.json() }
  } catch {
    throw stranger(address)
  }
}

function tokenOf(config: Config, role: Role, address: string): Secret {
  const path = tokenFileOf(config, role)
  if (existsSync(path)) return readToken(config, role)
  throw new CommandError(
    `The perpd at ${address} asks for a token, and there is none at ${path}.\n  It keeps its tokens elsewhere: name the file with --control.tokenFile FILE, or run this where the daemon was started.`,
    exitCodes.error,
  )
}

function stranger(address: string): CommandError {
  return new CommandError(
    `Something answers at ${address}, but it is no perpd.\n  Say where the daemon serves: --port N`,
    exitCodes.notRunning,
  )
}

function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  if (cause instanceof Error && 'code' in cause) return String(cause.code)
  return reasonOf(error)
}

function isStatus(body: unknown): body is StatusBody {
  return isRecord(body) && 'notReady' in body && 'tradingState' in body
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
