import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { mostAccounts } from '../../src/config/accountNames.ts'
import { accountIn, ConfigError, loadConfig } from '../../src/config/loadConfig.ts'

let cwd = ''
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'perpd-accounts-'))
})
afterEach(() => rmSync(cwd, { recursive: true }))

const load = (settings: object, ...argv: string[]) => {
  writeFileSync(join(cwd, 'perpd.json'), JSON.stringify(settings))
  return loadConfig({ argv, env: {}, cwd })
}

/** The problems of a configuration that is refused. */
function problemsOf(settings: object, ...argv: string[]): readonly string[] {
  try {
    load(settings, ...argv)
  } catch (error) {
    if (error instanceof ConfigError) return error.problems
    throw error
  }
  return []
}

test('a configuration without accounts has none, and its files keep their names', () => {
  const { accounts, config } = load({})
  expect(accounts).toEqual([])
  expect(config.accountName).toBeUndefined()
  expect(config.journal.path).toBe(join(cwd, 'var/paper/journal.db'))
})

test('an account has the settings of all, its own over them, and files of its own beside the others', () => {
  const loaded = load(
    {
      risk: { maxOrderSizeUsd: '700', maxLeverage: 3 },
      accounts: {
        alpha: {},
        beta: {
          risk: { maxOrderSizeUsd: '100' },
          strategies: { paths: ['./other'] },
          account: { lane: 'relay' },
        },
      },
    },
    '--accounts.alpha.risk.maxLeverage=2',
  )
  expect(loaded.accounts.map(({ name }) => name)).toEqual(['alpha', 'beta'])
  const [alpha, beta] = ['alpha', 'beta'].map((name) => accountIn(loaded, name).config)
  expect(alpha?.limits.maxOrderSizeUsd).toBe(700n * 10n ** 30n)
  expect(beta?.limits.maxOrderSizeUsd).toBe(100n * 10n ** 30n)
  expect([alpha?.limits.maxLeverageBps, beta?.limits.maxLeverageBps]).toEqual([20_000, 30_000])
  expect([alpha?.account.lane, beta?.account.lane]).toEqual(['order-chain', 'relay'])
  expect(beta?.strategies.paths).toEqual([join(cwd, 'other')])
  expect(alpha?.journal.path).toBe(join(cwd, 'var/paper/journal.alpha.db'))
  expect(beta?.paper.keyFile).toBe(join(cwd, 'var/paper/account.beta.key'))
  expect(beta?.account.approvalFile).toBe(join(cwd, 'var/paper/approval.beta.json'))
  expect(alpha?.journal.account).toBe('paper.alpha')
  expect(alpha?.control.tokenFile).toBe(beta?.control.tokenFile)
  expect(loaded.accounts[1]?.origins['risk.maxOrderSizeUsd']).toBe('file perpd.json, account beta')
})

test('what is wrong with accounts is refused with the field, the value and the fix', () => {
  expect(problemsOf({ accounts: {} })[0]).toMatch(/accounts is empty.*remove it/)
  expect(problemsOf({ accounts: [] })[0]).toMatch(/accounts is a list; expected an object/)
  expect(problemsOf({ accounts: { alpha: 1 } })[0]).toMatch(/accounts\.alpha is a number/)
  for (const name of ['Alpha', 'a_b', '1st', 'all', 'x'.repeat(17), 'ä'])
    expect(problemsOf({ accounts: { [name]: {} } })[0], name).toMatch(
      new RegExp(`accounts\\.${name}: expected a name of at most 16`),
    )
  expect(problemsOf({ accounts: { alpha: { journal: { path: 'x' } } } })[0]).toMatch(
    /accounts\.alpha\.journal: not a section of an account; expected account, strategies/,
  )
  expect(problemsOf({ accounts: { alpha: { risk: { maxOrder: 1 } } } })[0]).toMatch(
    /accounts\.alpha\.risk\.maxOrder: no such setting/,
  )
  expect(problemsOf({ accounts: { alpha: { risk: { maxOrderSizeUsd: 'much' } } } })[0]).toMatch(
    /accounts\.alpha\.risk\.maxOrderSizeUsd is "much"/,
  )
  expect(problemsOf({ accounts: { alpha: {} } }, '--accounts.alpha.log.level=debug')[0]).toMatch(
    /accounts\.alpha\.log: not a section/,
  )
  const many = Object.fromEntries(Array.from({ length: mostAccounts + 1 }, (_, at) => [`a${at}`, {}]))
  expect(problemsOf({ accounts: many })[0]).toMatch(new RegExp(`at most ${mostAccounts}`))
})

test('account beside accounts is refused, and so is one key or one owner for two of them', () => {
  const owner = `0x${'1'.repeat(40)}`
  expect(problemsOf({ account: { lane: 'relay' }, accounts: { alpha: {} } })[0]).toMatch(
    /account\.lane is set, and accounts are set too \(alpha\).*accounts\.alpha\.account\.lane/,
  )
  const two = (own: object) => ({
    profile: 'arbitrum',
    accounts: { alpha: { account: own }, beta: { account: own } },
  })
  for (const [key, value] of Object.entries({ keystore: '/k.json', owner, address: owner }))
    expect(problemsOf(two({ [key]: value }))[0], key).toMatch(
      new RegExp(`accounts\\.alpha\\.account\\.${key} and accounts\\.beta\\.account\\.${key} are the same`),
    )
})

test('a recording is refused with several accounts, by name; a standby is not', () => {
  const url = 'postgres://u:p@localhost/perpd'
  const standby = { journal: { url, standby: true }, accounts: { alpha: {} } }
  expect(load(standby).config.journal.standby).toBe(true)
  const chat = { type: 'telegram', name: 'desk', tokenFile: '/token', chatId: '7' }
  const sinks = (own: object) => ({ ...standby, notify: { sinks: [{ ...chat, ...own }] } })
  expect(load(sinks({})).config.notify.sinks).toHaveLength(1)
  expect(problemsOf(sinks({ commandUserIds: ['9'] }))[0]).toMatch(/notify\.sinks desk has commandUserIds/)
  expect(problemsOf({ history: { record: true }, accounts: { alpha: {} } })[0]).toMatch(/history\.record/)
  expect(problemsOf({ journal: { url, account: 'x'.repeat(50) }, accounts: { alpha: {} } })[0]).toMatch(
    /journal\.account has 50 characters/,
  )
})

test('a fleet is of accounts that wait for their leases, and is refused by name without them', () => {
  const journal = { url: 'postgres://u:p@localhost/perpd', standby: true }
  const cluster = { name: 'desk' }
  expect(load({ journal, cluster, accounts: { alpha: {} } }).config.cluster).toEqual({ name: 'desk' })
  expect(problemsOf({ journal, cluster })[0]).toMatch(/cluster\.name is desk, and there are no accounts/)
  expect(problemsOf({ cluster, accounts: { alpha: {} } })[0]).toMatch(
    /cluster\.name is desk, and journal\.standby/,
  )
})

test('an account that the configuration does not have is refused with those that it has', () => {
  expect(() => accountIn(load({ accounts: { alpha: {}, beta: {} } }), 'alpa')).toThrow(
    /there are alpha, beta.*alpha\?/s,
  )
  expect(() => accountIn(load({}), 'alpha')).toThrow(/one account, without a name/)
})

test('a limit of the desk needs accounts, and belongs to no single one of them', () => {
  const desk = { maxTotalExposureUsd: '5000', maxOrdersPerHour: 100 }
  expect(load({ desk, accounts: { alpha: {}, beta: {} } }).config.desk).toEqual({
    maxTotalExposureUsd: 5_000n * 10n ** 30n,
    maxOrdersPerHour: 100n,
  })
  expect(problemsOf({ desk })[0]).toMatch(/desk\.maxTotalExposureUsd is set, and there are no accounts/)
  expect(problemsOf({ accounts: { alpha: { desk } } })[0]).toMatch(/accounts\.alpha\.desk: not a section/)
})

test('a count of the desk that is less than the accounts is refused where each has a fixed share of it, with the number that is enough', () => {
  const journal = { url: 'postgres://u:p@localhost/perpd', standby: true }
  const accounts = { alpha: {}, beta: {}, gamma: {} }
  const of = (maxOrdersPerHour: number, more: object = { journal }) => ({
    ...{ accounts, desk: { maxOrdersPerHour, maxTotalExposureUsd: '2' } },
    ...more,
  })
  expect(problemsOf(of(2))).toEqual([
    expect.stringMatching(/desk\.maxOrdersPerHour is 2, .*alpha, beta, gamma.*Set 3 or more/),
  ])
  expect(load(of(3)).config.desk.maxOrdersPerHour).toBe(3n)
  // In one process shares are dealt by need, and one of nothing is none for long.
  expect(load(of(2, {})).config.desk.maxOrdersPerHour).toBe(2n)
})
