import { expect, test } from 'vitest'
import { describeLane, type LaneName, laneNames } from '../../src/domain/order/laneTable.ts'

test('records on disk hold these names of lanes', () => {
  expect(laneNames).toEqual(['order-chain', 'relay'])
})

test.each(['own-transaction', 'constructor', '__proto__', ''])(
  'the lane "%s", which this version does not know, is shown by its name and held to the most evidence',
  (name: string) => {
    expect(describeLane(name as LaneName)).toEqual({
      label: `lane ${name}`,
      takesOwnMessages: false,
      followsOrders: true,
      signsOwnDeadline: false,
    })
  },
)
