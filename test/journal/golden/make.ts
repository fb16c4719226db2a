/**
 * Makes a golden journal: `node test/journal/golden/make.ts <path>`. After the first release a file is never made again: it is
 * what users have on their disks.
 */
import { writeSync } from 'node:fs'
import { RECORD_VERSION } from '../../../src/domain/accountRecords/recordVersion.ts'
import type { Closing, Evidence, Intent } from '../../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../../src/domain/records.ts'
import { createSqliteJournal } from '../../../src/journal/sqlite/openSqlite.ts'
import { usd } from '../../../src/protocol/units.ts'
import { armedFacts, intentOf, startMs } from '../../support/intents.ts'

const host = 'https://host.example/v1'
const evidence: Evidence = { level: 'api', atMs: startMs + 1_600, statement: 'seen', host }
const hexOf = (digit: number): `0x${string}` => `0x${digit.toString(16).padStart(64, '0')}`

/** One order, with the names of the steps it went. */
function storyOf(n: number, steps: string, fields: Partial<Intent> = {}): readonly JournalRecord[] {
  const intent = intentOf({
    intentId: n.toString(16).padStart(24, 'c'),
    decisionKey: `eth-trend@${n}`,
    acceptedAtMs: startMs + n * 60_000,
    expiresAtMs: startMs + n * 60_000 + 60_000,
    ...fields,
  })
  const at = (ms: number) =>
    ({ v: RECORD_VERSION, atMs: intent.acceptedAtMs + ms, intentId: intent.intentId }) as const
  const orderKey = hexOf(0x1000 + n)
  const settlement = {
    executionPrice: usd('1801.5'),
    sizeDeltaUsd: intent.terms.sizeDeltaUsd,
    feesUsd: usd('0.3'),
  }
  const closing = (
    outcome: Closing['outcome'],
    code: string,
    more: Partial<Closing> = {},
  ): JournalRecord => ({
    ...at(70),
    kind: 'intent.closed',
    closing: { outcome, code, reason: `it is ${outcome}`, evidence, ...more },
  })
  const made: Record<string, () => JournalRecord> = {
    accepted: () => ({ ...at(0), kind: 'intent.accepted', intent }),
    preparing: () => ({ ...at(1), kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host }),
    armed: () => ({
      ...at(10),
      kind: 'attempt.armed',
      attempt: 1,
      armed: armedFacts({ host, requestId: `req-${n}`, digest: hexOf(n), userNonce: BigInt(n) }),
    }),
    sent: () => ({
      ...at(20),
      kind: 'send.result',
      attempt: 1,
      send: { result: 'accepted', httpStatus: 200 },
    }),
    unanswered: () => ({ ...at(20), kind: 'send.result', attempt: 1, send: { result: 'unanswered' } }),
    landed: () => ({
      ...at(50),
      kind: 'landed',
      attempt: 1,
      orderKeys: [orderKey],
      roles: ['main'],
      evidence,
    }),
    executed: () => ({
      ...at(60),
      kind: 'child.executed',
      attempt: 1,
      child: 0,
      orderKey,
      evidence,
      settlement,
    }),
    frozen: () => ({ ...at(55), kind: 'child.frozen', attempt: 1, child: 0, orderKey, evidence }),
    cancelled: () => ({
      ...at(60),
      kind: 'child.cancelled',
      attempt: 1,
      child: 0,
      orderKey,
      evidence,
      cancelReason: 'OrderNotFulfillableAtAcceptablePrice(1801,1800)',
    }),
    dead: () => ({ ...at(60), kind: 'attempt.dead', attempt: 1, evidence, observedStatus: 'relay_reverted' }),
    'closed-executed': () => closing('EXECUTED', 'EXECUTED', { settlement }),
    'closed-cancelled': () => closing('CANCELLED', 'CANCELLED'),
    'closed-dead': () => closing('DEAD', 'DEAD', { observedStatus: 'relay_reverted' }),
    'closed-refused': () => closing('REFUSED_LOCAL', 'PREPARE_REFUSED'),
  }
  return steps.split(' ').map((step) => {
    const make = made[step]
    if (make === undefined) throw new Error(`no step ${step}`)
    return make()
  })
}

const sent = 'accepted preparing armed sent'
const { decision, terms } = intentOf()
const reduced = {
  kind: 'decrease',
  decision: {
    kind: 'decrease',
    marketToken: terms.marketToken,
    direction: 'long',
    reason: 'r',
    sizeDeltaUsd: usd(200),
  },
  terms: { ...terms, sizeDeltaUsd: usd(200), collateralDelta: 0n, keepLeverage: true },
  reservationUsd: 0n,
} as unknown as Partial<Intent>
const stories = [
  storyOf(1, `${sent} landed executed closed-executed`),
  storyOf(2, `${sent} landed executed closed-executed`, reduced),
  storyOf(3, `${sent} landed cancelled closed-cancelled`),
  storyOf(4, `accepted preparing armed unanswered dead closed-dead`),
  storyOf(5, `accepted preparing closed-refused`),
  storyOf(6, `${sent} landed executed closed-executed`, {
    strategy: 'other',
    decision: { ...decision, direction: 'short' } as Intent['decision'],
    terms: { ...terms, direction: 'short' },
  }),
  storyOf(7, 'accepted'),
  storyOf(8, 'accepted preparing'),
  storyOf(9, 'accepted preparing armed'),
  storyOf(10, 'accepted preparing armed unanswered'),
  storyOf(11, sent),
  storyOf(12, `${sent} landed`),
  storyOf(13, `${sent} landed frozen`),
]

const path = process.argv[2] ?? ''
const journal = createSqliteJournal({ path, clockNow: () => startMs, holder: 'golden' })
// Not one after the other: records of different orders stand between each other, as they do in a real journal.
for (let step = 0; step < 7; step += 1) {
  for (const story of stories) {
    const record = story[step]
    if (record !== undefined) await journal.append(record)
  }
}
writeSync(1, `${JSON.stringify(journal.summary())}\n`)
await journal.close()
