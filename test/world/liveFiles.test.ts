/** Strategy files that are edited while the real process runs, and one that is removed while it is killed again and again. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { type PaperHosts, perpd, type Running, startPaper, until } from './processes.ts'

let own: Operated
const folder = folderEach(async (path) => {
  mkdirSync(join(path, 'strategies'))
  own = await operatedIn(path)
})

const pathOf = (name: string) => join(folder.path, 'strategies', `${name}.yaml`)

/** What a file says now. */
const textOf = (name: string) => readFileSync(pathOf(name), 'utf8')

/** Opens a position and lets an order rest below the price. */
function writeRest(name: string, ...lines: readonly string[]): void {
  const kind = `kind: ${join(import.meta.dirname, 'strategies', 'rest.ts')}`
  const rest = ['market: ETH/USD [WETH-USDC]', 'size: { usd: 500, leverage: 2 }', ...lines, '']
  writeFileSync(pathOf(name), [kind, ...rest].join('\n'))
}

function writeGuard(...lines: readonly string[]): void {
  writeFileSync(pathOf('guard'), ['kind: guard', ...lines, ''].join('\n'))
}

const flags = (hosts: PaperHosts, watch: string): string[] => [
  ...own.flags(hosts).filter((flag) => !flag.startsWith('--strategies.paths=')),
  `--strategies.paths=${join(folder.path, 'strategies')}`,
  `--strategies.watch=${watch}`,
]

/** A command beside the daemon, to its end. */
async function command(hosts: PaperHosts, ...words: string[]) {
  const running = perpd([...words, ...flags(hosts, 'off')], { env: { COLUMNS: '200' } })
  return { code: await running.ended, said: running.said() }
}

/** Waits until a daemon said something. */
const heard = (daemon: Running, text: string) =>
  until(text, () => daemon.said().includes(text) || undefined, { seen: daemon.said })

const runs = ({ state }: Status) => state === 'running'

test('an edited file is taken over by SIGHUP and by command, a broken one keeps what runs, and a watched folder takes over by itself', {
  timeout: 240_000,
}, async () => {
  writeGuard('cadenceSeconds: 2')
  const { hosts } = await startPaper()
  const first = perpd(['run', ...flags(hosts, 'report')])
  await own.when('it runs', first, runs)

  writeGuard('cadenceSeconds: 3')
  await heard(first, 'nothing is changed. To apply: perpd strategies reload')
  first.child.kill('SIGHUP')
  await heard(first, 'SIGHUP: changed: guard (cadenceSeconds 2 -> 3)')
  expect(first.said().indexOf('SIGHUP: the limits in force')).toBeLessThan(
    first.said().indexOf('SIGHUP: changed'),
  )

  writeFileSync(
    pathOf('other'),
    'kind: trend\nmarket: "ETH/USD [WETH-USDC]"\nsize: { usd: -5, leverage: 2 }\n',
  )
  const broken = await command(hosts, 'strategies', 'reload', '--by', 'ann')
  expect(broken.code).toBe(4)
  expect(broken.said).toMatch(/other\.yaml:3:14: size\.usd is not valid/)
  expect(broken.said).toContain('fix: change the value')
  const noMarket = 'kind: trend\nmarket: "ETH/USD [WETH-USD]"\nsize: { usd: 5, leverage: 2 }\n'
  writeFileSync(pathOf('other'), noMarket)
  expect((await command(hosts, 'strategies', 'reload', '--by', 'ann')).said).toMatch(
    /other\.yaml:2:9: market is not a market of the venue/,
  )
  writeFileSync(pathOf('other'), noMarket.replace('WETH-USD]', 'WETH-USDC]'))
  const shown = await command(hosts, 'strategies', 'reload', '--dry-run', '--by', 'ann')
  expect([shown.code, shown.said]).toEqual([0, expect.stringContaining('new: other; nothing is changed.')])
  const taken = await command(hosts, 'strategies', 'reload', '--json', '--by', 'ann')
  expect(JSON.parse(taken.said)).toMatchObject({ statement: 'new: other', strategies: [{ change: 'added' }] })
  expect((await command(hosts, 'strategies', 'pause', 'other', '--by', 'ann')).code).toBe(0)
  first.child.kill('SIGKILL')
  await first.ended

  const second = perpd(['run', ...flags(hosts, 'apply')])
  await own.when('it runs again', second, runs)
  const listed = await command(hosts, 'strategies')
  expect(listed.said).toMatch(/other is paused, for .*: ann says: no reason given/)
  expect((await command(hosts, 'strategies', 'resume', 'other', '--by', 'ann')).code).toBe(0)
  rmSync(pathOf('other'))
  await heard(second, 'strategy files changed: removed: other (its orders and position stay)')
  second.child.kill('SIGTERM')
  expect(await second.ended).toBe(0)
})

test('a removed file that says onRemove ends as it said, whichever record of it the process is killed at', {
  timeout: 400_000,
}, async () => {
  writeGuard()
  writeRest('resting', 'cadenceSeconds: 1', 'onRemove: reduce')
  const { hosts } = await startPaper()
  const begun = perpd(['run', ...flags(hosts, 'off')])
  const isHeld = ({ positions, openIntents }: Status) =>
    positions.length === 1 && openIntents.some(({ status }) => status === 'resting')
  await own.when('a position is held and an order rests', begun, isHeld)
  begun.child.kill('SIGKILL')
  await begun.ended

  // The end of the file is durable with what is to be done about it, or neither is.
  rmSync(pathOf('resting'))
  for (const point of ['task.started:before', 'task.started:after', 'task.changed:after']) {
    const killed = perpd(['run', ...flags(hosts, 'off')], { killAt: point })
    expect(await killed.ended, killed.said()).toBe('SIGKILL')
  }
  const last = perpd(['run', ...flags(hosts, 'off')])
  await own.when(
    'nothing rests any more, and the position is held',
    last,
    ({ state, positions, openIntents }) =>
      state === 'running' && positions.length === 1 && openIntents.length === 0,
  )
  const rows = await command(hosts, 'strategies', '--json')
  expect(JSON.parse(rows.said)).toContainEqual(
    expect.objectContaining({ name: 'resting', state: 'removed, its exits close it', isRunning: false }),
  )

  // It comes back, and its next removal closes its part: by a running daemon that is killed in the middle of it.
  writeRest('resting', 'cadenceSeconds: 3600', 'onRemove: close')
  expect((await command(hosts, 'strategies', 'reload', '--by', 'ann')).code).toBe(0)
  last.child.kill('SIGKILL')
  await last.ended
  const closing = perpd(['run', ...flags(hosts, 'off')], { killAt: 'task.started:after' })
  await own.when('it runs again', closing, runs)
  rmSync(pathOf('resting'))
  closing.child.kill('SIGHUP')
  expect(await closing.ended, closing.said()).toBe('SIGKILL')
  const end = perpd(['run', ...flags(hosts, 'off')])
  await own.when(
    'no position is open',
    end,
    ({ state, positions, openIntents }) => state === 'running' && positions.length + openIntents.length === 0,
  )
  await heard(end, 'resting is wound down: it has no resting order and no position')
  end.child.kill('SIGTERM')
  expect(await end.ended).toBe(0)
})

test('a field that is set by command changes its file alone and holds from the next turn, and what is wrong changes nothing', {
  timeout: 240_000,
}, async () => {
  const before = `# my guard
kind: guard
cadenceSeconds: 2   # often
# the end
`
  writeFileSync(pathOf('guard'), before)
  const { hosts } = await startPaper()
  const first = perpd(['run', ...flags(hosts, 'off')])
  await own.when('it runs', first, runs)
  const set = (...words: string[]) =>
    command(hosts, 'strategies', 'set', 'guard', ...words, '--by', 'ann', '--yes')
  expect(await command(hosts, 'strategies', 'set', 'guard', 'cadenceSeconds', '4')).toMatchObject({
    code: 1,
    said: expect.stringContaining('To make it: --yes'),
  })
  const done = await set('cadenceSeconds', '4')
  expect([done.code, done.said]).toEqual([
    0,
    expect.stringContaining('changed: guard (cadenceSeconds 2 -> 4)'),
  ])
  const after = before.replace('cadenceSeconds: 2', 'cadenceSeconds: 4')
  expect(textOf('guard')).toBe(after)
  expect((await command(hosts, 'strategies', 'reload', '--dry-run')).said).toContain(
    'the running strategies match the files',
  )
  expect((await set('cadenceSeconds', 'often')).said).toMatch(/guard\.yaml:3:17: cadenceSeconds is not valid/)
  expect((await set('kind', 'trend')).said).toContain('(FIELD_NEEDS_RESTART)')
  expect((await set('colour', '1')).said).toContain('(FIELD_UNKNOWN)')
  expect(
    (await command(hosts, 'strategies', 'set', 'nobody', 'cadenceSeconds', '4', '--yes')).said,
  ).toContain('(STRATEGY_NOT_RUNNING)')
  expect(textOf('guard')).toBe(after)
  if (process.getuid?.() !== 0) {
    chmodSync(join(folder.path, 'strategies'), 0o500)
    expect((await set('cadenceSeconds', '5')).said).toContain('(FILE_NOT_WRITTEN)')
    chmodSync(join(folder.path, 'strategies'), 0o700)
    expect(textOf('guard')).toBe(after)
  }
  first.child.kill('SIGTERM')
  expect(await first.ended).toBe(0)
})
