/** Percentages as people read them. */
import { expect, test } from 'vitest'
import { formatPercent } from '../../src/protocol/percentText.ts'

test('a percentage shows two places, and two digits of what is smaller', () => {
  const of = (bps1000: bigint) => formatPercent(bps1000, 10_000_000n)
  expect([123_400n, 47_000n, 4_700n, 1_900n, 190n, -47_000n, 19n, 0n].map(of)).toEqual([
    ...['1.23%', '0.47%', '0.047%', '0.019%', '0.0019%', '-0.47%', '0.00019%', '0.00%'],
  ])
})

test('a drawdown of 0.019 percent is not shown as 0.01 or 0.02', () => {
  expect(formatPercent(19_000n, 100_000_000n)).toBe('0.019%')
  expect(formatPercent(1n, 10n ** 12n)).toBe('0.00%')
  expect(formatPercent(5n, 0n)).toBe('0.00%')
})
