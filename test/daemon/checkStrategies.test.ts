/** What `perpd check` warns of in strategy files that would start. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { exampleOf } from '../../src/cli/strategies/shippedExamples.ts'
import { shippedFiles } from '../../src/daemon/ownFiles/shippedFiles.ts'
import { loadCatalog } from '../../src/paper/catalog/catalog.ts'
import { kindsThatSay, LEAST_FEES } from '../../src/strategy/files/edgeWarning.ts'
import { perpd } from '../cli/run.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-check-'))
  mkdirSync(join(cwd, 'strategies'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const write = (name: string, ...lines: string[]): void =>
  writeFileSync(join(cwd, 'strategies', `${name}.yaml`), ['kind: trend', ...lines].join('\n'))
const eth = 'market: ETH/USD [WETH-USDC]'
const size = (usd: number, leverage = 2, collateral = 'short') =>
  `size: { usd: ${usd}, leverage: ${leverage}, collateral: ${collateral} }`
async function warnings(...argv: string[]): Promise<readonly string[]> {
  const { code, out } = await perpd(cwd, ['check', '--json', ...argv])
  expect(code).toBe(0)
  return JSON.parse(out).warnings
}

test('two instances on one market and collateral are told; other collateral and other markets are not', async () => {
  write('one', eth, size(100))
  write('other-collateral', eth, size(100, 2, 'long'))
  write('other-market', 'market: BTC/USD [BTC-USDC]', size(100))
  expect(await warnings()).toEqual([])
  write('two', eth, size(100))
  expect(await warnings()).toEqual([
    'one and two trade ETH/USD [WETH-USDC] with the short token as collateral: the venue merges both into one position for each direction. Each strategy reduces its own part only; they share leverage and liquidation price.',
  ])
})

test('a size above what the limits allow and limits looser than the account are told, with both figures', async () => {
  write(
    'one',
    eth,
    size(300, 20),
    'limits: { maxOrderSizeUsd: 5000, maxSlippageBps: 10, maxOrdersPerHour: 900 }',
  )
  expect(
    await warnings('--risk.maxOrderSizeUsd=200', '--risk.maxLeverage=10', '--risk.maxSlippageBps=50'),
  ).toEqual([
    'one: size.usd is $300.00, and maxOrderSizeUsd allows $200.00 on ETH/USD [WETH-USDC]: every order is cut to it.',
    'one: size.leverage is 20, and maxLeverage allows 10 on ETH/USD [WETH-USDC]: every order of $300.00 is cut to $150.00, for the collateral stays as asked.',
    "one: maxOrderSizeUsd $5,000.00 is looser than the account's $200.00, which holds.",
  ])
})

test('a leverage so far above the limit that nothing is left of an order is told as that', async () => {
  write('one', eth, size(100, 200))
  expect(await warnings('--risk.maxLeverage=10')).toEqual([
    'one: size.leverage is 200, and maxLeverage allows 10 on ETH/USD [WETH-USDC]: every order of $100.00 is cut to $5.00, which is below minOrderSizeUsd ($10.00): every order is denied.',
  ])
})

test('files none of which is enabled are told; what ships has no warning', async () => {
  write('one', eth, size(100), 'enabled: false')
  expect(await warnings()).toEqual([
    'no strategy is enabled, so nothing would be traded (one: enabled is false).',
  ])
  const root = resolve(import.meta.dirname, '..', '..')
  const shipped = [...shippedFiles()]
    .filter((path) => /^strategies\/[^/]+\.yaml$/.test(path))
    .map((path) => resolve(root, path))
  expect(await warnings(...shipped.map((path) => `--strategies.paths=${path}`))).toEqual([])
})

const edged = (minEdgeBps: number, ...exit: string[]) => [
  eth,
  size(100),
  `protect: { minEdgeBps: ${minEdgeBps} }`,
  ...exit,
]

test('a least edge that no entry of the file can pass by the fees alone is told, with the figures and the fix', async () => {
  write('near', ...edged(55, 'exit: { takeProfit: { bps: 60 } }'))
  expect(await warnings()).toEqual([
    "near: protect.minEdgeBps denies every entry (EDGE_TOO_SMALL): the nearest exit.takeProfit lies 60 bps away, the venue's fees alone are 4 + 6 bps, and the 50 bps that are left are less than its 55 bps. Put takeProfit well above 65 bps, or minEdgeBps well below 50.",
  ])
  write('near', ...edged(50, 'exit: { takeProfit: { bps: 60 } }'))
  expect(await warnings()).toEqual([])
  // The nearest of several decides, and one in other units may be nearer still.
  write(
    'near',
    ...edged(55, 'exit: { takeProfit: [{ bps: 60, shareBps: 5000 }, { atr: 9, shareBps: 5000 }] }'),
  )
  expect(await warnings()).toMatchObject([expect.stringContaining('lies 60 bps away')])
  write('near', ...edged(55, 'exit: { takeProfit: { usd: 1 } }'))
  expect(await warnings()).toEqual([])
})

test('a least edge of a file without a target is told, but for kinds that say what they expect', async () => {
  write('silent', ...edged(20))
  expect(await warnings()).toEqual([
    'silent: protect.minEdgeBps denies every entry (EDGE_UNKNOWN): the file has no exit.takeProfit, so the expected profit is unknown. Add one well above 30 bps, or remove minEdgeBps.',
  ])
  rmSync(join(cwd, 'strategies', 'silent.yaml'))
  for (const kind of kindsThatSay) {
    const file = exampleOf(kind)?.path ?? ''
    const text = readFileSync(file, 'utf8').replace('enabled: false', 'enabled: true')
    writeFileSync(
      join(cwd, 'strategies', `${kind}.yaml`),
      `${text.replace(/^protect:\n( .*\n)*/m, '')}\nprotect: { minEdgeBps: 9000 }\n`,
    )
  }
  expect((await warnings()).filter((each) => each.includes('minEdgeBps'))).toEqual([])
})

test('the fees that are counted are the least of every market in the catalogues', () => {
  for (const chain of ['arbitrum', 'avalanche', 'megaeth'] as const) {
    const { config, defaultConfig } = loadCatalog(chain)
    const of = (name: string) =>
      Math.min(...[...Object.values(config), defaultConfig].map((each) => Number(each[name as never]) / 1e26))
    expect(of('positionFeeFactorForBalanceWasImproved')).toBe(LEAST_FEES.openingBps)
    expect(of('positionFeeFactorForBalanceWasNotImproved')).toBe(LEAST_FEES.closingBps)
  }
})
