/** The console behind its door, and a browser before it: for tests over real sockets. */
import { request } from 'node:http'
import type { ConsoleSettings } from '../../src/control/console/webConsole.ts'
import { type ControlOptions, type ControlServer, createControlServer } from '../../src/control/server.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { access, engine } from './door.ts'

/** An answer to one request. */
export interface Answer {
  readonly status: number
  readonly text: string
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Of a refusal. */
  readonly error: string | undefined
  /** The session's cookie, as a browser would send it back. */
  readonly cookie: string | undefined
  /** The session's other half, as a page keeps it. */
  readonly pageKey: string | undefined
}

/** Both clocks of the console, moved by hand. */
export function handClock() {
  let ms = 1_800_000_000_000
  let backMs = 0
  return {
    now: () => ms - backMs,
    monotonicMs: () => ms,
    pass(forMs: number): void {
      ms += forMs
    },
    /** Sets the wall clock back; time runs on. */
    setBack(byMs: number): void {
      backMs += byMs
    },
  }
}

/** A control port with a console of these settings, or without one. */
export function openConsole(
  settings: ConsoleSettings | undefined,
  changes: Partial<ControlOptions> = {},
): Promise<ControlServer> {
  return createControlServer({
    host: '127.0.0.1',
    port: 0,
    engine,
    metrics: createMetrics({ version: '0.1.0', profile: 'paper', chain: 'arbitrum' }),
    health: { live: () => ({ ok: true, reasons: [] }), ready: () => ({ ok: true, reasons: [] }) },
    ...access,
    ...(settings === undefined ? {} : { console: settings }),
    ...changes,
  })
}

/** One request with a path that nobody tidies and headers of one's own. */
export function ask(
  { port }: Pick<ControlServer, 'port'>,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>> = {},
  body?: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers: { ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () => {
        const { error, pageKey } = (text.startsWith('{') ? JSON.parse(text) : {}) as {
          readonly error?: string
          readonly pageKey?: string
        }
        const [cookie] = response.headers['set-cookie'] ?? []
        resolve({
          status: response.statusCode ?? 0,
          text,
          headers: response.headers,
          error,
          cookie: cookie?.split(';')[0],
          pageKey,
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** A session with what its requests carry. */
export interface Browser {
  readonly cookie: string
  /** Of requests that only read. */
  readonly reading: Readonly<Record<string, string>>
  /** Of requests that change something, as the console's page sends them. */
  readonly writing: Readonly<Record<string, string>>
}

/** Begins a session with a token. */
export async function logIn(server: ControlServer, token: string): Promise<Browser> {
  return browserOf(server, await begin(server, '/console/session', { token }))
}

/** Trades in a token, or the key of a link. */
export function begin(
  server: Pick<ControlServer, 'port'>,
  path: '/console/session' | '/console/enter',
  body: { readonly token: string } | { readonly key: string },
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer> {
  return ask(server, 'POST', path, { 'content-type': 'application/json', ...headers }, JSON.stringify(body))
}

/** What a browser and its page send after this answer to a log-in. */
export function browserOf(server: ControlServer, { cookie = '', pageKey = '' }: Answer): Browser {
  const reading = { cookie, 'x-perpd-page-key': pageKey, 'sec-fetch-site': 'same-origin' }
  const origin = `http://127.0.0.1:${server.port}`
  return {
    cookie,
    reading,
    writing: { ...reading, origin, 'content-type': 'application/json' },
  }
}
