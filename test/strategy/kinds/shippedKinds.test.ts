import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'
import { nearClosing } from '../../../src/domain/limits/closingTimes.ts'
import { expressGasPrice, messageFeesOf } from '../../../src/protocol/chains/feeFormula.ts'
import { chainGas } from '../../../src/protocol/chains/gas.ts'
import { chains } from '../../../src/protocol/chains/index.ts'
import { ONE_USD, usd } from '../../../src/protocol/units.ts'
import { loadStrategies } from '../../../src/strategy/files/load.ts'
import { builtInKinds } from '../../../src/strategy/kinds/kinds.ts'
import { shippedStrategies } from '../../support/shippedFiles.ts'

const folder = join(import.meta.dirname, '..', '..', '..', 'strategies', 'examples')
const files = shippedStrategies.filter((path) => basename(dirname(path)) === 'examples')

test('every example loads without a problem, is off, and is of a built-in kind', async () => {
  const { strategies, disabled, problems } = await loadStrategies(files)
  expect(problems).toEqual([])
  expect(strategies).toEqual([])
  expect(disabled).toHaveLength(files.length)
})

test.each(files)('%s has params that its kind reads, and its needs name its markets', (name) => {
  const file = parse(readFileSync(name, 'utf8'))
  const kind = builtInKinds[file.kind]
  const symbols = file.markets ?? (file.market === undefined ? [] : [file.market])
  const params = kind?.params.parse(file.params)
  expect(kind?.needs(params, symbols).symbols).toEqual(symbols)
})

test('an example keeps entries from the closings of its market: each day, the weekend and a holiday', async () => {
  const home = mkdtempSync(join(tmpdir(), 'perpd-example-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  const text = readFileSync(join(folder, 'gold-trend.yaml'), 'utf8').replace(
    'enabled: false',
    'enabled: true',
  )
  writeFileSync(join(home, 'gold-trend.yaml'), text)
  const [loaded] = (await loadStrategies([home])).strategies
  const closings = loaded?.protect?.closings
  if (closings === undefined) throw new Error('no closings')
  // In New York it is UTC-5 on these days.
  const isNear = (utc: string): boolean => nearClosing(closings, Date.parse(`${utc}:00Z`)) !== undefined
  expect(
    ['2026-12-01T21:14', '2026-12-01T21:15', '2026-12-01T23:14', '2026-12-01T23:15'].map(isNear),
  ).toEqual([false, true, true, false])
  expect(
    ['2026-12-04T21:15', '2026-12-05T12:00', '2026-12-06T23:14', '2026-12-06T23:15'].map(isNear),
  ).toEqual([true, true, true, false])
  expect(['2026-12-24T17:59', '2026-12-24T18:00', '2026-12-25T12:00'].map(isNear)).toEqual([
    false,
    true,
    true,
  ])
})

/** What sending an entry with its stop and a close costs on Arbitrum at its usual gas price and ETH at $1,750, US dollars. */
function sendingUsd(): number {
  const { blocks, feeSwapPath } = chains.arbitrum
  const networkGasPrice = BigInt(blocks.gasPriceWei)
  const gasPrice = expressGasPrice(chainGas.arbitrum, { networkGasPrice, priorityFee: 0n })
  const prices = { native: usd(1_750), feeToken: ONE_USD, feeTokenDecimals: 6 }
  const feeOf = (kinds: readonly ('increase' | 'decrease')[]) =>
    messageFeesOf(chainGas.arbitrum, gasPrice, prices, {
      creates: kinds.map((kind) => ({ kind, swaps: 0 })),
      updates: 0,
      cancels: 0,
      feeSwaps: feeSwapPath.length,
    }).feeAmount
  return Number(feeOf(['increase', 'decrease']) + feeOf(['decrease'])) / 1e6
}

test.each([
  // Fees of 6 bps an order; impact-capture takes them off by itself.
  ['eth-carry.yaml', 'costBps', 1, 12],
  ['eth-hedged-carry.yaml', 'costBps', 2, 24],
  ['eth-impact-capture.yaml', 'sendingBps', 1, 0],
] as const)('%s reckons in %s with all that its size costs, sending included', (name, field, trips, fees) => {
  const file = parse(readFileSync(join(folder, name), 'utf8'))
  const needed = fees + (trips * sendingUsd() * 10_000) / file.size.usd
  expect(file.params[field]).toBeGreaterThanOrEqual(needed)
  expect(file.params[field]).toBeLessThan(needed + 10)
  // Left out it is what the shipped file says.
  const { [field]: _left, ...rest } = file.params
  expect(builtInKinds[file.kind]?.params.parse(rest)).toMatchObject({ [field]: file.params[field] })
})

test.each([
  ['eth-carry.yaml', 'costBps', 12],
  ['eth-impact-capture.yaml', 'sendingBps', 0],
] as const)('%s sends no order so small that what it costs is 10 bps above its %s', (name, field, fees) => {
  const { limits, params, size } = parse(readFileSync(join(folder, name), 'utf8'))
  const costs = (sizeUsd: number) => fees + (sendingUsd() * 10_000) / sizeUsd
  expect(costs(limits.minOrderSizeUsd)).toBeLessThan(params[field] + 10)
  // An order of the file itself goes through, cut a little too.
  expect(limits.minOrderSizeUsd).toBeLessThan(size.usd * 0.9)
})

/** Rows of a document's tables whose first cell is code, as the names of that cell. */
function namedIn(document: string): readonly string[] {
  const text = readFileSync(join(folder, '..', '..', document), 'utf8')
  const cells = [...text.matchAll(/^\| ((?:`[a-z-]+`(?:, )?)+) \|/gm)].map(([, cell = '']) => cell)
  return cells.flatMap((cell) => cell.replaceAll('`', '').split(', '))
}

test('docs/keepers.md has a row for every keeper, and for no other kind', () => {
  const keepers = Object.values(builtInKinds).filter(({ opensPositions }) => !opensPositions)
  expect([...namedIn('docs/keepers.md')].sort()).toEqual(keepers.map(({ kind }) => kind).sort())
})

test('strategies/README.md names every built-in kind, and their number', () => {
  const text = readFileSync(join(folder, '..', 'README.md'), 'utf8')
  const kinds = Object.keys(builtInKinds)
  expect(text).toContain(`${kinds.length} kinds ship`)
  expect(kinds.filter((kind) => !text.includes(`\`${kind}\``))).toEqual([])
})
