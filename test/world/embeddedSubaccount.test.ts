/** A delegated key where the paper venue is inside the daemon: each command names the next one, and the next one works. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderEach } from './folderEach.ts'
import { perpd, until, writeOnceStrategy } from './processes.ts'

const folder = folderEach(writeOnceStrategy)

/** A command to its end, on a screen so wide that a command it names stands on one line. */
async function command(...words: readonly string[]) {
  const running = perpd(words, { cwd: folder.path, env: { COLUMNS: '1000' } })
  return { code: await running.ended, out: running.stdout().trim(), err: running.stderr() }
}

/** The command that a text names after these words. */
function named(text: string, after: string): string[] {
  const [, words = ''] = text.split(`${after}: perpd `)
  return words.split(/\.?(?: On paper.*)?\n/)[0]?.split(' ') ?? []
}

const daemonFlags = () => [
  '--control.port=0',
  `--strategies.paths=${join(folder.path, 'once.yaml')}`,
  '--log.format=pretty',
]

async function run(flags: readonly string[]) {
  const daemon = perpd([...flags, ...daemonFlags()], { cwd: folder.path, env: { COLUMNS: '80' } })
  await until('it is ready', () => (daemon.said().includes('ready: ') ? true : undefined), {
    seen: daemon.said,
  })
  return daemon
}

test('a newcomer follows what each command names, from the first key to an order of it, without a venue beside', {
  timeout: 240_000,
}, async () => {
  const first = await run(['run'])
  const account = /account (0x[0-9a-fA-F]{40})/.exec(first.said())?.[1] ?? ''
  const created = await command('subaccount', 'create')
  expect(created, created.err).toMatchObject({ code: 0 })
  const next = named(created.err, 'trade for that account')
  expect(next.slice(0, 2)).toEqual(['subaccount', 'approve'])

  // Beside the daemon, whose venue is asked.
  const beside = await command(...next)
  expect(beside, beside.err).toMatchObject({ code: 0, out: expect.stringMatching(/^0x[0-9a-f]{130}$/) })
  first.child.kill('SIGTERM')
  expect(await first.ended, first.said()).toBe(0)

  // With none running: the venue's world is read where it is kept.
  const alone = await command(...next, '--actions', '40')
  expect(alone, alone.err).toMatchObject({ code: 0 })
  const start = named(alone.err, 'trade with it')
  expect(start.slice(0, 3)).toEqual(['run', '--account.owner', account])

  const status = await command('subaccount', 'status', ...start.slice(1))
  expect(status).toMatchObject({ code: 0, out: expect.stringContaining('waits for the next order: 40') })
  const second = await run(start)
  expect(second.said()).toContain(`the key ${created.out} is a delegated one; it trades for ${account}`)
  const listed = await command('subaccount', 'status', ...start.slice(1))
  expect(listed, listed.err).toMatchObject({ code: 0 })
  const revoked = await command('subaccount', 'revoke', ...start.slice(1))
  expect(revoked, revoked.err).toMatchObject({ code: 0 })
})
