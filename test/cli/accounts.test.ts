/** Commands of the command line for one, some or all of several accounts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { accountModeOf } from '../../src/cli/call/accountModes.ts'
import { commands } from '../../src/cli/commandTable.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import type { MountAccount } from '../../src/control/deskRoutes.ts'
import { type ControlServer, createDeskServer } from '../../src/control/server.ts'
import { writeAddress } from '../../src/daemon/controlAddress.ts'
import { openTokens } from '../../src/daemon/ownFiles/controlTokens.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { withAccount } from '../../src/monitor/namedAdvice.ts'
import type { EngineStatus } from '../../src/operator/port/engineStatus.ts'
import { access, engine, status } from '../control/door.ts'
import { perpd } from './run.ts'

const options = { version: '0.1.0', profile: 'paper', chain: 'arbitrum' }
const names = ['alpha', 'beta', 'gamma']
let cwd = ''
let server: ControlServer
let leave: () => void
let asked: string[] = []
let isHalted = false

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-cli-accounts-'))
  asked = []
  isHalted = false
  writeFileSync(
    join(cwd, 'perpd.json'),
    JSON.stringify({ accounts: Object.fromEntries(names.map((name) => [name, {}])) }),
  )
  const { config } = loadConfig({ argv: [], env: {}, cwd })
  const { isMetricsOpen, isHealthOpen, requestsPerSecond, ...own } = access
  const verdict = { ok: true, reasons: [] }
  const killed: Partial<EngineStatus> = {
    kill: { outcome: 'done', endedAtMs: 2, startedAtMs: 1 } as never,
  }
  const tokens = openTokens(config)
  server = await createDeskServer({
    ...{ host: '127.0.0.1', port: 0, tokens, isMetricsOpen, isHealthOpen, requestsPerSecond },
    metrics: createMetrics(options),
    accounts: names.map((name) => ({
      name,
      fault: () => (name === 'gamma' ? 'its journal is full' : undefined),
      serve: (mount: MountAccount) => {
        if (name === 'gamma') return
        mount({
          ...own,
          metrics: createMetrics({ ...options, isOfAccount: true }),
          health: { live: () => verdict, ready: () => verdict },
          engine: {
            ...engine,
            status: () => ({ ...status, ...(asked.includes(`${name} kill`) ? killed : {}) }),
            operate: (command: { readonly type: string }) => {
              asked.push(`${name} ${command.type}`)
              const refusal = { ok: false, code: 'TRADING_HALTED', reason: 'trading is halted' } as const
              return Promise.resolve(isHalted ? refusal : ({ ok: true, statement: 'it is done' } as const))
            },
          },
        })
      },
    })),
  })
  leave = writeAddress(config, server.localUrl)
})
afterEach(async () => {
  leave()
  await server.close()
  rmSync(cwd, { recursive: true })
})

test('a command that changes something and names no account is refused with the names, and nothing is sent', async () => {
  for (const argv of [
    ['trading', 'halted'],
    ['strategies', 'pause', 'eth-trend'],
    ['limits', 'apply'],
    ['close', 'ETH', 'long', '--yes'],
  ]) {
    const ran = await perpd(cwd, argv)
    expect(ran.code, argv.join(' ')).toBe(4)
    expect(ran.err, argv.join(' ')).toContain('alpha, beta, gamma')
  }
  expect(asked).toEqual([])
})

test('a command reaches the accounts that it names, and no other', async () => {
  expect((await perpd(cwd, ['trading', 'halted', '--account', 'beta'])).code).toBe(0)
  expect(asked).toEqual(['beta trading'])
  const both = await perpd(cwd, ['trading', 'halted', '--account', 'beta,alpha'])
  expect(both.out).toMatch(/^account beta\n.*\n\naccount alpha\n/)
  expect(asked.slice(1)).toEqual(['beta trading', 'alpha trading'])
})

test('one account that does not run keeps no other from its turn, and the exit code says so', async () => {
  const ran = await perpd(cwd, ['trading', 'halted', '--account', 'all'])
  expect(asked).toEqual(['alpha trading', 'beta trading'])
  expect(ran.code).not.toBe(0)
  expect(ran.err).toContain('its journal is full')
})

test('a kill without a name is for all accounts at once', async () => {
  const ran = await perpd(cwd, ['kill', '--yes'])
  expect(asked.toSorted()).toEqual(['alpha kill', 'beta kill'])
  expect(ran.out).toMatch(/^alpha: /m)
  expect(ran.out).toMatch(/^beta: /m)
  expect(ran.err).toMatch(/^gamma: .*journal is full/m)
  expect(ran.code).not.toBe(0)
})

test('what is read is of all accounts, in JSON by their names', async () => {
  const text = await perpd(cwd, ['status', '--account', 'alpha,beta'])
  expect(text.out.match(/^account \w+$/gm)).toEqual(['account alpha', 'account beta'])
  const body: unknown = JSON.parse((await perpd(cwd, ['status', '--json'])).out)
  expect(body).toMatchObject({
    alpha: { state: 'running' },
    beta: { state: 'running' },
    gamma: { error: expect.stringContaining('its journal is full') as unknown },
  })
  expect((await perpd(cwd, ['status', '--account', 'beta', '--json'])).out).toContain('"state": "running"')
})

test('check and doctor look at each account, and say what all share once', async () => {
  const check = await perpd(cwd, ['check', '--account', 'alpha,beta'])
  expect(check.out.match(/^account \w+$/gm)).toEqual(['account alpha', 'account beta'])
  const { out } = await perpd(cwd, ['doctor', '--json', '--control.port=0'])
  const { findings } = JSON.parse(out) as { readonly findings: readonly { readonly check: string }[] }
  const checks = findings.map((finding) => finding.check)
  expect(checks.filter((each) => each.endsWith(' key'))).toEqual(['alpha key', 'beta key', 'gamma key'])
  expect(checks.filter((each) => each === 'node')).toHaveLength(1)
})

test('an unknown account, and rows of several for a spreadsheet, are refused', async () => {
  const unknown = await perpd(cwd, ['status', '--account', 'alpa'])
  expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining('alpha?')])
  expect(await perpd(cwd, ['trades', '--csv'])).toMatchObject({ code: 4, out: '' })
  writeFileSync(join(cwd, 'perpd.json'), '{}')
  expect((await perpd(cwd, ['status', '--account', 'alpha'])).code).toBe(4)
})

test('every command that an operator sends chooses among accounts', () => {
  const sent = commands.filter(({ name }) => accountModeOf(name, false) === undefined)
  const without = sent.filter(({ accounts }) => accounts === undefined).map(({ name }) => name)
  expect(without).toEqual([
    ...['init', 'doctor', 'run', 'standby', 'paper', 'config', 'console'],
    ...['strategies describe', 'strategies new', 'strategies test'],
    ...['data get', 'record', 'data import', 'data list', 'data check', 'data export', 'notify test'],
    ...['keys new', 'keys import', 'message', 'fleet', 'fleet move', 'fleet drain', 'version', 'completion'],
  ])
})

test('the way out of a refusal names the account that refused, also of several', async () => {
  isHalted = true
  const one = await perpd(cwd, ['cancel', '7944b4ff', '--no-wait', '--account', 'beta'])
  expect(one.err).toMatch(/perpd trading --account beta\sactive/)
  const two = await perpd(cwd, ['cancel', '7944b4ff', '--no-wait', '--account', 'alpha,beta'])
  expect(two.err).toMatch(/--account alpha\sactive.*perpd trading --account beta\sactive/s)
  expect(two.out).not.toContain('--account')
})

test('advice names the account behind each command that has accounts, once, and behind no other', () => {
  for (const { name, accounts } of commands) {
    // `perpd trades` may be a sentence; the others are of the process where nobody names an account.
    const isLeft = name === 'trades' || accounts === 'any' || accounts === 'named-without-folder'
    const said = `Do it (perpd ${name} X --by NAME), then wait.`
    const expected =
      accounts === undefined || isLeft
        ? said
        : `Do it (perpd ${name} --account alpha X --by NAME), then wait.`
    expect(withAccount(said, 'alpha')).toBe(expected)
    expect(withAccount(expected, 'alpha')).toBe(expected)
    expect(withAccount(said, undefined)).toBe(said)
  }
  expect(withAccount('resume:\n  perpd strategies\n  resume x', 'alpha')).toContain(
    'resume --account alpha x',
  )
  expect(withAccount('perpd openly trades; perpd kill --close --account beta', 'alpha')).not.toContain(
    'alpha',
  )
})
