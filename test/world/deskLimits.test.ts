/** A limit of the desk in a real process: its accounts together stay within it, and people see budget and use. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { killLeftOver, perpd, scratch, until, writeOnceStrategy } from './processes.ts'

afterEach(killLeftOver)

interface LimitLine {
  readonly scope: string
  readonly limit: string
  readonly value: string
  readonly used?: string
  readonly ofDesk?: string
}

test('two accounts that want 500 dollars each hold 600 together where the desk has no more', {
  timeout: 200_000,
}, async () => {
  const folder = scratch()
  writeOnceStrategy(folder.path)
  const settings = {
    strategies: { paths: [join(folder.path, 'once.yaml')] },
    control: { port: 0 },
    desk: { maxTotalExposureUsd: 600 },
    log: { format: 'json' },
    accounts: { alpha: {}, beta: {} },
  }
  writeFileSync(join(folder.path, 'perpd.json'), JSON.stringify(settings))
  const daemon = perpd(['run'], { cwd: folder.path })
  const ask = async (...args: readonly string[]) => {
    const running = perpd([...args, '--json'], { cwd: folder.path })
    await running.ended
    try {
      return JSON.parse(running.stdout()) as unknown
    } catch {
      return undefined
    }
  }
  const rowsOf = async (account: string) => {
    const { limits = [] } = ((await ask('limits', '--account', account)) ?? {}) as {
      readonly limits?: readonly LimitLine[]
    }
    return limits.filter(({ scope }) => scope === 'desk')
  }
  const shown = await until(
    'both accounts use their whole budgets',
    async () => {
      const rows = [...(await rowsOf('alpha')), ...(await rowsOf('beta'))]
      return rows.length === 2 && rows.every(({ used }) => used === '$300.00') ? rows : undefined
    },
    { seen: daemon.said, timeoutMs: 150_000 },
  )
  for (const row of shown)
    expect(row).toMatchObject({ limit: 'maxTotalExposureUsd', value: '$300.00', ofDesk: '$600.00' })
  const status = perpd(['status', '--account', 'alpha'], { cwd: folder.path })
  await status.ended
  expect(status.stdout()).toContain("budget $300.00 of the desk's $600.00")
  // A hand is held to it as a strategy is, and what is held can always be closed.
  const order = ['--account', 'alpha']
  const opened = perpd(['open', 'ETH/USD', 'long', '--size', '100', '--leverage', '2', '--yes', ...order], {
    cwd: folder.path,
  })
  await opened.ended
  expect(opened.said()).toContain('desk.maxTotalExposureUsd')
  const closed = perpd(['close', 'ETH/USD', 'long', '--yes', ...order], { cwd: folder.path })
  expect(await closed.ended, closed.said()).toBe(0)
  daemon.child.kill('SIGTERM')
  await daemon.ended
  folder.remove()
})
