/** Fields of a strategy file that could never act are told where the file is read; what may act is let through. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadStrategies } from '../../src/strategy/files/load.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'perpd-dead-fields-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/** What is said of a trend file with these lines; empty: it loads. */
async function said(lines: string, symbol = 'ETH/USD [WETH-USDC]'): Promise<readonly string[]> {
  const path = join(folder, 'eth.yaml')
  const size = lines.includes('size:') ? '' : 'size: { usd: 250, leverage: 3 }\n'
  writeFileSync(path, `kind: trend\nmarket: "${symbol}"\n${size}${lines}\n`)
  const { problems } = await loadStrategies([path])
  return problems.map(({ message }) => message.replace(/^.*eth\.yaml:/, ''))
}

test.each([
  ['exit: {}', '4:7: exit contains no exit'],
  ['exit: { onSignalOnly: false }', 'exit contains no exit'],
  ['exit: { moveEverySeconds: 60, timeLimitSeconds: 600 }', 'exit.moveEverySeconds has no stop-loss to move'],
  ['exit: { moveStepUsd: 2, takeProfit: { bps: 300 } }', 'exit.moveStepUsd has no stop-loss to move'],
  ['exit: { stopLoss: { bps: 300 }, atr: { period: 5m } }', 'no distance of the block uses it'],
  [
    'exit: { stopLoss: { bps: 300 }, breakEven: { after: { bps: 1 }, offsetBps: 100 } }',
    'exit.breakEven moves the stop-loss 100 bps beyond the entry once the profit is 1 bps: the price would be past it',
  ],
  ['protect: {}', 'protect has no rule'],
  ['protect: { edgeHoldSeconds: 600 }', 'protect.edgeHoldSeconds is the holding time of protect.minEdgeBps'],
  [
    'limits: { minOrderSizeUsd: 200, maxPositionSizeUsd: 100 }',
    'limits.maxPositionSizeUsd is $100.00, below limits.minOrderSizeUsd ($200.00): the instance could never open a position',
  ],
])('%s is refused, for it can never act', async (lines, expected) => {
  const problems = await said(lines)
  expect(problems).toHaveLength(1)
  expect(problems[0]).toContain(expected)
  expect(problems[0]).toContain('fix: ')
})

test.each([
  'exit: { onSignalOnly: true }',
  'exit: { stopLoss: { bps: 300 }, moveEverySeconds: 60, moveStepUsd: 2 }',
  'exit: { stopLoss: { atr: 3 }, atr: { period: 5m } }',
  'exit: { takeProfit: [{ bps: 200, shareBps: 5000 }, { atr: 3, shareBps: 5000 }], atr: { period: 5m } }',
  'exit: { stopLoss: { bps: 300 }, breakEven: { after: { bps: 101 }, offsetBps: 100 } }',
  'protect: { minEdgeBps: 5, edgeHoldSeconds: 600 }\nexit: { takeProfit: { bps: 300 } }',
  'protect: { cooldownAfterExitSeconds: 60 }',
  'limits: { minOrderSizeUsd: 100, maxPositionSizeUsd: 100 }',
])('%s is taken', async (lines) => {
  expect(await said(lines)).toEqual([])
})

test('a stop-loss that the liquidation comes before is refused, by the leverage that is left after the limits', async () => {
  const at10x = 'size: { usd: 250, leverage: 10 }\n'
  expect(await said(`${at10x}exit: { stopLoss: { bps: 2000 } }`)).toEqual([
    expect.stringContaining(
      'exit.stopLoss lies 2000 bps from the entry, and at 10x (size.leverage) the position is liquidated before 1000 bps, so it would never fire',
    ),
  ])
  expect(await said(`${at10x}exit: { trailingStop: { bps: 1000 } }`)).toHaveLength(1)
  expect(await said(`${at10x}exit: { stopLoss: { bps: 900 } }`)).toEqual([])
  // A nearer one that trails from the start is the stop-loss of the entry; one that waits for a profit is not.
  expect(await said(`${at10x}exit: { stopLoss: { bps: 2000 }, trailingStop: { bps: 500 } }`)).toEqual([])
  expect(
    await said(
      `${at10x}exit: { stopLoss: { bps: 2000 }, trailingStop: { bps: 500, activation: { bps: 100 } } }`,
    ),
  ).toHaveLength(1)
  expect(await said(`${at10x}limits: { maxLeverage: 3 }\nexit: { stopLoss: { bps: 2000 } }`)).toEqual([])
})

test('where no stable coin backs the position, its liquidation is not judged from the file', async () => {
  const lines = 'size: { usd: 250, leverage: 10, collateral: long }\nexit: { stopLoss: { bps: 2000 } }'
  expect(await said(lines)).toEqual([])
  const single = 'size: { usd: 250, leverage: 10 }\nexit: { stopLoss: { bps: 2000 } }'
  expect(await said(single, 'ETH/USD [WETH-WETH]')).toEqual([])
})
