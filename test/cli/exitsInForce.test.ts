/** `perpd orders` after a position was closed in part: its exits are told as they are in force. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import type { Intent } from '../../src/domain/order/intent.ts'
import type { JournalRecord } from '../../src/domain/records.ts'
import { createSqliteJournal } from '../../src/journal/sqlite/openSqlite.ts'
import type { Hex } from '../../src/protocol/address.ts'
import { usd } from '../../src/protocol/units.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'
import { perpd } from './run.ts'

const cwd = mkdtempSync(join(tmpdir(), 'perpd-exits-'))
afterEach(() => rmSync(cwd, { recursive: true }))

const evidence = { level: 'api', atMs: startMs, statement: 'it was seen' } as const
const keyOf = (digit: string): Hex => `0x${digit.repeat(64)}`

/** The story of an order whose first created order is filled. */
function filled(
  intent: Intent,
  at: number,
  sizeDeltaUsd: bigint,
  orderKeys: readonly Hex[],
): JournalRecord[] {
  const stamp = { v: RECORD_VERSION, atMs: startMs + at, intentId: intent.intentId } as const
  const [orderKey = keyOf('0')] = orderKeys
  const digest = keyOf(String(at))
  const roles = (['main', 'take-profit', 'stop-loss'] as const).slice(0, orderKeys.length)
  return [
    { ...stamp, kind: 'intent.accepted', intent },
    { ...stamp, kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'http://127.0.0.1:1/v1' },
    { ...stamp, kind: 'attempt.armed', attempt: 1, armed: armedFacts({ digest, requestId: `req-${at}` }) },
    { ...stamp, kind: 'send.result', attempt: 1, send: { result: 'accepted' } },
    { ...stamp, kind: 'landed', attempt: 1, orderKeys, roles, evidence },
    {
      ...stamp,
      kind: 'child.executed',
      attempt: 1,
      child: 0,
      orderKey,
      evidence,
      settlement: { sizeDeltaUsd },
    },
  ]
}

test('an exit shows what is held, and what was signed, once a part of the position was closed', async () => {
  const { terms } = intentOf()
  const opened = intentOf({
    terms: {
      ...terms,
      tpsl: [
        { type: 'take-profit', triggerPrice: usd(1900), sizeDeltaUsd: usd(500) },
        { type: 'stop-loss', triggerPrice: usd('1600.12345678'), sizeDeltaUsd: usd(200) },
      ],
    },
  })
  const half = intentOf({
    intentId: 'abcd00000000000000000002',
    kind: 'decrease',
    decisionKey: 'half',
    reservationUsd: 0n,
    terms: { ...terms, sizeDeltaUsd: usd(250) },
  })
  const journal = createSqliteJournal({
    path: join(cwd, 'var/paper/journal.db'),
    clockNow: () => startMs,
    holder: 'test',
  })
  const records = [
    ...filled(opened, 1, usd(500), [keyOf('a'), keyOf('b'), keyOf('c')]),
    ...filled(half, 2, usd(250), [keyOf('d')]),
  ]
  for (const record of records) await journal.append(record)
  await journal.close()

  const lines = (await perpd(cwd, ['orders'])).out.replaceAll(/ +/g, ' ')
  expect(lines).toContain(
    'resting take-profit $250.00 $1,900.00000000 size of the position; signed for $500.00',
  )
  // As much as it was signed for is held; its trigger is shown as the order holds it, and the other with as many places.
  expect(lines).toMatch(/resting stop-loss \$200\.00 \$1,600\.12345678\s*$/m)
  const rows = JSON.parse((await perpd(cwd, ['orders', '--json'])).out) as {
    legs: { role: string; sizeDeltaUsd: string; inForceUsd: string | null }[]
  }[]
  const legs = rows.flatMap((row) => row.legs).map(({ role, inForceUsd }) => [role, inForceUsd])
  expect(legs).toEqual([
    ['main', null],
    ['main', null],
    ['take-profit', usd(250).toString()],
    ['stop-loss', usd(200).toString()],
  ])
})
