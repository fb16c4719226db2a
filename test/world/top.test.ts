/** `perpd top` and `perpd status --watch` beside a real daemon: at a terminal on a screen of its own, else as plain text. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { bareEnv } from '../support/bareEnv.ts'
import { killLeftOver, perpd, scratch, until, writeOnceStrategy } from './processes.ts'

const main = resolve(import.meta.dirname, '../support/guardedMain.ts')
const hasPty = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
let folder: ReturnType<typeof scratch>
beforeEach(async () => {
  folder = scratch()
  writeOnceStrategy(folder.path)
  const daemon = inFolder(
    ...['run', '--log.format=json', '--control.port=0'],
    `--strategies.paths=${join(folder.path, 'once.yaml')}`,
  )
  await until('its order is executed', () => daemon.said().includes('"state_to":"executed"') || undefined, {
    seen: daemon.said,
  })
}, 120_000)
afterEach(async () => {
  await killLeftOver()
  folder.remove()
})

const inFolder = (...words: string[]) => perpd(words, { cwd: folder.path, env: { COLUMNS: '80' } })

/** `perpd` at a terminal of 24 rows and 80 columns. */
function atTerminal(words: readonly string[], env: Record<string, string> = {}) {
  const command = `stty rows 24 cols 80; ${process.execPath} ${main} ${words.join(' ')}`
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    cwd: folder.path,
    env: bareEnv({ TERM: 'xterm', ...env }),
  })
  let said = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    said += piece
  })
  return { child, said: () => said, ended: once(child, 'close').then(([code]) => code as number) }
}

test.skipIf(!hasPty)(
  'at a terminal it has a screen of its own, which q and Ctrl-C give back',
  { timeout: 120_000 },
  async () => {
    const live = atTerminal(['top', '--every', '0.5'])
    const screens = () => live.said().split('\u001b[H').length - 1
    await until('it was drawn thrice', () => screens() > 2 || undefined, { seen: live.said })
    expect(live.said()).toContain('\u001b[?1049h')
    expect(live.said()).toContain('paper on arbitrum, running')
    expect(live.said()).toContain('ETH/USD [WETH-USDC]')
    expect(live.said()).toContain('\u001b[1m')
    live.child.stdin.write('q')
    expect(await live.ended, live.said()).toBe(0)
    expect(live.said().trimEnd().endsWith('\u001b[?25h\u001b[?1049l'), live.said().slice(-200)).toBe(true)

    const watched = atTerminal(['status', '--watch'], { NO_COLOR: '1' })
    await until('it is drawn', () => watched.said().includes('q ends') || undefined, { seen: watched.said })
    watched.child.stdin.write('\u0003')
    expect(await watched.ended, watched.said()).toBe(0)
    expect(watched.said()).not.toContain('\u001b[1m')
    expect(watched.said().trimEnd().endsWith('\u001b[?1049l')).toBe(true)
  },
)

test('without a terminal it prints one plain status below the other, or lines of JSON, until the daemon ends', {
  timeout: 120_000,
}, async () => {
  const plain = inFolder('top', '--every', '0.5')
  const json = inFolder('status', '--watch', '0.5', '--json')
  await until(
    'each has two',
    () =>
      (plain.stdout().split('paper on arbitrum, running').length > 2 &&
        json.stdout().split('\n').length > 2) ||
      undefined,
  )
  expect(plain.stdout()).not.toContain('\u001b')
  for (const line of json.stdout().trim().split('\n').slice(0, 2)) {
    expect(JSON.parse(line)).toMatchObject({ profile: 'paper' })
  }
  const wrong = inFolder('status', '--watch', '0')
  expect([await wrong.ended, wrong.stderr()]).toEqual([
    1,
    expect.stringContaining('--watch is 0; expected seconds'),
  ])
  plain.child.kill('SIGINT')
  expect(await plain.ended).toBe('SIGINT')
})
