/** `perpd doctor`, against a paper venue in a process of its own, a daemon, and what is broken on purpose. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createListener } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { allowanceFindings, approvalFinding, balanceFinding } from '../../src/cli/doctor/accountChecks.ts'
import { agreement, endpointFinding } from '../../src/cli/doctor/chainChecks.ts'
import { bounded, type Finding, worstOf } from '../../src/cli/doctor/finding.ts'
import { hostFinding, withOthers } from '../../src/cli/doctor/hostChecks.ts'
import { paperSigner } from '../../src/keys/local.ts'
import { arbitrum } from '../../src/protocol/chains/arbitrum.ts'
import { killLeftOver, perpd as start, startPaper, until } from '../world/processes.ts'
import { perpd } from './run.ts'

const shipped = `--strategies.paths=${resolve(import.meta.dirname, '../../strategies')}`
let venue: Awaited<ReturnType<typeof startPaper>>
let cwd: string
beforeAll(async () => {
  venue = await startPaper()
})
afterAll(killLeftOver)
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-doctor-'))
})
afterEach(() => rmSync(cwd, { recursive: true, force: true }))

async function examined(...argv: string[]) {
  const { code, out } = await perpd(cwd, ['doctor', '--json', ...argv])
  const { worst, findings } = JSON.parse(out) as { worst: string; findings: readonly Finding[] }
  const of = (check: string) => findings.filter((each) => each.check === check)
  return { code, worst, findings, of }
}

/** Flags of a paper profile whose venue is the process beside it. */
const beside = () => [
  shipped,
  '--control.port=0',
  ...venue.hosts.api.map((each) => `--venue.apiHosts=${each}`),
  ...venue.hosts.oracle.map((each) => `--venue.oracleHosts=${each}`),
]

test('before the first start on paper all passes, and nothing is made', async () => {
  const { code, worst, of } = await examined(shipped, '--control.port=0')
  expect([code, worst]).toEqual([0, 'pass'])
  expect(of('journal')[0]?.statement).toContain('the first start creates it')
  expect(of('venue')[0]?.statement).toContain('not checked')
  expect((await perpd(cwd, ['orders'])).code).toBe(2)
})

test('who would wait for a journal beside a paper venue of its own is refused by doctor, check and run with both settings, and not where the venue is served', async () => {
  const waits = [
    '--journal.standby',
    '--journal.url=postgres://perpd@127.0.0.1:1/perpd',
    shipped,
    '--control.port=0',
  ]
  const both = /journal\.standby is true, and venue\.apiHosts is empty: .*perpd paper --print-config/
  const { worst, of } = await examined(...waits)
  expect(worst).toBe('fail')
  expect(of('venue')).toEqual([
    expect.objectContaining({ level: 'fail', statement: expect.stringMatching(both) }),
  ])
  for (const command of ['run', 'check']) {
    const { code, err } = await perpd(cwd, [command, ...waits])
    expect([command, code, err.replaceAll(/\s+/g, ' ')]).toEqual([command, 4, expect.stringMatching(both)])
  }
  expect((await perpd(cwd, ['check', ...waits, ...beside()])).code).toBe(0)
  expect((await examined(...waits, ...beside())).of('venue')).toEqual([])
})

test('a venue and a node beside it are asked: hosts, clock, head, past, router, wallet and allowances', async () => {
  const [rpc = ''] = venue.hosts.rpc
  mkdirSync(join(cwd, 'var/paper'), { recursive: true })
  const { address } = paperSigner(join(cwd, 'var/paper/account.key'))
  const { worst, of, findings } = await examined(...beside(), `--rpc.http=${rpc}`, `--rpc.http=${rpc}`)
  expect(findings.filter(({ level }) => level === 'fail')).toEqual([])
  expect(worst).toBe('pass')
  expect(of('host').length).toBe(venue.hosts.api.length + venue.hosts.oracle.length)
  // All of them on one port: each is told by what it is for, and by the whole of its address.
  const told = of('host').map(({ statement }) => statement.replace(/ answers in .*, clock as ours$/, ''))
  const without = (url: string) => url.replace(/^http:\/\//, '')
  expect(told).toEqual([
    ...venue.hosts.api.map((each) => `application API at ${without(each)}`),
    ...venue.hosts.oracle.map((each) => `oracle at ${without(each)}`),
  ])
  for (const { statement } of of('endpoint'))
    expect(statement).toMatch(/block \d+, .* old; (?:archive node|history of)/)
  // A block may come between the two questions.
  expect(of('endpoints')[0]?.statement).toMatch(/^the heads are (0 blocks|1 block) apart$/)
  expect(of('router')[0]?.statement).toContain('has code of the hash')
  expect(of('balances')[0]?.statement).toMatch(new RegExp(`^${address} has .*USDC`))
  expect(of('allowances')[0]?.statement).toContain('USDC')
})

test('a node of another chain, a host that is away, a secret for all, each fail with a remedy, and a port in use warns', async () => {
  const stranger = createServer((request, response) => {
    request.resume().on('end', () => response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result: '0x1' })))
  }).listen(0, '127.0.0.1')
  const taken = createListener().listen(0, '127.0.0.1')
  await Promise.all([stranger, taken].map((each) => new Promise((done) => each.once('listening', done))))
  const portOf = (server: { address(): unknown }) => (server.address() as AddressInfo).port
  mkdirSync(join(cwd, 'var/paper'), { recursive: true })
  const token = join(cwd, 'var/paper/control.token')
  writeFileSync(token, 'x'.repeat(43))
  chmodSync(token, 0o644)
  const { code, worst, of } = await examined(
    shipped,
    `--control.port=${portOf(taken)}`,
    '--venue.apiHosts=http://127.0.0.1:9/v1',
    '--venue.oracleHosts=http://127.0.0.1:9',
    `--rpc.http=http://127.0.0.1:${portOf(stranger)}`,
  )
  stranger.close()
  taken.close()
  expect([code, worst]).toEqual([1, 'fail'])
  for (const check of ['host', 'endpoint', 'secrets']) {
    expect(of(check)[0], check).toMatchObject({ level: 'fail', remedy: expect.stringMatching(/\w/) })
  }
  // A daemon would start all the same, at a free one.
  expect(of('port')[0]).toMatchObject({ level: 'warn', remedy: expect.stringMatching(/\w/) })
  expect(of('host').map(({ statement }) => statement.split(': ')[0])).toEqual([
    'application API at 127.0.0.1:9/v1',
    'oracle at 127.0.0.1:9',
  ])
  expect(of('secrets')[0]?.statement).toContain('control.token')
})

test('a configuration that cannot be used is the finding, with exit code 4', async () => {
  const { code, of } = await examined('--risk.maxOrderSizeUsd=much')
  expect(code).toBe(4)
  expect(of('configuration')[0]).toMatchObject({ level: 'fail', statement: expect.stringContaining('much') })
})

test('beside a running daemon it asks the venue inside it, and tells its lease', async () => {
  const daemon = start(['run', shipped, '--control.port=0'], { cwd })
  await until('it runs', () => (/strategies are running|"ready"/.test(daemon.said()) ? true : undefined), {
    seen: daemon.said,
  })
  const { of, findings } = await examined(shipped, '--control.port=0')
  expect(findings.filter(({ level }) => level === 'fail')).toEqual([])
  expect(of('daemon')[0]?.statement).toContain('running for')
  expect(of('journal')[0]?.statement).toMatch(/schema \d+, lease 1 of 0x/)
  expect(of('host').length).toBeGreaterThan(1)
  expect(of('balances')[0]?.level).toBe('pass')
  daemon.child.kill('SIGKILL')
  await daemon.ended
  const after = await examined(shipped, '--control.port=0')
  expect(after.of('daemon')[0]).toMatchObject({
    level: 'warn',
    statement: expect.stringContaining(`pid ${daemon.child.pid}`),
  })
})

test('a clock is told of at 2 seconds and fails at 10', () => {
  const levels = [0, 1_999, -2_000, 9_999, 10_000, -60_000].map((skew) => hostFinding('h', 5, skew).level)
  expect(levels).toEqual(['pass', 'pass', 'warn', 'warn', 'fail', 'fail'])
  expect(hostFinding('h', 3_000, 0).level).toBe('warn')
  // The daemon's own venue has a time of its own, which a server of this machine cannot mend.
  const remedies = [false, true].map((isOwnVenue) => hostFinding('h', 5, 86_400_000, isOwnVenue).remedy ?? '')
  expect(remedies.map((remedy) => remedy.includes('timedatectl'))).toEqual([true, false])
  expect(remedies[1]).toContain('paper.stateFile')
})

test('one host that is down is a warning while another of its service answers', () => {
  const [up, down] = [hostFinding('up', 5, 0), { check: 'host', level: 'fail', statement: 'down' } as const]
  expect(withOthers([up, down]).map(({ level }) => level)).toEqual(['pass', 'warn'])
  expect(withOthers([down, down]).map(({ level }) => level)).toEqual(['fail', 'fail'])
})

test('an endpoint fails for another chain and an old head, and is told of for a short past', () => {
  const good = {
    name: 'n',
    tookMs: 5,
    chainId: 42161,
    head: { number: 9, timeSeconds: 1_000 },
    depth: 10_000,
  }
  const level = (changes: object, now = 1_001) => endpointFinding({ ...good, ...changes }, 42161, now).level
  expect([level({}), level({ chainId: 1 }), level({}, 1_200), level({ depth: 0 })]).toEqual([
    'pass',
    'fail',
    'fail',
    'warn',
  ])
  expect(level({ lacksTag: 'finalized' })).toBe('fail')
  const later = { ...good, name: 'm', head: { number: 99, timeSeconds: 1_031 } }
  expect(agreement([good, later])[0]).toMatchObject({
    level: 'warn',
    statement: expect.stringContaining('n is behind'),
  })
})

test('a wallet without the fee token fails, and so does a fee token that the venue may not take', () => {
  const { feeToken } = arbitrum
  const usdc = { ...feeToken, balance: 5n * 10n ** 6n }
  const account = `0x${'11'.repeat(20)}` as const
  expect(balanceFinding([usdc], arbitrum, account, false).level).toBe('pass')
  expect(balanceFinding([{ ...usdc, balance: 0n }], arbitrum, account, false).level).toBe('fail')
  const other = { symbol: 'WETH', address: account, decimals: 18 }
  const levels = (fee: bigint, weth: bigint, held: bigint) =>
    allowanceFindings(
      [
        { ...feeToken, allowance: fee },
        { ...other, allowance: weth },
      ],
      [usdc, { ...other, balance: held }],
      arbitrum,
    ).map(({ level }) => level)
  expect(levels(1n, 1n, 1n)).toEqual(['pass'])
  expect(levels(0n, 1n, 1n)).toEqual(['fail'])
  expect(levels(1n, 0n, 1n)).toEqual(['warn'])
  expect(levels(1n, 0n, 0n)).toEqual(['pass'])
})

test('an approval is told of before it ends, and fails when nothing is left of it', () => {
  const status = {
    isActive: true,
    maxAllowedCount: 300n,
    currentActionsCount: 0n,
    remainingActions: 300n,
    expiresAtSeconds: 1_000_000,
    approvalNonce: 0n,
    multichainApprovalNonce: 0n,
    integrationId: null,
  }
  const level = (changes: object, isWaiting = false) =>
    approvalFinding({ ...status, ...changes }, isWaiting, 100_000).level
  expect(level({})).toBe('pass')
  expect(level({ remainingActions: 49n })).toBe('warn')
  expect(level({ expiresAtSeconds: 150_000 })).toBe('warn')
  expect(level({ expiresAtSeconds: 100_000 })).toBe('fail')
  expect(level({ isActive: false })).toBe('fail')
  expect(level({ isActive: false }, true)).toBe('pass')
})

test('a check that does not end is a finding when its time is over', async () => {
  const found = await bounded('slow', 'Wait.', () => new Promise(() => undefined), 1)
  expect(found).toEqual([
    { check: 'slow', level: 'fail', statement: 'no answer within 1 ms', remedy: 'Wait.' },
  ])
  expect(worstOf(found)).toBe('fail')
})
