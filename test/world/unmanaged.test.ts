/** Positions whose strategy does not run any more, on real processes: told at the start, and by `perpd status`. */
import { appendFileSync, copyFileSync, mkdirSync, rmSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  daemonFlags,
  killLeftOver,
  perpd,
  type Running,
  scratch,
  startPaper,
  until,
  writeOnceStrategy,
} from './processes.ts'

let folder: ReturnType<typeof scratch>
let strategies = ''
beforeEach(() => {
  folder = scratch()
  strategies = join(folder.path, 'strategies')
  mkdirSync(strategies)
  writeOnceStrategy(strategies)
})
afterEach(async () => {
  await killLeftOver()
  folder.remove()
})

const linesOf = (daemon: Running): readonly Record<string, unknown>[] =>
  daemon
    .stdout()
    .split('\n')
    .filter((each) => each.startsWith('{'))
    .map((each) => JSON.parse(each) as Record<string, unknown>)
const said = (daemon: Running, event: string) => linesOf(daemon).find((each) => each.event === event)

test('a position of a strategy that was disabled or removed is told at the start and in the status, once', {
  timeout: 240_000,
}, async () => {
  const paper = await startPaper(['--paper.keeperDelayMs=200', '--paper.keeperJitterMs=0'])
  const flags = [
    ...daemonFlags(folder.path, paper.hosts).filter((flag) => !flag.startsWith('--strategies.paths=')),
    `--strategies.paths=${strategies}`,
    `--rpc.http=${paper.hosts.rpc[0]}`,
  ]
  const run = () => perpd(['run', ...flags])
  const stop = async (daemon: Running) => {
    daemon.child.kill('SIGTERM')
    expect(await daemon.ended, daemon.said()).toBe(0)
  }
  const status = async () => {
    const asked = perpd(['status', ...flags])
    expect(await asked.ended, asked.said()).toBe(0)
    return asked.stdout()
  }
  const first = run()
  await until('a position is held', () => said(first, 'order.filled'), { seen: first.said })
  await until(
    'a list shows it',
    () => linesOf(first).find(({ positions }) => Array.isArray(positions) && positions.length === 1),
    { seen: first.said },
  )
  expect(await status()).not.toContain('without a manager')
  expect(said(first, 'account.unmanaged')).toBeUndefined()
  await stop(first)

  appendFileSync(join(strategies, 'once.yaml'), 'enabled: false\n')
  copyFileSync(resolve(import.meta.dirname, '../../strategies/guard.yaml'), join(strategies, 'guard.yaml'))
  const disabled = run()
  await until('the second start is ready', () => said(disabled, 'daemon.ready'), { seen: disabled.said })
  const told =
    'long ETH/USD [WETH-USDC] of $500.00 is unmanaged: once opened it and does not run (its file is gone or disabled); only guard sees it. Enable once in its file and load it (perpd strategies reload), or close the position: perpd close "ETH/USD [WETH-USDC]" long'
  expect(said(disabled, 'account.unmanaged')).toMatchObject({ level: 'warn', message: told })
  const shown = await status()
  expect(shown.replaceAll(/\n {2}(?=\S)/g, ' ')).toContain(`unmanaged positions ${told}`)
  await stop(disabled)

  rmSync(join(strategies, 'once.yaml'))
  appendFileSync(join(strategies, 'guard.yaml'), '\nenabled: false\n')
  const empty = run()
  await until('the third start is ready', () => said(empty, 'daemon.ready'), { seen: empty.said })
  expect(String(said(empty, 'account.unmanaged')?.message)).toContain('; no other strategy sees it. ')
  // What `perpd check` warns of stands in the log of the start, too.
  expect(empty.said()).toContain(
    'no strategy is enabled, so nothing would be traded (guard: enabled is false).',
  )
  await stop(empty)
  expect(linesOf(empty).filter(({ event }) => event === 'account.unmanaged')).toHaveLength(1)
})
