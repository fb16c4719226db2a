/**
 * Steps 4 to 9 of docs/going-live.md with real processes: a live profile whose hosts and endpoints are the paper venue's, an
 * encrypted key made here, an approval signed elsewhere. What a step is expected to say is taken to stand on the page too.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { expect, test } from 'vitest'
import { operatedIn } from './operated.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, startPaper, until, writeOnceStrategy } from './processes.ts'

const page = readFileSync(resolve(import.meta.dirname, '..', '..', 'docs', 'going-live.md'), 'utf8')
const flat = page.replace(/\s+/g, ' ')

const folder = folderOfEachTest()

/** What stands on the page, word for word. */
function written(text: string): string {
  expect(flat, 'stands in docs/going-live.md').toContain(text)
  return text
}

/** The password of the key, where systemd would put it. */
const credentials = (): Record<string, string> => ({ CREDENTIALS_DIRECTORY: join(folder.path, 'given') })

const start = (words: string) => perpd(words.split(' '), { cwd: folder.path, env: credentials() })

/** Types a command of the page in the folder of the settings, to its end. */
async function type(line: string) {
  const running = start(written(line).replace(/^perpd /, ''))
  const code = await running.ended
  return { code, out: running.stdout(), said: running.said() }
}

test('a small live account is walked from its key to its kill as docs/going-live.md says', async () => {
  const venue = await startPaper()
  const { port } = await operatedIn(folder.path)
  mkdirSync(join(folder.path, 'given'), { mode: 0o700 })
  writeFileSync(join(folder.path, 'given', 'perpd-password'), 'a password of nobody\n', { mode: 0o600 })
  writeOnceStrategy(folder.path)
  const wallet = privateKeyToAccount(generatePrivateKey())

  const created = await type('perpd subaccount create --profile arbitrum --file var/arbitrum/key.json')
  expect(created.code, created.said).toBe(0)
  const key = created.out.trim()
  expect(key).toMatch(/^0x[0-9a-fA-F]{40}$/)

  const { api, oracle, rpc } = venue.hosts
  const settings = {
    venue: { apiHosts: api, oracleHosts: oracle },
    rpc: { http: rpc, finality: 'safe' },
    account: { keystore: 'var/arbitrum/key.json', owner: wallet.address },
    risk: { maxOrderSizeUsd: 50, maxPositionSizeUsd: 100, maxTotalExposureUsd: 100, maxDailyLossUsd: 10 },
    strategies: { paths: ['once.yaml'] },
    control: { port },
    execution: { statusPollMs: 100, statusPollMaxMs: 500 },
    log: { format: 'json' },
  }
  for (const name of Object.keys(settings.risk)) written(`risk.${name}`)
  // Nothing here may reach a real host.
  for (const url of [...api, ...oracle, ...rpc]) expect(new URL(url).hostname).toBe('127.0.0.1')
  writeFileSync(join(folder.path, 'perpd.json'), JSON.stringify(settings))
  const checked = await type('perpd check --profile arbitrum')
  expect(checked.code, checked.said).toBe(0)
  for (const text of [
    written('REAL MONEY on arbitrum'),
    `of ${key}, opened by the systemd credential`,
    `for: ${wallet.address}, its owner`,
    'order $50.00, position $100.00, exposure $100.00, leverage 10x, daily loss $10.00',
    written('All checks passed.'),
  ])
    expect(checked.out).toContain(text)

  const asked = await type(
    'perpd subaccount approve --profile arbitrum --days 3 --actions 300 --out ask.json',
  )
  expect(asked.code, asked.said).toBe(0)
  for (const text of [wallet.address, key, '300']) expect(asked.said).toContain(text)
  const explained = await type('perpd message ask.json --profile arbitrum')
  expect(explained).toMatchObject({ code: 0, out: expect.stringContaining(`lets the key ${key}`) })
  expect(explained.out).toContain(written('make, change and cancel orders of the signer, up to action 300'))
  const message = JSON.parse(readFileSync(join(folder.path, 'ask.json'), 'utf8'))
  writeFileSync(join(folder.path, 'answer'), await wallet.signTypedData(message))
  const brought = await type(
    'perpd subaccount approve --profile arbitrum --request ask.json --signature answer',
  )
  expect(brought).toMatchObject({ code: 0, said: expect.stringContaining(written('holds the approval')) })
  const waiting = await type('perpd subaccount status --profile arbitrum')
  expect(waiting).toMatchObject({
    code: 0,
    out: expect.stringContaining(written('waits for the next order: 300 actions')),
  })

  const daemon = start(written('perpd run --profile arbitrum').replace('perpd ', ''))
  await until('the order is executed', () => daemon.said().includes('"state_to":"executed"') || undefined, {
    seen: daemon.said,
  })
  expect(daemon.said()).toContain(written('LIVE: orders use real money from now on.'))
  expect(daemon.said()).toContain('has code of the hash 0x')
  // Three days are beyond the hours from which on the end is warned of.
  expect(daemon.said()).not.toContain('ends soon')
  const status = await type('perpd status --profile arbitrum')
  for (const text of [written('running, ready'), written('through 2 RPC endpoints, which must agree')])
    expect(status.out).toContain(text)
  const listed = start('orders --json --profile arbitrum')
  expect(await listed.ended).toBe(0)
  const [order] = JSON.parse(listed.stdout()) as { readonly intentId: string }[]
  written('perpd explain ID --profile arbitrum')
  const told = start(`explain ${order?.intentId} --profile arbitrum`)
  expect(await told.ended, told.said()).toBe(0)
  expect(told.stdout()).toContain(written('cut to $50.00 by maxOrderSizeUsd'))
  expect(told.stdout().replace(/\s+/g, ' ')).toMatch(
    /proof the chain, final, .* is in block \d+ .* shown by /,
  )

  const killed = await type('perpd kill --close --profile arbitrum')
  expect([killed.code, killed.out.trim().split('\n').at(-1)]).toEqual([0, written('done: nothing is left')])
  for (const list of ['positions', 'orders']) {
    const answer = await fetch(`${api[0]}/${list}?address=${wallet.address}`)
    expect([list, await answer.json()]).toEqual([list, []])
  }
  const active = await type('perpd trading active --profile arbitrum')
  expect(active).toMatchObject({
    code: 0,
    out: expect.stringContaining(written('trading is active everywhere (scope global).')),
  })
  const halted = await type('perpd trading halted --profile arbitrum')
  expect(halted).toMatchObject({ code: 0, out: expect.stringContaining('trading is halted everywhere') })
  const paper = start('trading active')
  expect([await paper.ended, paper.said()], written('exit code 3 and nothing done')).toEqual([
    3,
    expect.stringContaining('the paper profile signs only with its throwaway key'),
  ])
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)

  // Step 10: what the unit reads, without the profile's name, trades nothing.
  written('without it perpd does not start')
  const unit = start('run --config perpd.json')
  expect([await unit.ended, unit.said()]).toEqual([4, expect.stringContaining('account.keystore is set')])
}, 120_000)
