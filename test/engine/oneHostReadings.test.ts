/** What breakers measure: each reading is of one host's lists. Of two hosts' lists together one that lies spoils more than its own. */
import { expect, test } from 'vitest'
import { createAccountJournal } from '../../src/account/halts/accountJournal.ts'
import { createTrading } from '../../src/account/halts/tradingHalts.ts'
import { createBreakers } from '../../src/account/watch/breakerWatch.ts'
import { createOrderManager } from '../../src/execution/orderManager.ts'
import { createMemoryJournal } from '../../src/journal/memory.ts'
import { testExecution, testSigner } from '../support/trader.ts'
import { venueBench } from '../support/venue.ts'

test('with two hosts each reading of the account names the one host that all of its lists are asked of', async () => {
  const { api, clock } = venueBench()
  const asked: (string | undefined)[][] = []
  const noted = new Proxy(api, {
    get(target, name: keyof typeof api) {
      const member: unknown = target[name]
      const lists: readonly string[] = ['getPositions', 'getOrders', 'getWalletBalances', 'getTokensInfo']
      if (name === 'hosts') return { ...target.hosts, api: ['http://one.test', 'http://two.test'] }
      if (typeof member !== 'function') return member
      if (!lists.includes(name)) return member.bind(target)
      const at = lists.indexOf(name)
      return (...args: readonly { readonly host?: string }[]) => {
        const options = args.at(name === 'getTokensInfo' ? 0 : 1)
        asked[at] = [...(asked[at] ?? []), options?.host]
        return Promise.reject(new TypeError('not read here'))
      }
    },
  })
  const journal = createMemoryJournal()
  const trading = createTrading({ accountJournal: createAccountJournal({ journal, clock }), emit: () => {} })
  const openOrders = createOrderManager(testExecution({ api: noted, clock, journal }))
  const parts = {
    api: noted,
    clock,
    emit: () => undefined,
    journal,
    openOrders,
    signer: testSigner,
    trading,
  }
  await createBreakers(parts, () => ({ sets: {} }))
    .check(true)
    .catch(() => undefined)
  const both = ['http://one.test', 'http://two.test']
  expect(asked).toEqual([both, both, both, both])
})
