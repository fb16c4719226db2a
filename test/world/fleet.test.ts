/** Real daemons that share four accounts out among them over a real PostgreSQL: spread, moved, drained and killed; the venue's record judges. */
import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { atDesk, judgeDesk, type SharedDesk, startDesk, trade, writeDesk } from './desks.ts'
import { hastyVenue } from './killPoint.ts'
import { killLeftOver, type Running, scratch, startPaper, until } from './processes.ts'

const names = ['alpha', 'beta', 'delta', 'gamma']
let cluster: Cluster
let folders: ReturnType<typeof scratch>[]
let paper: Awaited<ReturnType<typeof startPaper>>
let shared: SharedDesk
beforeEach(async () => {
  folders = [scratch(), scratch(), scratch(), scratch()]
  cluster = await startCluster()
  paper = await startPaper(hastyVenue)
  const keys = join(folders[3]?.path ?? '', 'keys')
  mkdirSync(keys)
  shared = { hosts: paper.hosts, url: cluster.url(), names, keys }
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  cluster.remove()
  for (const folder of folders) folder.remove()
})

interface FleetBody {
  readonly accounts: readonly {
    readonly name: string
    readonly node?: string
    readonly epoch: number
    readonly nodes: readonly string[]
    readonly waiting: readonly string[]
  }[]
}

const fleetFlags = () => [`--journal.url=${shared.url}`, '--journal.standby=true', '--cluster.name=desk']

/** Starts a node of the fleet in a folder of its own. */
function startNode(node: string, at: number, keys = shared.keys): { desk: Running; folder: string } {
  const folder = folders[at]?.path ?? ''
  writeDesk(folder, shared)
  const flags = ['--cluster.name=desk', `--cluster.node=${node}`]
  return { desk: startDesk(folder, { ...shared, keys, flags }), folder }
}

/** Runs a command of the fleet in a node's folder. */
const fleet = (folder: string, ...args: readonly string[]) =>
  atDesk(folder, 'fleet', ...args, ...fleetFlags())

async function fleetOf(folder: string): Promise<FleetBody> {
  const { out, said } = await fleet(folder, '--json')
  try {
    return JSON.parse(out) as FleetBody
  } catch (error) {
    throw new Error(said, { cause: error })
  }
}

/** Waits until the nodes hold so many accounts each. */
async function spread(
  folder: string,
  counts: Readonly<Record<string, number>>,
  seen: Running,
): Promise<FleetBody> {
  let last: FleetBody | undefined
  return await until(
    `the accounts are spread ${JSON.stringify(counts)}`,
    async () => {
      const body = await fleetOf(folder)
      last = body
      const isSpread = Object.entries(counts).every(
        ([node, count]) => body.accounts.filter((each) => each.node === node).length === count,
      )
      return isSpread ? body : undefined
    },
    { timeoutMs: 150_000, seen: () => `${JSON.stringify(last)}\n${seen.said()}` },
  )
}

/** Accounts that a node drained, as often as it did. */
function givenAway(desk: Running): readonly unknown[] {
  return desk
    .stdout()
    .split('\n')
    .filter((line) => line.includes('"event":"daemon.draining"'))
    .map((line) => (JSON.parse(line) as Readonly<Record<string, unknown>>).account)
}

test('accounts are spread over the nodes that live and can open their keys, and follow kills, moves and drains; no order is sent twice', {
  timeout: 900_000,
}, async () => {
  const one = startNode('one', 0)
  await spread(one.folder, { one: 4 }, one.desk)
  const two = startNode('two', 1)
  const even = await spread(one.folder, { one: 2, two: 2 }, two.desk)
  // Each is waited for by the other node.
  await until(
    'each account has an heir',
    async () =>
      (await fleetOf(one.folder)).accounts.every(({ waiting }) => waiting.length === 1) || undefined,
    { seen: two.desk.said },
  )
  await trade(one.desk, shared.url, names)

  two.desk.child.kill('SIGKILL')
  const alone = await spread(one.folder, { one: 4 }, one.desk)
  expect(alone.accounts.map(({ name }) => name)).toEqual(names)
  // Two accounts moved to the second node, and nothing else moved, neither then nor when that one died.
  expect(givenAway(one.desk)).toHaveLength(2)
  expect(givenAway(two.desk)).toEqual([])
  const lost = even.accounts.filter(({ node }) => node === 'two').map(({ name }) => name)
  expect(givenAway(one.desk).toSorted()).toEqual(lost)
  await trade(one.desk, shared.url, names)

  const keys = join(folders[2]?.path ?? '', 'keys')
  cpSync(shared.keys, keys, { recursive: true })
  writeFileSync(join(keys, 'key.gamma'), 'this is no key')
  const three = startNode('three', 2, keys)
  const spared = await spread(one.folder, { one: 2, three: 2 }, three.desk)
  expect(spared.accounts.find(({ name }) => name === 'gamma')).toMatchObject({ node: 'one', nodes: ['one'] })
  const status = JSON.parse((await atDesk(three.folder, 'status', '--json')).out) as Record<
    string,
    { readonly state: string; readonly code?: string }
  >
  expect(status.gamma).toMatchObject({ state: 'waiting', code: 'FLEET_ELSEWHERE' })

  const refused = await fleet(one.folder, 'move', 'gamma', 'three')
  expect(refused.code, refused.said).toBe(4)
  const mine = spared.accounts.filter(({ node }) => node === 'one').find(({ name }) => name !== 'gamma')
  const moved = await fleet(one.folder, 'move', mine?.name ?? '', 'three')
  expect(moved.code, moved.said).toBe(0)
  await until(
    'the account is where it is wished',
    async () =>
      (await fleetOf(one.folder)).accounts.find(({ name }) => name === mine?.name)?.node === 'three' ||
      undefined,
    { seen: three.desk.said },
  )
  await trade(three.desk, shared.url, [mine?.name ?? ''])

  const drained = await fleet(one.folder, 'drain', 'one')
  expect(drained.said).toContain('gamma')
  await spread(one.folder, { one: 1, three: 3 }, three.desk)
  await trade(three.desk, shared.url, names)
  for (const { desk } of [one, three]) desk.child.kill('SIGTERM')
  expect(await one.desk.ended, one.desk.said()).toBe(0)
  expect(await three.desk.ended, three.desk.said()).toBe(0)
  // Both have left.
  expect((await fleetOf(one.folder)).accounts.map(({ nodes }) => nodes)).toEqual(names.map(() => []))
  expect(await fleet(one.folder)).toMatchObject({ code: 1, said: expect.stringContaining('No node lives.') })
  const report = await judgeDesk(shared.url, names, paper.control)
  expect(report).toMatchObject({ armedTwice: [], receivedTwice: [], lost: [] })
})
