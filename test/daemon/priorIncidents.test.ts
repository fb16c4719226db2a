/** Messages over a restart: the end of what began before it goes to who was told of its beginning. */
import { expect, test } from 'vitest'
import type { ToldApproval } from '../../src/account/subaccountWatch.ts'
import { Secret } from '../../src/base/secret.ts'
import { systemClock } from '../../src/base/systemClock.ts'
import { priorIncidents } from '../../src/daemon/notices/priorIncidents.ts'
import {
  type AccountState,
  applyAccountRecord,
  type Discrepancy,
  emptyAccountState,
} from '../../src/domain/accountRecords/accountRecord.ts'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Event } from '../../src/domain/event.ts'
import type { IntentState } from '../../src/domain/order/intent.ts'
import type { NoticeLevel } from '../../src/monitor/events/notice.ts'
import { createIncidents } from '../../src/monitor/incidents/incidents.ts'
import { createNotifier } from '../../src/notify/notifier.ts'
import { sinkSettings } from '../../src/notify/sinkSettings.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedState } from '../monitor/events.ts'
import { account, ethMarket, startMs, usdc } from '../support/intents.ts'

const { intent } = armedState
const unknownState: IntentState = {
  ...armedState,
  attempts: armedState.attempts.map((attempt) => ({ ...attempt, phase: 'UNRESOLVED' })),
}
const discrepancy: Discrepancy = {
  ...{ discrepancyId: 'trade:1', kind: 'unexplained-position', statement: 'It is not known.' },
  ...{ account, marketToken: ethMarket, collateralToken: usdc, direction: 'long', sizeDeltaUsd: usd(5) },
} as Discrepancy

const key = { subaccount: account }

/** The account after these facts. */
function accountOf(...facts: readonly object[]): AccountState {
  return facts.reduce<AccountState>(
    (state, fact) =>
      applyAccountRecord(state, {
        ...fact,
        ...{ v: RECORD_VERSION, atMs: startMs, intentId: 'account' },
      } as never),
    emptyAccountState,
  )
}

const begun = [
  {
    kind: 'trading.state',
    ...{ scope: 'account', cause: 'drawdown', state: 'halted', reason: 'It fell.', by: 'perpd' },
    releasedBy: 'operator',
  },
  { kind: 'discrepancy.raised', discrepancy },
  { kind: 'strategy.switched', strategy: 'eth-trend', to: 'paused', reason: 'It rests.', by: 'ann' },
]
const ended: readonly Event[] = [
  {
    type: 'trading.state',
    ...{ scope: 'account', state: 'active', cause: 'drawdown', isReleased: true, reason: 'Ann released it.' },
  },
  { type: 'account.discrepancySettled', discrepancy, as: 'adopted' },
  {
    type: 'order.moved',
    ...{ intent, from: 'unknown', to: 'pending', reason: 'It landed.', state: armedState },
  },
  { type: 'strategy.switched', strategy: 'eth-trend', to: 'running', reason: 'It may.', by: 'ann' },
]

/** What a sink of that level is sent: kinds of events, after a start on that journal. */
async function sentTo(
  level: NoticeLevel,
  journal: Parameters<typeof priorIncidents>[0],
  events: readonly Event[] = ended,
  told: Partial<ToldApproval> = {},
): Promise<string[]> {
  const sent: string[] = []
  const settings = sinkSettings(() => true).parse({
    ...{ type: 'webhook', name: 'one', url: 'https://one.example', secretFile: '/x', level },
  })
  const notifier = createNotifier({
    incidents: createIncidents({ now: () => 0 }),
    sinks: [{ settings, secrets: new Map([['secretFile', new Secret('s'.repeat(32))]] as const) }],
    post: async (_, { body }) => {
      sent.push(JSON.parse(String(body)).event)
      return { status: 200, headers: new Headers(), text: async () => '' }
    },
    postMail: () => Promise.reject(new Error('nobody has a mailbox')),
    clock: systemClock,
    emit: () => undefined,
    redact: (text) => text,
    ...{ maxWaiting: 10, timeoutMs: 1_000, profile: 'paper' },
  })
  notifier.recall(priorIncidents(journal, { hosts: ['one.example'], approval: { ...key, ...told } }))
  for (const event of events) notifier.listen(event)
  await notifier.close(10_000)
  return sent
}

test('the end of a halt, a discrepancy, an unknown order and a pause of before a restart goes to who was told of it', async () => {
  const journal = { account: () => accountOf(...begun), openIntents: () => [unknownState, armedState] }
  expect(await sentTo('warn', journal)).toEqual([
    ...['trading-state', 'account-settled', 'order-proven', 'strategy-paused'],
  ])
  // Who takes errors alone was told of the discrepancy, and of nothing else.
  expect(await sentTo('error', journal)).toEqual(['account-settled'])
})

test('a hold of before a restart that ends with its cause is told to be over by a stop at the latest, and not that it came back', async () => {
  const hold = { scope: 'account', cause: 'stale-data', reason: 'It is old.', releasedBy: 'itself' } as const
  const held = { kind: 'trading.state', state: 'reducing', by: 'perpd', ...hold }
  const journal = { account: () => accountOf(held), openIntents: () => [] }
  const begun: Event = { type: 'trading.state', state: 'reducing', isPassing: true, ...hold }
  const { releasedBy: _, ...rest } = begun
  const lifted: Event = { ...rest, state: 'active', isReleased: true }
  expect(priorIncidents(journal, { hosts: [], approval: key })).toEqual([begun])
  expect(await sentTo('warn', journal, [lifted])).toEqual(['trading-state'])
  expect(await sentTo('warn', journal, [lifted, begun])).toEqual([])
})

test('a contradiction of before a restart ends where its beginning went, and one of a host that is asked no more does not keep it open', async () => {
  const eth = { host: 'one.example', address: ethMarket, statement: 'calls WETH something else' }
  const gone = { ...eth, host: 'gone.example' }
  const raised = accountOf({ kind: 'market.contradicted', contradictions: [eth, gone] })
  const journal = { account: () => raised, openIntents: () => [] }
  const symbols = ['ETH/USD [WETH-USDC]']
  expect(
    await sentTo('error', journal, [{ type: 'market.settled', contradictions: [eth], symbols }]),
  ).toEqual(['market-contradicted'])
  const settled = accountOf(
    { kind: 'market.contradicted', contradictions: [eth] },
    { kind: 'market.settled', contradictions: [eth] },
  )
  expect(
    priorIncidents({ ...journal, account: () => settled }, { hosts: ['one.example'], approval: key }),
  ).toEqual([])
})

test('a renewal of an approval that ran low, or was gone, before a restart goes to who was told of that', async () => {
  const journal = { account: () => accountOf(), openIntents: () => [] }
  const report = {
    ...{ address: account, isActive: true, isApprovalWaiting: false },
    ...{ remainingActions: 90, neededActions: 2, expiresAtSeconds: 1_900_000_000 },
  }
  const over: readonly Event[] = [{ type: 'subaccount.renewed', report }, { type: 'subaccount.fileRight' }]
  const low = { left: 3n, expiresAtSeconds: 1_800_000_000, isGone: false }
  expect(await sentTo('warn', journal, over, { low })).toEqual(['key-approval'])
  expect(await sentTo('error', journal, over, { low })).toEqual([])
  expect(await sentTo('error', journal, over, { low: { ...low, isGone: true }, isUnread: true })).toEqual([
    'key-approval',
    'key-approval',
  ])
  expect(await sentTo('warn', journal, over)).toEqual([])
})

test('what was over before the restart, or never was, has no end to be told', async () => {
  const over = [
    {
      kind: 'trading.state',
      ...{ scope: 'account', cause: 'drawdown', state: 'active', reason: 'It may.', by: 'ann' },
      releasedBy: 'operator',
    },
    { kind: 'discrepancy.settled', discrepancyId: 'trade:1', as: 'adopted' },
    { kind: 'strategy.switched', strategy: 'eth-trend', to: 'running', reason: 'It may.', by: 'ann' },
  ]
  const journal = { account: () => accountOf(...begun, ...over), openIntents: () => [armedState] }
  expect(priorIncidents(journal, { hosts: [], approval: key })).toEqual([])
  // By its own level a strategy that goes on is told to who takes warnings.
  expect(await sentTo('warn', journal)).toEqual(['strategy-paused'])
  expect(await sentTo('error', journal)).toEqual([])
})
