/** docs/reference/asked.md: every question to the chain has a row, and its numbers and tests are those of the code. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { connectChain } from '../../src/chain/connectEndpoints.ts'
import { HEALTHY_SECONDS, WIDEST_SECONDS } from '../../src/domain/chainTime.ts'
import { manualClock } from '../support/venue.ts'

const root = resolve(import.meta.dirname, '..', '..')
const text = readFileSync(join(root, 'docs', 'reference', 'asked.md'), 'utf8')
const rows = text.split('\n').filter((line) => /^\| (?!question|---)/.test(line))

test('every way to ask the chain has a row', () => {
  const reader = connectChain({
    http: ['http://127.0.0.1:1'],
    ws: ['ws://127.0.0.1:1'],
    chainId: 1,
    eventEmitter: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    wrappedNative: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    markets: new Map(),
    multicall: '0x19E7E376E7C213B7E7e7e46cc70A5dD086DAff2A',
    finality: 'safe',
    timeoutMs: 1_000,
    maxLogSpan: 1_000,
    clock: manualClock(0),
    emit: () => undefined,
    fetch: () => Promise.reject(new Error('nothing is asked here')),
  })
  reader.close()
  const asked = Object.keys(reader).filter((name) => !['configured', 'check', 'close'].includes(name))
  expect(asked).toContain('latestBlocks')
  for (const name of asked)
    expect(
      rows.some((row) => row.includes(`| \`${name}\` |`)),
      name,
    ).toBe(true)
})

/** The tests that hold each row, by the beginning of its question. */
const heldBy: Readonly<Record<string, readonly string[]>> = {
  'an order landed or ended': ['execution/chain'],
  'an order is absent': ['execution/chain'],
  'a provisional landing': ['chain/doubt'],
  'what others did to a position': ['chain/positionChange'],
  'chain id, code of signing contracts': ['chain/contractCode', 'chain/marketProof'],
  'the time, for a deadline': ['domain/chainTime', 'execution/endpointBehind', 'world/endpointAside'],
  'the same, of an increase': ['execution/armingTime', 'execution/chain'],
  'the same, of a reduction': ['execution/endpointBehind'],
  'where the search for a landing begins': ['execution/armingTime'],
  'idle accounts of a process with several': ['chain/quietAccounts', 'account/heldLists'],
  'the gas price': ['execution/fees'],
  'the native coin': ['engine/balance'],
  'whether our clock is right': ['domain/clockSkew', 'api/hostClock'],
  'when to look': ['execution/chainPoller'],
}

test('every row has tests that are there', () => {
  const questions = rows.map((row) => row.slice(2))
  const without = questions.filter(
    (question) => !Object.keys(heldBy).some((beginning) => question.startsWith(beginning)),
  )
  expect([without, questions.length]).toEqual([[], Object.keys(heldBy).length])
  for (const path of Object.values(heldBy).flat())
    expect(existsSync(join(root, 'test', `${path}.test.ts`)), path).toBe(true)
})

test('what is healthy, and how far a window reaches, are the numbers of the code', () => {
  expect(HEALTHY_SECONDS).toBe(30)
  expect(WIDEST_SECONDS).toBe(1_800)
  expect(text.match(/within 30 s/g)).toHaveLength(2)
  expect(text).toContain("up to half an hour to each side of the hosts' median")
})
