/** The chain may be quicker than the venue: what the simulation found. */
import { expect, test } from 'vitest'
import type { EndpointView } from '../../../src/domain/machine/chainView.ts'
import type { Effect } from '../../../src/domain/machine/conclude.ts'
import { foldRecords } from '../../../src/domain/machine/fold.ts'
import { type MachineEvent, step } from '../../../src/domain/machine/step.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import { usd } from '../../../src/protocol/units.ts'
import { armedFacts, ethMarket, intentOf, orderKey, startMs } from '../../support/intents.ts'

const rules = { source: 'chain', trustVenue: false, deadlineMarginMs: 0 } as const
const block = { number: 5n, hash: `0x${'b5'.repeat(32)}`, timestampSeconds: startMs / 1000 + 5 } as const
const transactionHash = `0x${'7a'.repeat(32)}` as const
const view: EndpointView = {
  endpoint: 'one',
  latest: block,
  final: { ...block, number: 1n },
  isDigestUsedAtLatest: true,
  isDigestUsedAtFinal: false,
  consumer: { transactionHash, block, carriesOurSignature: true },
  logs: [
    {
      event: 'OrderCreated',
      orderKey,
      transactionHash,
      block,
      logIndex: 0,
      created: { orderKey, orderType: 2, marketToken: ethMarket, direction: 'long', sizeDeltaUsd: usd(500) },
    },
  ],
}

test('a submit that is answered after the chain showed the landing changes nothing and stops nothing', () => {
  const records: JournalRecord[] = []
  const effects: Effect[] = []
  const feed = (event: MachineEvent) => {
    for (let again = true; again; ) {
      const made = step(foldRecords(records), event, rules)
      if (made.record !== undefined) records.push(made.record)
      effects.push(...made.effects)
      again = made.again
    }
  }
  feed({ type: 'accept', nowMs: startMs, intent: intentOf() })
  feed({ type: 'begin', nowMs: startMs, host: 'http://127.0.0.1:1/v1' })
  feed({ type: 'signed', nowMs: startMs, armed: armedFacts() })
  feed({
    type: 'observed',
    nowMs: startMs,
    observation: {
      atMs: startMs,
      answer: { kind: 'silent', host: 'h', reason: 'no request was sent yet' },
      chain: { configured: 1, endpoints: [view] },
      explained: new Set(),
    },
  })
  expect(records.at(-1)?.kind).toBe('landed')
  effects.length = 0
  feed({ type: 'sent', nowMs: startMs, send: { result: 'accepted', taskId: 'task-1' } })
  expect(records.at(-1)?.kind).toBe('landed')
  expect(effects).toEqual([{ type: 'follow', attempt: 1 }])
})
