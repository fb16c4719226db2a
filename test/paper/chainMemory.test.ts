/** What the chain forgets, and in which order. */
import { expect, test } from 'vitest'
import { blockOf, createBlockChain, mine, useDigest } from '../../src/paper/chain/blockChain.ts'
import {
  MAX_POPULATION_TRANSACTIONS,
  MAX_TRANSACTIONS,
  trimBlockChain,
} from '../../src/paper/chain/chainMemory.ts'
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

test('below the limit nothing is forgotten', () => {
  const chain = filled(MAX_TRANSACTIONS + MAX_POPULATION_TRANSACTIONS, () => 'crowd')
  trimBlockChain(chain, () => true)
  expect(chain.transactions).toHaveLength(MAX_TRANSACTIONS + MAX_POPULATION_TRANSACTIONS)
})
