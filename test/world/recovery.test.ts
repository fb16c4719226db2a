/** The newcomer's path on the real process: start, trade, stop, start again, die, start again; one position throughout. */
import { copyFileSync, mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { type OrderRow, perpd, type Running, until } from './processes.ts'

const shipped = resolve(import.meta.dirname, '..', '..', 'strategies')
const firstOrderMs = 60_000

const folder = folderEach((path) => {
  mkdirSync(join(path, 'strategies'))
  for (const name of ['eth-trend.yaml', 'guard.yaml', 'btc-trend.yaml']) {
    copyFileSync(join(shipped, name), join(path, 'strategies', name))
  }
})

/** The part of `/api/status` that is looked at here. */
interface Status {
  readonly state: string
  readonly account: string
  readonly positions: readonly {
    readonly positionKey: string
    readonly sizeInUsd: string
    readonly sizeInTokens: string
    readonly increasedAtSeconds: number
  }[]
  readonly symbols: Readonly<Record<string, string>>
  readonly openIntents: readonly unknown[]
}

/** `npm start` in a folder of its own: everything as shipped, but a free control port. */
function start(): Running {
  return perpd(['run', '--control.port=0', '--log.format=json'], { cwd: folder.path })
}

/** The first line of an event, or undefined while there is none. */
function said(daemon: Running, event: string): Record<string, unknown> | undefined {
  const line = daemon
    .stdout()
    .split('\n')
    .find((each) => each.includes(`"event":"${event}"`))
  return line === undefined ? undefined : (JSON.parse(line) as Record<string, unknown>)
}

async function ready(daemon: Running): Promise<void> {
  await until('the daemon is ready', () => said(daemon, 'daemon.ready'), { seen: daemon.said })
}

async function statusOf(daemon: Running): Promise<Status> {
  const url = String(said(daemon, 'daemon.started')?.status_url)
  const strange = await fetch(`${url}/api/status`)
  expect(strange.status).toBe(401)
  const token = readFileSync(join(folder.path, 'var', 'paper', 'control.token.read'), 'utf8').trim()
  const answer = await fetch(`${url}/api/status`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
  return (await answer.json()) as Status
}

async function orders(): Promise<readonly OrderRow[]> {
  const running = perpd(['orders', '--json'], { cwd: folder.path })
  expect(await running.ended, running.said()).toBe(0)
  return JSON.parse(running.stdout()) as readonly OrderRow[]
}

/** What of a position stays the same while its price moves. */
function heldOf({ account, positions, symbols }: Status): unknown {
  const held = positions.map(({ positionKey, sizeInUsd, sizeInTokens, increasedAtSeconds }) => ({
    positionKey,
    sizeInUsd,
    sizeInTokens,
    increasedAtSeconds,
  }))
  return { account, held, symbols: Object.values(symbols) }
}

test('a first start trades within a minute; a stop and a kill are both followed by a start that holds the same position', {
  timeout: 240_000,
}, async () => {
  const startedMs = performance.now()
  const first = start()
  await until('an increase is filled', () => filled(first), {
    timeoutMs: firstOrderMs,
    seen: first.said,
  })
  const opened = await until(
    'the position is seen',
    async () => {
      const status = await statusOf(first)
      return status.positions.length > 0 ? status : undefined
    },
    { timeoutMs: firstOrderMs, seen: first.said },
  )
  expect(performance.now() - startedMs).toBeLessThan(firstOrderMs)
  expect(opened.positions).toHaveLength(1)
  expect(Object.values(opened.symbols)).toEqual(['ETH/USD [WETH-USDC]'])
  expect(said(first, 'daemon.resumed'), 'a first start resumes nothing').toBeUndefined()
  const [order, ...others] = await orders()
  expect(others).toEqual([])
  expect(order).toMatchObject({
    // Filled, and its exits wait at the venue.
    status: 'resting',
    strategy: 'eth-trend',
    market: 'ETH/USD [WETH-USDC]',
    kind: 'increase',
    sizeDeltaUsd: '500000000000000000000000000000000',
  })

  first.child.kill('SIGINT')
  expect(await first.ended, first.said()).toBe(0)
  expect(said(first, 'daemon.draining')).toMatchObject({ signal: 'SIGINT', open_intents: 1 })
  expect(first.stderr()).toBe('')

  const second = start()
  await ready(second)
  expect(said(second, 'daemon.resumed')).toMatchObject({ intents: 1, open_intents: 1, unresolved: 0 })
  expect(heldOf(await statusOf(second))).toEqual(heldOf(opened))

  second.child.kill('SIGKILL')
  expect(await second.ended).toBe('SIGKILL')

  const third = start()
  await ready(third)
  expect(said(third, 'daemon.resumed')).toMatchObject({ intents: 1, open_intents: 1, unresolved: 0 })
  expect(heldOf(await statusOf(third))).toEqual(heldOf(opened))
  expect((await orders()).map(settled)).toEqual([order].map(settled))
  third.child.kill('SIGINT')
  expect(await third.ended, third.said()).toBe(0)
})

/** An order without the word whether its fill is final yet: that comes with time. */
function settled(order: OrderRow | undefined): unknown {
  return JSON.parse(
    JSON.stringify(order, (name, value) => (name === 'isProvisional' ? undefined : (value as unknown))),
  )
}

/** That the entry is filled: its exits rest from then on, so the order itself has not ended. */
function filled(daemon: Running): true | undefined {
  return said(daemon, 'order.filled')?.role === 'main' || undefined
}
