import { expect, test } from 'vitest'
import { withAccountLabels } from '../../src/monitor/metrics/accountLabels.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'

const options = { version: '0.1.0', profile: 'paper', chain: 'arbitrum' }

test('each sample of an account has its name, those of the process have none, and each series stands once', async () => {
  const rows = [
    { name: 'alpha', isRunning: true },
    { name: 'beta', isRunning: false },
  ]
  const ofProcess = createMetrics({ ...options, accounts: () => rows })
  ofProcess.listen({
    type: 'rows.missing',
    route: '/markets',
    host: 'http://one',
    rows: [{ problem: 'odd' }],
  })
  const texts = rows.map(async ({ name }) => {
    const own = createMetrics({ ...options, isOfAccount: true })
    own.listen({ type: 'tick.skipped', strategy: name, reason: 'slow' } as never)
    return { name, text: await own.render() }
  })
  const text = withAccountLabels(await ofProcess.render(), await Promise.all(texts))
  const samples = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  expect(samples).toContain('perpd_account_running{account="alpha"} 1')
  expect(samples).toContain('perpd_account_running{account="beta"} 0')
  expect(samples.filter((line) => line.startsWith('perpd_build_info'))).toHaveLength(1)
  expect(samples.filter((line) => line.startsWith('perpd_missing_rows_total'))).toEqual([
    expect.stringMatching(/^perpd_missing_rows_total\{route="[^"]+",host="one"\} 1$/),
  ])
  // No series of accounts without an account: its zero would be a figure of nobody.
  expect(samples.filter((line) => /^perpd_\w+ /.test(line))).toEqual([])
  expect(samples.some((line) => line.startsWith('nodejs_'))).toBe(true)
  expect(samples.filter((line) => line.startsWith('nodejs_version_info'))).toHaveLength(1)
  const helps = text.match(/^# HELP \S+/gm) ?? []
  expect(new Set(helps).size).toBe(helps.length)
})

test('a label that is there already is set to the account, and odd values stay whole', () => {
  const text =
    '# HELP a b\n# TYPE a gauge\nperpd_a{x="} 1 {"} 5\nperpd_b 1\nperpd_c{account="rows",k="v"} 2\n'
  expect(
    withAccountLabels('', [{ name: 'alpha', text }])
      .split('\n')
      .slice(2),
  ).toEqual([
    'perpd_a{account="alpha",x="} 1 {"} 5',
    'perpd_b{account="alpha"} 1',
    'perpd_c{account="alpha",k="v"} 2',
    '',
  ])
})
