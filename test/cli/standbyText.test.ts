/** Words on the database of a journal at the terminal and in the console: holder, epoch, and how far which standby is behind. */
import { expect, test } from 'vitest'
import { serverText, standbyText } from '../../src/cli/output/standbyText.ts'
import { texts } from '../../src/control/console/page/texts.ts'

const sinceMs = Date.UTC(2027, 0, 15, 8)
const server = { isHeld: true, holder: 'one/4711', epoch: 4, sinceMs } as const

/** A standby as the server reports it, and the words that an operator must find at the terminal and in the console. */
const cases = [
  [{ standbys: 0, isSynchronous: false }, /epoch 4; database: no standby server$/, /^no standby server$/],
  [
    { standbys: 1, isSynchronous: true, lagBytes: 0 },
    /epoch 4; database: 1 standby server, synchronous, 0 bytes/,
    /1 standby, synchronous, 0 bytes/,
  ],
  [
    { standbys: 2, isSynchronous: false, lagBytes: 4096 },
    /2 standby servers, ASYNCHRONOUS.*4096 bytes/,
    /2 standbys, asynchronous, 4,?096 bytes/,
  ],
  // The user of the database may not see it, and is given the remedy.
  [
    { standbys: 1, isSynchronous: true },
    /1 standby server, synchronous.*pg_monitor/,
    /^1 standby, synchronous$/,
  ],
] as const

test.each(cases)(
  'the standbys %j are told at the terminal and in the console',
  (replication, terminal, console) => {
    expect(serverText({ ...server, replication })).toMatch(terminal)
    expect(texts.hosts.standbys(replication)).toMatch(console)
  },
)

test('the status names holder, time and epoch, and says where standbys or the time are not known', () => {
  const text = serverText(server)
  for (const fact of ['one/4711', '2027-01-15T08:00:00.000Z', 'epoch 4', 'not known'])
    expect(text).toContain(fact)
  const { sinceMs: _, ...without } = server
  expect(serverText(without)).not.toContain('since')
  expect(texts.hosts.held('one/4711', '08:00', 4)).toMatch(/one\/4711.*08:00.*epoch 4/)
})

test('a perpd that waits says for whom, for how long it runs, and where the journal is', () => {
  const reason = 'standby: waits; held by one/4711, epoch 4'
  const text = standbyText({
    ...{ version: '0.1.0', profile: 'paper', chain: 'arbitrum', state: 'waiting' },
    ...{ nowMs: 61_000, startedAtMs: 1_000, code: 'JOURNAL_LOCKED', reason },
    journal: { path: 'postgres://db/perpd#desk', epoch: 4, holder: 'one/4711' },
  })
  for (const fact of ['0.1.0', 'paper', 'arbitrum', reason, 'postgres://db/perpd#desk'])
    expect(text).toContain(fact)
  expect(text).toMatch(/up 1 min/)
})
