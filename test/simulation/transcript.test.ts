/**
 * What a few simulated daemons do to the world outside is what it was: each request, record and signature of `golden/transcripts.txt`.
 *
 * Where a change of behaviour is meant, look at what changed (`npm run simulate -- --tier shell --from 1 --seeds 1 --transcript
 * OUT --full FILE`, before and after), and renew the file with `npx vitest run test/simulation/transcript.test.ts --update`.
 */
import { expect, test } from 'vitest'
import type { TierName } from './seeds.ts'
import { transcribe } from './transcribe.ts'
import { createTranscript } from './transcript.ts'

const golden: readonly (readonly [TierName, readonly number[]])[] = [
  ['core', [1, 2, 3, 4]],
  ['shell', [1, 2, 3, 4]],
  ['engine', [1, 2]],
]

test('seeds of each tier give the transcripts that they gave before', { timeout: 300_000 }, async () => {
  let text = ''
  for (const [tier, seeds] of golden)
    for (const seed of seeds) text += `${(await transcribe(tier, seed)).line}\n`
  await expect(text).toMatchFileSnapshot('golden/transcripts.txt')
})

test('a transcript is the same whatever ran before it in the process', { timeout: 300_000 }, async () => {
  const lines: string[] = []
  for (const seed of [4, 2, 4, 2]) lines.push((await transcribe('shell', seed)).line)
  expect(lines.slice(2)).toEqual(lines.slice(0, 2))
})

test('sentences and the order of fields make no difference, facts do', () => {
  const hashOf = (record: unknown) => {
    const transcript = createTranscript()
    transcript.record(1, JSON.stringify(record))
    return transcript.sha256()
  }
  const record = { kind: 'intent.closed', closing: { code: 'EXECUTED', reason: '1 of 1 orders executed' } }
  const reworded = {
    closing: { reason: 'the only order was executed', code: 'EXECUTED' },
    kind: 'intent.closed',
  }
  expect(hashOf(reworded)).toBe(hashOf(record))
  const others = [
    { ...record, kind: 'landed' },
    { ...record, attempt: 1 },
    { ...record, closing: { ...record.closing, code: 'CANCELLED' } },
    { ...record, closing: { code: 'EXECUTED' } },
  ]
  for (const other of others) expect(hashOf(other)).not.toBe(hashOf(record))
})

test('each request, record and signature is a line, at its time and in its order', () => {
  const lines: string[] = []
  const transcript = createTranscript((line) => lines.push(line))
  transcript.request(5, 'GET', 'http://a.test/v1/markets', undefined)
  transcript.request(7.5, 'POST', 'http://a.test/v1/orders', '{"size":"1","from":"0x1"}')
  transcript.call(8, 'http://one.rpc.test/', '{"id":1,"method":"eth_chainId"}')
  transcript.record(9, '{"kind":"landed","attempt":1}')
  transcript.signature(9, '0x12', '0x34')
  expect(lines).toEqual([
    '5 GET http://a.test/v1/markets',
    '7.5 POST http://a.test/v1/orders {"from":"0x1","size":"1"}',
    '8 RPC http://one.rpc.test/ {"id":1,"method":"eth_chainId"}',
    '9 record {"attempt":1,"kind":"landed"}',
    '9 signature 0x12 0x34',
  ])
  expect(transcript.counts).toEqual({ requests: 2, calls: 1, records: 1, signatures: 1 })
})
