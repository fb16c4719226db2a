/** Orders that take time, by the real commands, against the real daemon and the paper venue over sockets. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { hastyVenue } from './killPoint.ts'
import { type Operated, operatedIn, type Status } from './operated.ts'
import { ordersOf, type PaperHosts, perpd, startPaper, until } from './processes.ts'

let own: Operated
const folder = folderEach(async (path) => {
  own = await operatedIn(path)
  // A strategy that does not run: whatever happens is the task's.
  writeFileSync(
    join(path, 'once.yaml'),
    'kind: trend\nenabled: false\nmarket: ETH/USD [WETH-USDC]\nsize: { usd: 500, leverage: 2, collateral: short }\n',
  )
})

const eth = 'ETH/USD [WETH-USDC]'
const isRunning = ({ state }: Status): boolean => state === 'running'

interface Row {
  readonly taskId: string
  readonly standing: string
  readonly outcome?: string
  readonly doneUsd: string
  readonly orders: number
}

/** A command to its end: all that it said, as one line, and its standard output as it stands. */
async function asked(hosts: PaperHosts, ...words: string[]) {
  const running = perpd([...words, ...own.flags(hosts)], { env: { COLUMNS: '80' } })
  const code = await running.ended
  return { code, said: running.said().replaceAll(/\s+/g, ' '), out: running.stdout() }
}

async function tasks(hosts: PaperHosts): Promise<readonly Row[]> {
  const { code, out } = await asked(hosts, 'task', 'list', '--json')
  return code === 0 ? (JSON.parse(out) as readonly Row[]) : []
}

test('a twap goes on after a kill -9 in the commit of its first part, is done once, and another is stopped', {
  timeout: 300_000,
}, async () => {
  const { hosts } = await startPaper(hastyVenue)
  const first = perpd(['run', ...own.flags(hosts)], { killAt: 'task.changed:after' })
  await own.when('the first daemon runs', first, isRunning)
  const twap = ['task', 'start', 'twap', eth, 'long', '--size=400', '--leverage=2', '--max-fees=50']
  const minute = [...twap, '--parts=2', '--minutes=1', '--own', '--yes', '--id=once-1', '--max-minutes=4']
  const unsure = await asked(hosts, ...minute.filter((word) => word !== '--yes'))
  expect([unsure.code, unsure.said]).toEqual([1, expect.stringContaining('To send it: --yes')])
  const begun = await asked(hosts, ...minute)
  expect(begun.said).toMatch(/task twap:once-1 started|--id once-1/)
  expect(await first.ended).toBe('SIGKILL')

  const second = perpd(['run', ...own.flags(hosts)])
  await own.when('the second daemon runs', second, isRunning)
  const again = await asked(hosts, ...minute)
  expect([again.code, again.said]).toEqual([0, expect.stringContaining('perpd does not repeat it')])
  const isDone = async () => {
    const [row] = await tasks(hosts)
    return row?.standing === 'ended' ? row : undefined
  }
  const row = await until('the twap is done', isDone, { timeoutMs: 150_000, seen: second.said })
  expect(row).toMatchObject({ taskId: 'twap:once-1', outcome: 'done', doneUsd: `400${'0'.repeat(30)}` })
  const held = await own.when('the list shows it', second, ({ positions }) => positions.length === 1)
  await until('the list shows all of it', async () => {
    const status = await own.status()
    return status?.positions[0]?.sizeInUsd === `400${'0'.repeat(30)}` ? status : undefined
  })
  expect(held.positions).toHaveLength(1)
  const made = await ordersOf(folder.path)
  expect(made.filter(({ kind }) => kind === 'increase')).toHaveLength(row.orders)
  expect(new Set(made.map(({ intentId }) => intentId)).size).toBe(made.length)

  const venue = await asked(hosts, ...twap, '--parts=4', '--minutes=20', '--yes', '--id=twice-2')
  expect([venue.code, venue.said]).toEqual([0, expect.stringContaining('in 4 parts over 20 min')])
  const stopped = await asked(hosts, 'task', 'stop', 'twap:twice', '--reason', 'enough')
  expect([stopped.code, stopped.said]).toEqual([0, expect.stringContaining('is ending')])
  await until('the second one has ended', async () =>
    (await tasks(hosts)).every(({ standing }) => standing === 'ended') ? true : undefined,
  )
  const listed = await asked(hosts, 'task', 'list')
  expect(listed.out).toMatch(/^TASK +STATE/)
  expect(listed.said).toContain('enough')
  for (const line of listed.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
  const none = await asked(hosts, 'task', 'stop', 'twap:twice')
  expect([none.code, none.said]).toEqual([2, expect.stringContaining('(TASK_NOT_FOUND)')])
})

test('a bracket keeps its exits over a kill -9 in the commit of its entry, and a stop of the task leaves them at the venue', {
  timeout: 300_000,
}, async () => {
  const { hosts } = await startPaper(hastyVenue)
  const first = perpd(['run', ...own.flags(hosts)], { killAt: 'task.changed:after' })
  await own.when('the first daemon runs', first, isRunning)
  const words = [
    'task',
    'start',
    'bracket',
    eth,
    'long',
    '--size=400',
    '--leverage=2',
    '--max-fees=50',
    '--yes',
    '--id=once-1',
  ]
  const wrong = await asked(hosts, ...words, '--stop-loss=9000000')
  expect([wrong.code, wrong.said]).toEqual([1, expect.stringContaining('(EXIT_MISPLACED)')])
  const stray = await asked(hosts, ...words, '--stop-loss=100', '--rungs=3')
  expect([stray.code, stray.said]).toEqual([4, expect.stringContaining('--rungs belongs to another kind')])
  const exits = ['--stop-loss=100', '--take-profit=90000']
  const begun = await asked(hosts, ...words, ...exits)
  expect(begun.said).toMatch(/task bracket:once-1 started|--id once-1/)
  expect(await first.ended).toBe('SIGKILL')

  const second = perpd(['run', ...own.flags(hosts)])
  await own.when('the second daemon runs', second, isRunning)
  await until(
    'the bracket holds its position',
    async () => {
      const [row] = await tasks(hosts)
      return row?.doneUsd === `400${'0'.repeat(30)}` ? row : undefined
    },
    { timeoutMs: 150_000, seen: second.said },
  )
  const resting = async () => (await ordersOf(folder.path)).filter(({ status }) => status === 'resting')
  await until('its exits rest', async () => ((await resting()).length > 0 ? true : undefined))
  const made = await ordersOf(folder.path)
  expect(made.filter(({ kind }) => kind === 'increase')).toHaveLength(1)
  const stopped = await asked(hosts, 'task', 'stop', 'bracket:once', '--reason', 'I keep it')
  expect(stopped.code).toBe(0)
  const ended = await until('the bracket has ended', async () => {
    const [row] = await tasks(hosts)
    return row?.standing === 'ended' ? row : undefined
  })
  expect(ended).toMatchObject({
    outcome: 'stopped',
    statement: expect.stringContaining('2 exits of it rest'),
  })
  expect(await resting()).toHaveLength(1)
})
