/** What `perpd positions` says of funding that can be claimed. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { positionRows, positionsText } from '../../src/cli/verbs/positionsCommand.ts'
import type { StatusBody } from '../../src/control/routes.ts'
import { orderRow, toPlain } from '../../src/domain/summaries/orderView.ts'
import { money } from '../../src/monitor/text.ts'
import { ONE_USD, usd } from '../../src/protocol/units.ts'
import { status } from '../control/door.ts'

const body: StatusBody = toPlain({
  ...status,
  openIntents: status.openIntents.map(orderRow),
  incidents: [],
})

/** The text with one row for each amount, USD; undefined: the venue does not say it. */
function textOf(amounts: readonly (bigint | undefined)[], width = 80): string {
  const [position] = body.positions
  if (position === undefined) throw new Error('no position')
  const positions = amounts.map((earned) => ({
    ...position,
    ...(earned === undefined ? {} : { pendingClaimableFundingFeesUsd: earned.toString() }),
  }))
  return positionsText(positionRows({ ...body, positions }), body, width)
}
const said = (text: string) => text.replaceAll(/\s+/g, ' ')

test('funding that can be claimed is said, with when it counts and who claims it', () => {
  const text = said(textOf([usd('1.25'), usd(2)]))
  expect(text).toContain('Claimable funding since these positions last changed: $3.25.')
  expect(text).toContain(
    'No PnL includes it until an order changes the position. A strategy of kind claimer prepares the claim',
  )
})

test('nothing is said of less than a cent, nor where the venue does not say it', () => {
  expect(textOf([undefined])).not.toContain('claim')
  expect(textOf([0n])).not.toContain('claim')
  expect(textOf([usd('0.01') - 1n])).not.toContain('claim')
  expect(said(textOf([usd('0.01')]))).toContain('last changed: $0.01.')
})

test('a sum of some rows says of how many', () => {
  expect(said(textOf([usd(5), undefined, usd(1)]))).toContain('last changed: $6.00 by 2 of 3 rows.')
})

test('whatever a host says of it, it changes no other line, and fits the screen', () => {
  const amount = fc.option(fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }), { nil: undefined })
  fc.assert(
    fc.property(fc.array(amount, { minLength: 1, maxLength: 5 }), (amounts) => {
      const text = textOf(amounts)
      const bare = textOf(amounts.map(() => undefined))
      const sum = amounts.reduce<bigint>((all, earned) => all + (earned ?? 0n), 0n)
      expect(text.startsWith(bare)).toBe(true)
      expect(text === bare).toBe(sum < ONE_USD / 100n)
      if (text !== bare) expect(said(text)).toContain(money(sum))
      for (const line of text.slice(bare.length).split('\n')) expect(line.length).toBeLessThanOrEqual(110)
    }),
    { seed: 20_261_124, numRuns: 100 },
  )
})
