/** What the chain forgets, and in which order. */
import { expect, test } from 'vitest'
import { blockOf, createBlockChain, mine, useDigest } from '../../src/paper/blocks/blockChain.ts'
import {
  LOOK_EVERY,
  MAX_POPULATION_TRANSACTIONS,
  MAX_TRANSACTIONS,
  trimBlockChain,
} from '../../src/paper/blocks/chainMemory.ts'
import { chains } from '../../src/protocol/chains/index.ts'

const options = { chain: 'arbitrum', seed: 1, epochSeconds: 1_795_219_200, blockTimeMs: 0 } as const
const hashOf = (i: number): `0x${string}` => `0x${i.toString(16).padStart(64, '0')}`

function filled(count: number, accountOf: (i: number) => string) {
  const chain = createBlockChain(options)
  for (let i = 0; i < count; i += 1) {
    chain.atMs += 100
    const transaction = mine(chain, {
      hash: hashOf(i),
      sender: 'keeper',
      to: chains.arbitrum.contracts.exchangeRouter,
      input: '0x',
    })
    transaction.logs.push({ eventName: 'OrderExecuted', topics: [], items: { account: accountOf(i) } })
    useDigest(chain, transaction, hashOf(i))
  }
  return chain
}

test('the population never drives the transactions of people out', () => {
  const chain = filled(20_000, (i) => (i % 1000 === 0 ? 'person' : 'crowd'))
  trimBlockChain(chain, (account) => account === 'crowd')
  expect(chain.transactions.length).toBeLessThanOrEqual(MAX_TRANSACTIONS + MAX_POPULATION_TRANSACTIONS)
  const people = chain.transactions.filter(({ logs }) => logs[0]?.items.account === 'person')
  expect(people).toHaveLength(20)
  expect(chain.byHash.size).toBe(chain.transactions.length)
  expect(chain.byDigest.size).toBe(chain.transactions.length)
})

test('blocks go whole and oldest first', () => {
  const chain = filled(9000, () => 'person')
  trimBlockChain(chain, () => false)
  const kept = chain.transactions
  expect(kept.length).toBeLessThanOrEqual(MAX_TRANSACTIONS)
  expect(kept.at(-1)?.hash).toBe(hashOf(8999))
  const [oldest] = kept
  const first = oldest === undefined ? 0 : blockOf(oldest).number
  const all = filled(9000, () => 'person').transactions.filter((one) => blockOf(one).number >= first)
  expect(kept.map(({ hash }) => hash)).toEqual(all.map(({ hash }) => hash))
})

test.each([
  ['crowd', MAX_POPULATION_TRANSACTIONS],
  ['person', MAX_TRANSACTIONS],
])('below the limit of a %s nothing is forgotten, and one above it a tenth', (account, limit) => {
  const isPopulation = (one: string): boolean => one === 'crowd'
  const full = filled(limit, () => account)
  trimBlockChain(full, isPopulation)
  expect(full.transactions).toHaveLength(limit)
  const over = filled(limit + 1, () => account)
  trimBlockChain(over, isPopulation)
  // Blocks of up to three go whole.
  expect(limit * 0.9 - over.transactions.length).toBeLessThan(3)
  expect(over.transactions.length).toBeLessThanOrEqual(limit * 0.9)
})

test('a population that trades for days takes no room that people leave, and is looked at every hundred transactions', () => {
  let looks = 0
  const chain = filled(2_000, () => 'crowd')
  const trim = (): void =>
    trimBlockChain(chain, (account) => {
      looks += account === 'crowd' && chain.transactions.length > 0 ? 1 : 0
      return true
    })
  let longest = 0
  for (let i = 2_000; i < 12_000; i += 1) {
    chain.atMs += 100
    const transaction = mine(chain, {
      hash: hashOf(i),
      sender: 'keeper',
      to: chains.arbitrum.contracts.exchangeRouter,
      input: '0x',
    })
    transaction.logs.push({ eventName: 'OrderExecuted', topics: [], items: { account: 'crowd' } })
    trim()
    longest = Math.max(longest, chain.transactions.length)
  }
  expect(longest).toBeLessThan(MAX_POPULATION_TRANSACTIONS + LOOK_EVERY)
  expect(chain.transactions.at(-1)?.hash).toBe(hashOf(11_999))
  expect(chain.byHash.size).toBe(chain.transactions.length)
  // A look asks of each transaction once.
  expect(looks).toBeLessThan((10_000 / LOOK_EVERY + 2) * (MAX_POPULATION_TRANSACTIONS + LOOK_EVERY))
})
