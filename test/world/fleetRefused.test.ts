/** Accounts that one node of a real fleet cannot use now, its key or its strategy files: another node has them meanwhile, and that node again when they are in order. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { paperSigner } from '../../src/keys/local.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { atDesk, judgeDesk, type SharedDesk, saidOf, startDesk, trade, writeDesk } from './desks.ts'
import { hastyVenue } from './killPoint.ts'
import { killLeftOver, type Running, scratch, startPaper, until } from './processes.ts'

const names = ['alpha', 'beta']
let cluster: Cluster
let folders: ReturnType<typeof scratch>[]
let paper: Awaited<ReturnType<typeof startPaper>>
let shared: SharedDesk
beforeEach(async () => {
  folders = [scratch(), scratch(), scratch()]
  cluster = await startCluster()
  paper = await startPaper(hastyVenue)
  shared = { hosts: paper.hosts, url: cluster.url(), names, keys: folders[2]?.path ?? '' }
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  cluster.remove()
  for (const folder of folders) folder.remove()
})

const folderOf = (at: number) => folders[at]?.path ?? ''

/** Starts a node whose files are written. */
const startNode = (node: string, at: number): Running =>
  startDesk(folderOf(at), {
    ...shared,
    flags: ['--cluster.name=desk', `--cluster.node=${node}`, '--strategies.watch=off'],
  })

/** A row of the status of a node, by account. */
async function statusOf(at: number, name: string): Promise<Readonly<Record<string, string>> | undefined> {
  const { out } = await atDesk(folderOf(at), 'status', '--json')
  return (JSON.parse(out) as Record<string, Readonly<Record<string, string>>>)[name]
}

interface AccountBody {
  readonly name: string
  readonly node?: string
  readonly nodes: readonly string[]
  readonly waiting: readonly string[]
}

/** Waits until the fleet says this of beta. */
const fleetSays = (what: string, says: (beta: AccountBody) => boolean, seen: Running) =>
  until(
    what,
    async () => {
      const flags = [`--journal.url=${shared.url}`, '--journal.standby=true', '--cluster.name=desk']
      const { out } = await atDesk(folderOf(0), 'fleet', '--json', ...flags)
      const { accounts } = JSON.parse(out) as { readonly accounts: readonly AccountBody[] }
      const beta = accounts.find(({ name }) => name === 'beta')
      return (beta !== undefined && says(beta)) || undefined
    },
    { timeoutMs: 150_000, seen: seen.said },
  )

const linesWith = (desk: Running, text: string) =>
  desk
    .stdout()
    .split('\n')
    .filter((line) => line.includes(text))

test('a node whose key could not be opened at its start tries it again, refuses one that another account has, and takes the account once it opens', {
  timeout: 400_000,
}, async () => {
  writeDesk(folderOf(0), shared)
  const key = join(shared.keys, 'key.beta')
  writeFileSync(key, 'this is no key', { mode: 0o600 })
  const desk = startNode('one', 0)
  await until('alpha trades', () => saidOf(desk, 'daemon.ready').has('alpha') || undefined, {
    seen: desk.said,
  })
  expect(await statusOf(0, 'beta')).toMatchObject({ state: 'waiting', code: 'FLEET_ELSEWHERE' })
  await trade(desk, shared.url, ['alpha'])
  // Tried again and again, it says so once.
  expect(linesWith(desk, '"event":"key.warned"')).toHaveLength(1)

  writeFileSync(key, readFileSync(join(shared.keys, 'key.alpha')), { mode: 0o600 })
  await until('the shared key is refused', () => linesWith(desk, 'the same key').length === 1 || undefined, {
    timeoutMs: 120_000,
    seen: desk.said,
  })
  expect((await statusOf(0, 'beta'))?.reason).toContain('the same key')
  expect(saidOf(desk, 'daemon.ready').has('beta')).toBe(false)

  rmSync(key)
  paperSigner(key)
  await until('beta trades', () => saidOf(desk, 'daemon.ready').has('beta') || undefined, {
    timeoutMs: 120_000,
    seen: desk.said,
  })
  expect([...saidOf(desk, 'key.opened')]).toEqual(['beta'])
  await fleetSays('one holds beta', ({ node }) => node === 'one', desk)
  await trade(desk, shared.url, names)
  desk.child.kill('SIGTERM')
  expect(await desk.ended, desk.said()).toBe(0)
  expect(await judgeDesk(shared.url, names, paper.control)).toMatchObject({
    ...{ armedTwice: [], receivedTwice: [], lost: [] },
  })
})

test('an account whose strategy file is refused on one node is taken by the other one, and is waited for again when the file is in order', {
  timeout: 400_000,
}, async () => {
  for (const at of [0, 1]) writeDesk(folderOf(at), shared)
  const { accounts } = JSON.parse(readFileSync(join(folderOf(0), 'perpd.json'), 'utf8')) as {
    readonly accounts: Record<string, { strategies: { paths: readonly string[] } }>
  }
  const [shipped = ''] = accounts.beta?.strategies.paths ?? []
  const good = readFileSync(shipped, 'utf8')
  // The file of beta alone, with the name that it has on the other node.
  const own = join(folderOf(0), 'beta', basename(shipped))
  mkdirSync(join(folderOf(0), 'beta'))
  writeFileSync(own, good)
  writeFileSync(
    join(folderOf(0), 'perpd.json'),
    JSON.stringify({ accounts: { ...accounts, beta: { strategies: { paths: [own] } } } }),
  )
  const one = startNode('one', 0)
  await until('both trade', () => saidOf(one, 'daemon.ready').size === 2 || undefined, { seen: one.said })
  const flags = [`--journal.url=${shared.url}`, '--journal.standby=true', '--cluster.name=desk']
  for (const name of names) await atDesk(folderOf(0), 'fleet', 'move', name, 'one', ...flags)
  const two = startNode('two', 1)
  await fleetSays('two waits for beta', ({ waiting }) => waiting.includes('two'), two)

  writeFileSync(own, `${good}nothingOfTheKind: 1\n`)
  cluster.sql(
    "UPDATE perpd_head SET epoch = epoch + 1, holder = 'other/1 x', beat = beat + 1 WHERE account = 'paper.beta'",
  )
  await until('two trades beta', () => saidOf(two, 'daemon.ready').has('beta') || undefined, {
    timeoutMs: 120_000,
    seen: two.said,
  })
  expect(await statusOf(0, 'beta')).toMatchObject({ state: 'waiting', code: 'STRATEGIES_REFUSED' })
  await fleetSays('beta is of two alone', ({ node, nodes }) => node === 'two' && nodes.join() === 'two', two)
  await trade(two, shared.url, names)

  writeFileSync(own, good)
  // It is wished to one, which can hold it again.
  await fleetSays('one holds beta', ({ node }) => node === 'one', one)
  await trade(one, shared.url, names)
  for (const desk of [one, two]) desk.child.kill('SIGTERM')
  expect(await one.ended, one.said()).toBe(0)
  expect(await two.ended, two.said()).toBe(0)
  expect(await judgeDesk(shared.url, names, paper.control)).toMatchObject({
    ...{ armedTwice: [], receivedTwice: [], lost: [] },
  })
})
