/** `perpd orders resolve` on a real journal file, as a real process. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { openJournal } from '../../src/journal/service/open.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'
import { ordersOf, perpd, scratch } from '../world/processes.ts'

test('an operator closes an unknown order by name, and the journal keeps the word', async () => {
  const folder = scratch()
  try {
    const path = join(folder.path, 'journal.sqlite')
    const journal = await openJournal(path, { clockNow: () => startMs, holder: 'test' })
    const intent = intentOf()
    const base = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId } as const
    await journal.append({ ...base, kind: 'intent.accepted', intent })
    await journal.append({ ...base, kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'h' })
    await journal.append({ ...base, kind: 'attempt.armed', attempt: 1, armed: armedFacts() })
    await journal.append({ ...base, kind: 'send.result', attempt: 1, send: { result: 'unanswered' } })
    await journal.close()
    expect((await ordersOf(folder.path))[0]?.status).toBe('unknown')

    const nameless = perpd(['orders', 'resolve', intent.intentId, '--as', 'dead', `--journal.path=${path}`])
    expect(await nameless.ended).toBe(4)
    const missing = perpd([
      'orders',
      'resolve',
      'ffff',
      '--as',
      'dead',
      '--by',
      'Ada',
      `--journal.path=${path}`,
    ])
    expect(await missing.ended).toBe(2)
    const done = perpd(['orders', 'resolve', 'f00d', '--as', 'dead', '--by', 'Ada', `--journal.path=${path}`])
    expect(await done.ended, done.said()).toBe(0)
    expect(done.stdout()).toBe(
      `${intent.intentId} (increase long ETH/USD [WETH-USDC]) is closed as dead, by Ada.\n`,
    )
    expect((await ordersOf(folder.path))[0]).toMatchObject({
      status: 'expired',
      reason: 'Ada says it is dead',
    })
  } finally {
    folder.remove()
  }
})
