/** Several accounts in one real process on the real paper venue, with faults on and kills in the middle. */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { paperSigner } from '../../src/keys/local.ts'
import {
  killLeftOver,
  type PaperHosts,
  perpd,
  type Running,
  scratch,
  until,
  writeOnceStrategy,
} from './processes.ts'

afterEach(killLeftOver)

const timeoutMs = 150_000

/** Settings of a process with these accounts in `folder`, each with the strategies of the folder. */
function writeSettings(folder: string, hosts: PaperHosts, names: readonly string[]): void {
  writeOnceStrategy(folder)
  const settings = {
    venue: { apiHosts: hosts.api, oracleHosts: hosts.oracle },
    strategies: { paths: [join(folder, 'once.yaml')] },
    control: { port: 0 },
    execution: { statusPollMs: 100, statusPollMaxMs: 500, deadlineMarginSeconds: 1 },
    signing: { minDeadlineSeconds: 2 },
    api: { requestsPerSecondPerHost: 1000 },
    log: { format: 'json' },
    accounts: Object.fromEntries(names.map((name) => [name, {}])),
  }
  writeFileSync(join(folder, 'perpd.json'), JSON.stringify(settings))
}

/** A paper venue that writes a line for each request to `file`. */
async function startCounted(folder: string, args: readonly string[] = []) {
  const file = join(folder, 'requests')
  writeFileSync(file, '')
  const port = 20_000 + (process.pid % 10_000)
  const count = join(import.meta.dirname, '..', 'support', 'countRequests.ts')
  const running = perpd(
    [
      'paper',
      '--print-hosts',
      `--paper.port=${port}`,
      `--paper.stateFile=${join(folder, 'world.json')}`,
      ...args,
    ],
    { env: { NODE_OPTIONS: `--import ${count}`, COUNT_TO: file, COUNT_PORT: String(port) } },
  )
  const { arbitrum } = await until(
    'the paper venue prints its addresses',
    () => {
      try {
        return JSON.parse(running.stdout()) as {
          readonly arbitrum: PaperHosts & { readonly control: string }
        }
      } catch {
        return undefined
      }
    },
    { seen: running.said },
  )
  const requests = () =>
    readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => /^(?:GET|POST) /.test(line))
  return { running, hosts: arbitrum, control: arbitrum.control, requests }
}

/** Runs one command in the folder to its end. */
async function command(folder: string, ...args: readonly string[]) {
  const running = perpd(args, { cwd: folder })
  return { code: await running.ended, out: running.stdout(), said: running.said() }
}

/** The intents of an account's journal. */
async function intentsOf(folder: string, name: string) {
  const journal = openSqliteReader(join(folder, 'var', 'paper', `journal.${name}.db`))
  try {
    return await journal.intents()
  } finally {
    await journal.close()
  }
}

/** Accounts whose event of this name was logged. */
function accountsWith(daemon: Running, event: string): ReadonlySet<unknown> {
  const found = daemon
    .stdout()
    .split('\n')
    .flatMap((line) => {
      try {
        const row = JSON.parse(line) as Readonly<Record<string, unknown>>
        return row.event === event ? [row.account] : []
      } catch {
        return []
      }
    })
  return new Set(found)
}

test('three accounts trade through faults and a kill -9, each order once; a kill of one leaves the others trading', {
  timeout: 400_000,
}, async () => {
  const folder = scratch()
  const names = ['alpha', 'beta', 'gamma']
  const venue = await startCounted(folder.path, [
    '--paper.keeperDelayMs=1500',
    '--paper.orderDeadlineSeconds=30',
  ])
  writeSettings(folder.path, venue.hosts, names)
  // Every second answer of a submit is lost on its way.
  await fetch(`${venue.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ submit: 'accept-and-never-answer' }),
  })
  const first = perpd(['run', '--api.timeoutMs=1500'], { cwd: folder.path })
  await until('an order is on its way', () => accountsWith(first, 'order.moved').size > 0 || undefined, {
    seen: first.said,
    timeoutMs,
  })
  first.child.kill('SIGKILL')
  await first.ended
  await fetch(`${venue.control}/faults`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ submit: 'none' }),
  })
  const daemon = perpd(['run'], { cwd: folder.path })
  await until(
    'every account has its position',
    () => accountsWith(daemon, 'account.positions').size === 3 || undefined,
    {
      seen: daemon.said,
      timeoutMs,
    },
  )
  const wanted = await Promise.all(names.map((name) => intentsOf(folder.path, name)))
  const digests = wanted
    .flat()
    .flatMap(({ attempts }) => attempts.flatMap(({ armed }) => armed?.digest ?? []))
  expect(new Set(digests).size).toBe(digests.length)
  const sent = (await (await fetch(`${venue.control}/record`)).json()) as readonly {
    readonly digest: string
  }[]
  // Each message reached the venue once, and each is in the journal of one account.
  expect(new Set(sent.map(({ digest }) => digest)).size).toBe(sent.length)
  for (const { digest } of sent) expect(digests).toContain(digest)
  const positions = JSON.parse((await command(folder.path, 'positions', '--json')).out) as Record<
    string,
    unknown[]
  >
  expect(Object.entries(positions).map(([name, rows]) => [name, rows.length])).toEqual(
    names.map((name) => [name, 1]),
  )

  const refused = await command(folder.path, 'trading', 'halted')
  expect(refused.code).toBe(4)
  expect(refused.said).toContain('alpha, beta, gamma')
  const killed = await command(folder.path, 'kill', '--close', '--yes', '--account', 'beta')
  expect(killed.code, killed.said).toBe(0)
  const status = JSON.parse((await command(folder.path, 'status', '--json')).out) as Record<
    string,
    { readonly tradingState: string; readonly positions: readonly unknown[] }
  >
  expect(
    Object.entries(status).map(([name, { tradingState, positions }]) => [
      name,
      tradingState,
      positions.length,
    ]),
  ).toEqual([
    ['alpha', 'active', 1],
    ['beta', 'halted', 0],
    ['gamma', 'active', 1],
  ])
  const journals = await command(folder.path, 'journal', 'verify')
  expect(journals.code, journals.said).toBe(0)

  // A kill that names nobody is for all of them.
  const all = await command(folder.path, 'kill', '--close', '--yes')
  expect(all.code, all.said).toBe(0)
  const after = JSON.parse((await command(folder.path, 'positions', '--json')).out) as Record<
    string,
    unknown[]
  >
  expect(Object.values(after).map((rows) => rows.length)).toEqual([0, 0, 0])
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
  folder.remove()
})

test('an account whose journal cannot be opened does not start, and the others trade', {
  timeout: 200_000,
}, async () => {
  const folder = scratch()
  const venue = await startCounted(folder.path)
  writeSettings(folder.path, venue.hosts, ['alpha', 'beta'])
  const first = perpd(['run'], { cwd: folder.path })
  await until('both are ready', () => accountsWith(first, 'daemon.ready').size === 2 || undefined, {
    seen: first.said,
    timeoutMs,
  })
  first.child.kill('SIGTERM')
  await first.ended
  writeFileSync(join(folder.path, 'var', 'paper', 'journal.beta.db'), 'this is no journal')
  const daemon = perpd(['run'], { cwd: folder.path })
  await until('alpha is ready', () => accountsWith(daemon, 'daemon.ready').has('alpha') || undefined, {
    seen: daemon.said,
    timeoutMs,
  })
  expect([...accountsWith(daemon, 'daemon.failed')]).toEqual(['beta'])
  const status = await command(folder.path, 'status', '--json')
  expect(status.code).not.toBe(0)
  expect(JSON.parse(status.out)).toMatchObject({
    alpha: { state: 'running' },
    beta: { error: expect.stringContaining('does not run') },
  })
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
  folder.remove()
})

test('two accounts whose key files hold one key are refused when the keys are opened, and nothing starts', {
  timeout: 100_000,
}, async () => {
  const folder = scratch()
  const state = join(folder.path, 'var', 'paper')
  writeSettings(folder.path, { api: [], oracle: [], rpc: [] }, ['alpha', 'beta'])
  mkdirSync(state, { recursive: true })
  paperSigner(join(state, 'account.alpha.key'))
  copyFileSync(join(state, 'account.alpha.key'), join(state, 'account.beta.key'))
  const daemon = perpd(['run'], { cwd: folder.path })
  expect(await daemon.ended, daemon.said()).toBe(4)
  expect(daemon.said()).toContain('alpha and beta')
  expect(readdirSync(state).filter((name) => name.startsWith('journal'))).toEqual([])
  folder.remove()
})

/** Routes of the venue that know no account. */
const marketRoutes = /\/(?:markets|tokens|prices|signed_prices|candles|apy|rates)\b/

test('four accounts read the markets no more often than one', { timeout: 300_000 }, async () => {
  const perRead: number[] = []
  for (const names of [['alpha'], ['alpha', 'beta', 'gamma', 'delta']]) {
    const folder = scratch()
    const venue = await startCounted(folder.path)
    writeSettings(folder.path, venue.hosts, names)
    const daemon = perpd(['run'], { cwd: folder.path })
    await until(
      'every account has its position',
      () => accountsWith(daemon, 'account.positions').size === names.length || undefined,
      {
        seen: daemon.said,
        timeoutMs,
      },
    )
    const begun = venue.requests().length
    const of = (lines: readonly string[]) => ({
      markets: lines.filter((line) => marketRoutes.test(line)),
      accounts: lines.filter((line) => /\/positions\b/.test(line)),
    })
    const seen = await until(
      'the accounts were read often',
      () => {
        const lines = of(venue.requests().slice(begun))
        return lines.accounts.length >= 12 * names.length ? lines : undefined
      },
      { seen: daemon.said, timeoutMs },
    )
    // Reads of an account stand for the time that passed: each account is read as often as a single one.
    perRead.push(seen.markets.length / (seen.accounts.length / names.length))
    daemon.child.kill('SIGTERM')
    await daemon.ended
    venue.running.child.kill('SIGTERM')
    await venue.running.ended
    folder.remove()
  }
  const [one = 0, four = 0] = perRead
  expect(one).toBeGreaterThan(1)
  expect(four, `market requests a read of an account: ${one} with one, ${four} with four`).toBeLessThan(
    1.5 * one,
  )
})
