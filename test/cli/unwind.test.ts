/** `perpd orders unwind` on a real journal file, as a real process, and the mark of an order that waits for an operator. */

import { join } from 'node:path'
import { expect, test } from 'vitest'
import { RECORD_VERSION } from '../../src/domain/accountRecords/recordVersion.ts'
import { openJournal } from '../../src/journal/service/open.ts'
import { verifySqliteJournal } from '../../src/journal/service/verifyJournal.ts'
import { openSqliteReader } from '../../src/journal/sqlite/journalReader.ts'
import { unwindOf } from '../../src/tasks/unwindTask.ts'
import { armedFacts, intentOf, startMs } from '../support/intents.ts'
import { perpd, scratch } from '../world/processes.ts'

test('an operator has an unknown order undone by name without the daemon, and every list shows it', async () => {
  const folder = scratch()
  try {
    const path = join(folder.path, 'journal.sqlite')
    const journal = await openJournal(path, { clockNow: () => startMs, holder: 'test' })
    const intent = intentOf()
    const base = { v: RECORD_VERSION, atMs: startMs, intentId: intent.intentId } as const
    const armed = armedFacts({ deadlineSeconds: Math.floor(Date.now() / 1_000) - 7_500 })
    await journal.append({ ...base, kind: 'intent.accepted', intent })
    await journal.append({ ...base, kind: 'attempt.preparing', attempt: 1, lane: 'order-chain', host: 'h' })
    await journal.append({ ...base, kind: 'attempt.armed', attempt: 1, armed })
    await journal.append({ ...base, kind: 'send.result', attempt: 1, send: { result: 'unanswered' } })
    await journal.close()
    const say = async (...words: string[]) => {
      const running = perpd([...words, `--journal.path=${path}`, '--evidence.source=api'])
      return { code: await running.ended, said: running.said() }
    }

    const before = await say('orders')
    expect(before.said).toContain('unknown, presumed dead')
    expect(before.said).toMatch(/2 h 5 min past its deadline, outcome not proven: perpd orders resolve/)
    expect(await say('orders', 'unwind', 'f00d')).toEqual({
      code: 4,
      said: 'Give your name: --by YOUR_NAME\n',
    })
    expect((await say('orders', 'unwind', 'beef', '--by', 'Ada')).code).toBe(2)
    expect(await say('orders', 'unwind', 'f00d', '--by', 'Ada', '--reason', 'too late')).toEqual({
      code: 0,
      said: `${intent.intentId} (increase long ETH/USD [WETH-USDC]) will be unwound at the daemon's next start: if it landed, the daemon closes what it opened; requested by Ada.\n`,
    })
    expect((await say('orders')).said).toContain('unknown, unwind requested, presumed dead')
    const [row] = JSON.parse((await say('orders', '--json')).said) as Record<string, unknown>[]
    expect(row).toMatchObject({ unwantedBy: 'Ada', presumedDeadForSeconds: expect.any(Number) })
    const story = (await say('explain', 'f00d')).said.replace(/\s+/g, ' ')
    expect(story).toContain('unwind Ada unwinds it since')
    expect(story).toContain(`Presumed dead: it is 2 h 5 min past its deadline`)
    expect(story).toContain(`perpd orders resolve ${intent.intentId} --as dead --by YOUR_NAME`)

    const reader = openSqliteReader(path)
    expect(unwindOf((await reader.account()).tasks, intent.intentId)).toMatchObject({
      by: 'Ada',
      reason: 'too late',
    })
    await reader.close()
    expect(verifySqliteJournal(path).problems).toEqual([])
  } finally {
    folder.remove()
  }
})
