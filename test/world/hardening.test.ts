/** What a real process of perpd does against those who would look into it. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, startPaper, until } from './processes.ts'

const folder = folderOfEachTest()

test.runIf(process.platform === 'linux')(
  'a signal opens no debugger, and a core would hold no memory, however the process was started',
  async () => {
    const venue = await startPaper(['--paper.port=0'])
    expect(readFileSync(`/proc/${venue.child.pid}/coredump_filter`, 'utf8').trim()).toBe('00000000')
    venue.child.kill('SIGUSR1')
    // The process goes on and answers; with a debugger it would have said so on standard error.
    const answer = await until('the venue answers', async () => {
      const response = await fetch(`${venue.hosts.oracle[0]}/prices/tickers`)
      return response.ok ? response : undefined
    })
    await answer.arrayBuffer()
    expect(venue.stderr()).not.toMatch(/Debugger/)
    venue.child.kill('SIGTERM')
    expect(await venue.ended).toBe(0)
  },
)

test('with real money a process that a debugger is open at does not start', async () => {
  const key = join(folder.path, 'key')
  writeFileSync(key, `0x${'2b'.repeat(32)}\n`, { mode: 0o600 })
  const daemon = perpd(
    ['run', '--profile=arbitrum', `--account.keyFile=${key}`, '--account.acceptRawKey', '--control.port=0'],
    { cwd: folder.path, env: { NODE_OPTIONS: '--inspect=127.0.0.1:0' } },
  )
  expect(await daemon.ended, daemon.said()).toBe(4)
  expect(daemon.stderr()).toContain('a debugger is open for this process')
})

test('with real money a process that believes every certificate does not start, and no hand signs in it', async () => {
  const key = join(folder.path, 'key')
  writeFileSync(key, `0x${'2b'.repeat(32)}\n`, { mode: 0o600 })
  const live = ['--profile=arbitrum', `--account.keyFile=${key}`, '--account.acceptRawKey']
  const owner = `0x${'11'.repeat(20)}`
  for (const argv of [
    ['run', ...live, '--control.port=0'],
    ['check', ...live],
    ['subaccount', 'approve', ...live, `--account.owner=${owner}`, `--subaccount=${owner}`, '--out=ask.json'],
    ['subaccount', 'revoke', ...live, `--account.owner=${owner}`, `--subaccount=${owner}`, '--out=end.json'],
  ]) {
    const running = perpd(argv, { cwd: folder.path, env: { NODE_TLS_REJECT_UNAUTHORIZED: '0' } })
    expect([argv[0], await running.ended], running.said()).toEqual([argv[0], 4])
    expect(running.stderr()).toContain('NODE_TLS_REJECT_UNAUTHORIZED=0 accepts every certificate')
  }
})
