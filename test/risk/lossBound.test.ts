/** The figures of the table in docs/reference/bounds.md, by the settings that are shipped. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { lossBoundText, lossTermsOf } from '../../src/cli/verbs/lossTerms.ts'
import { loadConfig } from '../../src/config/loadConfig.ts'
import { formatUsd, usd } from '../../src/protocol/units.ts'
import { type Liar, lossBoundOf } from '../../src/risk/lossBound.ts'

const shipped = (argv: string[] = []) =>
  loadConfig({ argv: ['--profile', 'arbitrum', ...argv], env: {}, cwd: '/nonexistent' }).config
const dayOf = (liar: Liar, hasChain: boolean) =>
  lossBoundOf(lossTermsOf(shipped(), hasChain), liar)?.dayUsd ?? 0n
const document = readFileSync(join(import.meta.dirname, '../../docs/reference/bounds.md'), 'utf8')

test('hosts that lie cost less than $2,500 a day at the shipped limits, where the chain is read', () => {
  for (const liar of ['prepare', 'host', 'hosts', 'endpoint'] as const)
    expect(dayOf(liar, true), liar).toBeLessThan(usd(2_500))
  expect(dayOf('host', false)).toBeLessThan(usd(2_500))
})

test('the table of docs/reference/bounds.md has these figures', () => {
  const rows: readonly (readonly [string, bigint])[] = [
    ['hosts, with the chain', dayOf('hosts', true)],
    ['one host, without', dayOf('host', false)],
    ['hosts, without', dayOf('hosts', false)],
    ['hosts and oracle, with', dayOf('oracle', true)],
  ]
  for (const [name, dayUsd] of rows) expect(document, name).toContain(formatUsd(dayUsd))
})

test('a check says the figure, and that it is another one without endpoints', () => {
  expect(lossBoundText(shipped(['--rpc.http=https://rpc.example.org']))).toContain(
    formatUsd(dayOf('hosts', true)),
  )
  expect(lossBoundText(shipped())).toContain(formatUsd(dayOf('hosts', false)))
  expect(lossBoundText(shipped())).toContain('rpc.http')
})

test('every setting moves the bound the way it should, and no part is below 0', () => {
  const terms = lossTermsOf(shipped(), true)
  const amounts = [
    'maxDailyLossUsd',
    'maxTotalExposureUsd',
    'relayFeesPerDayUsd',
    'reductionFeesPerDayUsd',
    'maxReductionFeeUsd',
    'priceImpactPerDayUsd',
  ] as const
  const liars = fc.constantFrom<Liar>('prepare', 'host', 'hosts', 'endpoint', 'oracle')
  const amount = fc.bigInt({ min: 0n, max: usd(1_000_000) })
  fc.assert(
    fc.property(
      liars,
      fc.constantFrom(...amounts),
      amount,
      amount,
      fc.boolean(),
      (liar, name, one, other, hasChain) => {
        const of = (value: bigint) => lossBoundOf({ ...terms, hasChain, [name]: value }, liar)
        const [less, more] = one < other ? [of(one), of(other)] : [of(other), of(one)]
        expect(less?.dayUsd).toBeLessThanOrEqual(more?.dayUsd ?? 0n)
        for (const { usd: part } of more?.parts ?? []) expect(part).toBeGreaterThanOrEqual(0n)
      },
    ),
  )
  expect(lossBoundOf({ ...terms, maxDailyLossUsd: undefined } as never, 'hosts')?.dayUsd).toBeGreaterThan(
    lossBoundOf(terms, 'hosts')?.dayUsd ?? 0n,
  )
})
