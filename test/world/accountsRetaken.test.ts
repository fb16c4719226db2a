/** Faults after which one of several accounts on a real PostgreSQL waits and is taken again by the same process, while the others trade on. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { acquireWriterLock, type WriterLock } from '../../src/journal/lock.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { atDesk, judgeDesk, linesOf, type SharedDesk, saidOf, startDesk, trade, writeDesk } from './desks.ts'
import { hastyVenue } from './killPoint.ts'
import { killLeftOver, type Running, scratch, startPaper, until } from './processes.ts'

const names = ['alpha', 'beta', 'gamma']
const others = ['alpha', 'gamma']
let cluster: Cluster
let folder: ReturnType<typeof scratch>
let paper: Awaited<ReturnType<typeof startPaper>>
let shared: SharedDesk
beforeEach(async () => {
  folder = scratch()
  cluster = await startCluster()
  paper = await startPaper(hastyVenue)
  shared = { hosts: paper.hosts, url: cluster.url(), names, keys: folder.path }
  writeDesk(folder.path, shared)
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  cluster.remove()
  folder.remove()
})

/** Starts the process with all accounts trading. */
async function started(flags: readonly string[] = []): Promise<Running> {
  const desk = startDesk(folder.path, { ...shared, flags })
  await ready(desk, names)
  await trade(desk, shared.url, names)
  return desk
}

const ready = (desk: Running, of: readonly string[], from = 0) =>
  until(
    `${of.join(', ')} trade`,
    () => of.every((name) => saidOf(desk, 'daemon.ready', from).has(name)) || undefined,
    { timeoutMs: 150_000, seen: desk.said },
  )

interface Row {
  readonly state: string
  readonly code?: string
  readonly halts?: readonly { readonly cause: string }[]
  readonly journal: { readonly server?: { readonly epoch: number } }
}

const statusOf = async (name: string): Promise<Row | undefined> =>
  (JSON.parse((await atDesk(folder.path, 'status', '--json')).out) as Record<string, Row>)[name]

/** Its log says the reason first: to ask for the status starts a process. */
async function waitsFor(name: string, code: string, desk: Running, from: number): Promise<void> {
  const isSaid = () =>
    desk.stdout().split('\n').slice(from).join('\n').includes(`"code":"${code}"`) || undefined
  await until(`${code} is said`, isSaid, { seen: desk.said })
  const waits = async () => (await statusOf(name))?.code === code || undefined
  await until(`${name} waits with ${code}`, waits, { seen: desk.said })
}

/** Gives beta's lease to a holder that never beats: beta is fenced, and taken again after the time. */
const fenceBeta = () =>
  cluster.sql(
    "UPDATE perpd_head SET epoch = epoch + 1, holder = 'other/1 x', beat = beat + 1 WHERE account = 'paper.beta'",
  )

/** How often beta's lease was taken, and given away by a test. */
const epochOfBeta = () => Number(cluster.sql("SELECT epoch FROM perpd_head WHERE account = 'paper.beta'"))

/** Ends the process in good order, and holds the journals against the venue's own record. */
async function judged(desk: Running): Promise<void> {
  desk.child.kill('SIGTERM')
  expect(await desk.ended, desk.said()).toBe(0)
  expect(await judgeDesk(shared.url, names, paper.control)).toMatchObject({
    ...{ armedTwice: [], receivedTwice: [], lost: [] },
  })
}

test('an account whose files another program has when it is to be taken again waits for them, says so once, and is taken when they are free', {
  timeout: 400_000,
}, async () => {
  const desk = await started()
  const from = linesOf(desk)
  fenceBeta()
  const path = join(folder.path, 'journal.beta.sqlite')
  let lock: WriterLock | undefined
  await until(
    'the files of beta are taken',
    () => {
      try {
        lock = acquireWriterLock(path, 'another program', 0)
        return true
      } catch {
        return undefined
      }
    },
    { seen: desk.said },
  )
  await waitsFor('beta', 'JOURNAL_LOCKED', desk, from)
  await trade(desk, shared.url, others)
  expect([...saidOf(desk, 'daemon.ready', from)]).toEqual([])
  const said = desk.stdout().split('\n').slice(from)
  expect(said.filter((line) => line.includes('"code":"JOURNAL_LOCKED"'))).toHaveLength(1)
  lock?.release()
  await ready(desk, ['beta'], from)
  await trade(desk, shared.url, names)
  expect([...saidOf(desk, 'daemon.failed', from)]).toEqual(['beta'])
  await judged(desk)
})

test('an account whose server was replaced while it could not reach it is taken again with the doubt noted, and the others trade on', {
  timeout: 400_000,
}, async () => {
  const desk = await started()
  const from = linesOf(desk)
  // Beta alone cannot renew its lease for fifteen seconds, and finds a head of another history then; what was under way is gone with the server before.
  cluster.sql(
    "BEGIN; UPDATE perpd_head SET history = 'another server' WHERE account = 'paper.beta'; SELECT pg_sleep(15); SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock'; COMMIT",
  )
  await until('beta ends by it', () => saidOf(desk, 'daemon.failed', from).has('beta') || undefined, {
    seen: desk.said,
  })
  expect(desk.stdout().split('\n').slice(from).join('\n')).toContain('"code":"JOURNAL_SERVER_REPLACED"')
  await trade(desk, shared.url, others)
  await ready(desk, ['beta'], from)
  const beta = await statusOf('beta')
  expect([beta?.state, (beta?.journal.server?.epoch ?? 0) >= 2]).toEqual(['running', true])
  expect(beta?.halts?.map(({ cause }) => cause)).toContain('lost-records')
  expect([...saidOf(desk, 'daemon.failed', from)]).toEqual(['beta'])
  await trade(desk, shared.url, others)
  await judged(desk)
})

test('an account is taken again while the venue is away, and trades when it is back', {
  timeout: 400_000,
}, async () => {
  const desk = await started()
  const from = linesOf(desk)
  paper.child.kill('SIGSTOP')
  fenceBeta()
  await until('beta lost its lease', () => saidOf(desk, 'daemon.failed', from).has('beta') || undefined, {
    seen: desk.said,
  })
  await until(
    'beta is held again',
    // On a busy machine a beat may come late, and the holder takes a newer epoch itself.
    () => epochOfBeta() >= 3 || undefined,
    { seen: desk.said },
  )
  paper.child.kill('SIGCONT')
  await ready(desk, ['beta'], from)
  await trade(desk, shared.url, names)
  expect([...saidOf(desk, 'daemon.failed', from)]).toEqual(['beta'])
  await judged(desk)
})

test('an account that cannot be opened after its lease was taken gives the lease back, says why once, and is opened when the fault has passed', {
  timeout: 400_000,
}, async () => {
  let isWrong = false
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString()
      try {
        const answer = await fetch(paper.hosts.rpc[0] ?? '', {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        const text = await answer.text()
        // An endpoint that is being restored shows an address without code.
        const isShown = isWrong && body.includes('eth_getCode')
        response.writeHead(answer.status, { 'content-type': 'application/json' })
        response.end(isShown ? text.replaceAll(/"result":"0x[0-9a-f]+"/g, '"result":"0x"') : text)
      } catch {
        response.destroy()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  try {
    const { port } = server.address() as AddressInfo
    const desk = await started([`--rpc.http=http://127.0.0.1:${port}`])
    const from = linesOf(desk)
    isWrong = true
    fenceBeta()
    await waitsFor('beta', 'ACCOUNT_NOT_TAKEN', desk, from)
    await until(
      'nobody has its lease',
      () => cluster.sql("SELECT holder FROM perpd_head WHERE account = 'paper.beta'") === '' || undefined,
      { seen: desk.said },
    )
    await trade(desk, shared.url, others)
    // Two tries more say nothing new.
    await until('it is tried again', () => epochOfBeta() >= 5 || undefined, { seen: desk.said })
    const told = desk
      .stdout()
      .split('\n')
      .slice(from)
      .filter((line) => line.includes('cannot be opened now'))
    expect(told).toHaveLength(1)
    isWrong = false
    await ready(desk, ['beta'], from)
    await trade(desk, shared.url, names)
    await judged(desk)
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
