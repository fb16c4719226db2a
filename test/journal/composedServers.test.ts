/** The two servers of deploy/postgres.compose.yaml, run by their script as the container would: made, killed, taken over from and brought back. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { Secret } from '../../src/base/secret.ts'
import { createJournal } from '../../src/journal/groupCommit.ts'
import { openPostgresStore } from '../../src/journal/postgres/openPostgres.ts'
import { freePort, programs, serverUser } from '../support/postgres.ts'
import { storyOf } from './story.ts'

const script = resolve(import.meta.dirname, '../../deploy/postgres/server.sh')
const folder = mkdtempSync(join(tmpdir(), 'perpd-composed-'))
const user = serverUser()
const running = new Map<string, ChildProcess>()
let said = ''
afterEach(async () => {
  for (const child of running.values()) {
    child.kill('SIGQUIT')
    await once(child, 'close')
  }
  rmSync(folder, { recursive: true })
})

/** The addresses stand for the names of the services: both servers have one port, each at an address of its own. */
const hosts = { one: '127.0.0.1', two: '127.0.0.2' } as const
type Name = keyof typeof hosts

function run(name: Name, port: number, follows: Name | undefined): ChildProcess {
  const env = {
    PATH: `${programs()}:/usr/bin:/bin`,
    ...{ NAME: name, PGDATA: join(folder, name), SECRETS: join(folder, 'secrets'), PGPORT: String(port) },
    FOLLOWS: follows === undefined ? '' : hosts[follows],
    LC_ALL: 'C.UTF-8',
  }
  const own = [
    '-c',
    `listen_addresses=${hosts[name]}`,
    '-c',
    `unix_socket_directories=${folder}/${name}.sockets`,
  ]
  const child = spawn('sh', [script, ...own], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(user ?? {}),
  })
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes) => {
      said += String(bytes)
    })
  child.once('close', () => running.delete(name))
  running.set(name, child)
  return child
}

/** Asks a server as its owner, by the socket. */
const sql = (name: Name, port: number, text: string): string =>
  execFileSync(
    join(programs(), 'psql'),
    [
      '-X',
      '-q',
      '-t',
      '-A',
      '-h',
      `${folder}/${name}.sockets`,
      '-p',
      String(port),
      '-U',
      'owner',
      '-d',
      'perpd',
      '-c',
      text,
    ],
    { encoding: 'utf8', env: {}, cwd: folder, stdio: ['ignore', 'pipe', 'ignore'], ...(user ?? {}) },
  ).trim()

async function until(what: string, holds: () => boolean): Promise<void> {
  const endMs = performance.now() + 240_000
  for (;;) {
    try {
      if (holds()) return
    } catch {
      // It does not answer yet.
    }
    if (performance.now() > endMs) throw new Error(`never: ${what}\n${said}`)
    await new Promise((resolveSoon) => setTimeout(resolveSoon, 200))
  }
}

test('the servers are made with the demand that perpd has, and it holds after a failover, once the old primary is back as the standby', {
  timeout: 900_000,
}, async () => {
  const port = await freePort()
  for (const each of ['', 'secrets', 'one.sockets', 'two.sockets']) {
    mkdirSync(join(folder, each), { recursive: true, mode: 0o755 })
    if (user !== undefined) chownSync(join(folder, each), user.uid, user.gid)
  }
  for (const each of ['owner', 'perpd', 'replicator'])
    writeFileSync(join(folder, 'secrets', `database-${each}`), `secret-of-${each}\n`)

  // Whichever container comes first.
  run('two', port, 'one')
  const first = run('one', port, undefined)
  const standbys = "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'quorum'"
  await until('a synchronous standby', () => sql('one', port, standbys) === '1')

  const url = `postgres://perpd:secret-of-perpd@${hosts.one}:${port},${hosts.two}:${port}/perpd`
  const open = async () => {
    const found = await openPostgresStore({
      ...{ path: join(folder, 'one.db'), clockNow: Date.now, holder: 'perpd' },
      postgres: { url: new Secret(url), account: 'test', needsStandby: true, signatureLivesMs: 60_000 },
    })
    return createJournal({
      ...found,
      soon(commit) {
        setImmediate(commit)
      },
    })
  }
  const journal = await open()
  await journal.append(storyOf(1).accepted())

  first.kill('SIGKILL')
  await once(first, 'close')
  let isKnown = false
  // Making the new standby may take longer than a writer waits.
  const next = journal.append(storyOf(1).preparing()).then(
    () => {
      isKnown = true
    },
    () => undefined,
  )
  expect(sql('two', port, 'SELECT pg_promote()')).toBe('t')
  await until(
    'the new primary is asked',
    () => sql('two', port, "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'") !== '0',
  )
  expect(isKnown).toBe(false)

  rmSync(join(folder, 'one'), { recursive: true })
  run('one', port, 'two')
  await until('the old one is the standby', () => sql('two', port, standbys) === '1')
  await next
  await journal.close()
  const again = await open()
  const { seq } = await again.append(storyOf(2).accepted())
  await again.close()
  await until('it has all', () => sql('one', port, 'SELECT max(seq) FROM perpd_record') === String(seq))
})
