/**
 * The way out of a position while others have what perpd would like to have: the control port, all of the disk, a name in the
 * user database, a terminal and a home.
 */
import { spawnSync } from 'node:child_process'
import {
  appendFileSync,
  chownSync,
  mkdirSync,
  readFileSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bareEnv } from '../support/bareEnv.ts'
import { hastyVenue } from './killPoint.ts'
import {
  daemonFlags,
  killLeftOver,
  perpd,
  scratch,
  standingsOf,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

/** A user that no database names. */
const UID = 54_321
const asNobody = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups']

let place: ReturnType<typeof scratch>
let disk: string
beforeEach(() => {
  place = scratch()
  disk = join(place.path, 'disk')
  mkdirSync(disk)
})
afterEach(async () => {
  await killLeftOver()
  spawnSync('umount', [disk])
  place.remove()
})

/** Whether this user may mount a file system and become another user: root in a container that allows it. */
function mayTakeAll(): boolean {
  const probe = scratch()
  try {
    const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', probe.path]).status === 0
    if (isMounted) spawnSync('umount', [probe.path])
    const [program, ...rest] = asNobody
    return isMounted && spawnSync(program ?? '', [...rest, process.execPath, '-e', '0']).status === 0
  } finally {
    probe.remove()
  }
}

/** Another user takes what is free, and what becomes free. */
function fill(): void {
  const block = Buffer.alloc(1024 * 1024)
  for (const size of [1024 * 1024, 4096]) {
    try {
      for (;;) appendFileSync(join(disk, 'taken'), block.subarray(0, size))
    } catch {
      // Full.
    }
  }
  expect(statfsSync(disk).bavail).toBe(0)
}

/**
 * Has the daemon write records until a checkpoint, which finds no space but the ballast, has made the journal's file longer: right before
 * a kill, at the worst time for it.
 */
async function untilCheckpoint(): Promise<void> {
  const path = join(disk, 'journal.sqlite')
  const token = readFileSync(join(disk, 'control.token'), 'utf8').trim()
  const { address } = JSON.parse(readFileSync(join(disk, 'control.token.address'), 'utf8')) as {
    readonly address: string
  }
  const before = statSync(path).size
  for (let n = 0; statSync(path).size === before; n += 1) {
    expect(n).toBeLessThan(400)
    const { status } = await fetch(`${address}/api/strategies/once/${n % 2 === 0 ? 'pause' : 'resume'}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ by: 'ann', reason: 'none' }),
    })
    expect(status).toBe(200)
    fill()
  }
}

test.runIf(mayTakeAll())(
  'with its port taken, its disk full since before its start, no name for its user and a folder that cannot be read a daemon closes what it holds by one kill',
  { timeout: 300_000 },
  async () => {
    expect(spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=96m,mode=700', 'tmpfs', disk]).status).toBe(0)
    chownSync(disk, UID, UID)
    chownSync(place.path, UID, UID)
    writeOnceStrategy(disk)
    const taker = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
    await new Promise((resolve) => taker.once('listening', resolve))
    const { port } = taker.address() as AddressInfo
    const paper = await startPaper(hastyVenue)
    const flags = daemonFlags(disk, paper.hosts).map((flag) =>
      flag.startsWith('--control.port=') ? `--control.port=${port}` : flag,
    )
    const { HOME: _home, TERM: _term, ...env } = bareEnv()
    const run = (...words: string[]) => runFrom('/', ...words)
    const runFrom = (cwd: string, ...words: string[]) =>
      perpd([...words, ...flags], { by: asNobody, cwd, env: { ...env, HOME: '', TERM: '' } as never })
    // A folder that the user may neither read nor write.
    const shut = join(place.path, 'shut')
    mkdirSync(shut, { mode: 0o700 })

    const first = run('run')
    await until('it runs', () => first.said().includes('"daemon.ready"') || undefined, {
      seen: first.said,
    })
    await until(
      'it holds a position',
      async () => ((await standingsOf(disk)).includes('executed') ? true : undefined),
      {
        seen: first.said,
      },
    )
    fill()
    first.child.kill('SIGKILL')
    await first.ended
    fill()
    const second = run('run')
    await until('it is ready on the full disk', () => second.said().includes('"daemon.ready"') || undefined, {
      seen: second.said,
    })
    expect(second.said()).toContain('"event":"daemon.portMoved"')
    await untilCheckpoint()
    const beganMs = performance.now()
    void runFrom(shut, 'kill', '--close')
    await until(
      'no position is open',
      () => second.said().includes('the account has no positions') || undefined,
      {
        seen: second.said,
      },
    )
    // Measured on two cores with seven others at work: 2 s.
    expect(performance.now() - beganMs).toBeLessThan(60_000)
    expect(second.said()).toContain(`uid ${UID}`)
    second.child.kill('SIGTERM')
    expect(await second.ended).toBe(0)
    taker.close()
  },
)

test('pause, trading, close and kill reach the daemon from a folder that is gone, without a home, with all else in the settings wrong', {
  timeout: 180_000,
}, async () => {
  writeOnceStrategy(disk)
  const paper = await startPaper(hastyVenue)
  const flags = daemonFlags(disk, paper.hosts)
  const daemon = perpd(['run', ...flags])
  await until('it runs', () => daemon.said().includes('"daemon.ready"') || undefined, { seen: daemon.said })
  await until(
    'it holds a position',
    async () => ((await standingsOf(disk)).includes('executed') ? true : undefined),
    { seen: daemon.said },
  )
  writeFileSync(join(disk, 'once.yaml'), 'kind: [')
  mkdirSync(join(disk, 'locked'), { mode: 0o000 })
  const gone = join(place.path, 'gone')
  const inGone = ['bash', '-c', 'mkdir "$0" && cd "$0" && rmdir "$0" && exec "$@"', gone]
  const { HOME: _home, ...env } = bareEnv({ CREDENTIALS_DIRECTORY: join(gone, 'credentials') })
  const run = async (...words: string[]) => {
    const wrong = [
      '--notify.sinks=https://hooks.example/hushhush',
      `--strategies.paths=${join(disk, 'locked')}`,
      `--account.keystore=${join(gone, 'keystore.json')}`,
    ]
    const command = perpd([...words, ...flags, ...wrong], { by: inGone, env: { ...env, HOME: '' } as never })
    return { code: await command.ended, said: command.said() }
  }
  for (const words of [
    ['strategies', 'pause', 'once'],
    ['trading', 'reducing'],
    ['close', '--all', '--yes'],
    ['kill', '--yes'],
  ]) {
    const { code, said } = await run(...words)
    expect(code, `${words.join(' ')}: ${said}`).toBe(0)
    expect(said).not.toContain('hushhush')
  }
  // What serves would keep its state where nobody looks for it.
  expect(await run('run')).toMatchObject({ code: 4 })
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended).toBe(0)
})
