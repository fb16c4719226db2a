/** What the chain is asked about an attempt: what the simulation found. */
import { expect, test } from 'vitest'
import { queryOf } from '../../src/execution/track/chainObservation.ts'
import { armedFacts, intentOf } from '../support/intents.ts'

const attemptArmedAt = (armBlockNumber: bigint) => ({
  intent: intentOf(),
  attempts: [
    {
      n: 1,
      lane: 'order-chain' as const,
      host: 'http://127.0.0.1:1/v1',
      phase: 'ARMED' as const,
      armed: armedFacts({ armBlockNumber }),
      children: [],
    },
  ],
  updatedAtMs: 0,
})

test('a use is looked for in blocks before the newest one at arming: a reorganisation can put it there', () => {
  expect(queryOf(attemptArmedAt(1_000_000n), undefined)?.fromBlock).toBe(990_000n)
  expect(queryOf(attemptArmedAt(50n), undefined)?.fromBlock).toBe(0n)
})
