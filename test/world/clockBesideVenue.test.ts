/**
 * A live profile beside a paper venue of another process, which keeps the right time, while the clock of the daemon's machine is a day
 * ahead and is set back, and is a day behind and is set right.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generatePrivateKey } from 'viem/accounts'
import { expect, test } from 'vitest'
import { operatedIn } from './operated.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, startPaper, until } from './processes.ts'

const folder = folderOfEachTest()
const dayMs = 86_400_000
const eth = 'ETH/USD [WETH-USDC]'

/** Paths of all ages and spans in a body that are below zero. */
function negativeAges(body: unknown, path = ''): readonly string[] {
  if (typeof body === 'number') {
    const isAge = /(age|ages|ago|since|for)[a-z]*(ms|seconds)\b/i.test(path)
    return isAge && body < 0 ? [`${path} ${body}`] : []
  }
  if (typeof body !== 'object' || body === null) return []
  return Object.entries(body).flatMap(([name, each]) => negativeAges(each, `${path}.${name}`))
}

test('orders fill and close, no age is negative and it is reported, while the clock goes a day ahead, back, a day behind, and right again', {
  timeout: 480_000,
}, async () => {
  const { hosts } = await startPaper(['--paper.keeperDelayMs=300', '--paper.safeLagBlocks=2'])
  const own = await operatedIn(folder.path)
  const at = (file: string) => join(folder.path, file)
  writeFileSync(at('key'), `${generatePrivateKey()}\n`, { mode: 0o600 })
  const settings = {
    venue: { apiHosts: hosts.api, oracleHosts: hosts.oracle },
    rpc: { http: hosts.rpc, finality: 'safe' },
    account: { keyFile: 'key', acceptRawKey: true },
    strategies: { paths: [] },
    control: { port: own.port },
    log: { format: 'json' },
  }
  writeFileSync(at('perpd.json'), JSON.stringify(settings))
  const env = { TEST_CLOCK_SHIFT_FILE: at('steppedBy') }
  const step = (byMs: number) => writeFileSync(at('steppedBy'), String(byMs))
  const run = (...words: readonly string[]) =>
    perpd([...words, '--profile=arbitrum'], { cwd: folder.path, env })
  /** A command to its end, and the JSON that it printed. */
  async function said(...words: readonly string[]) {
    const command = run(...words)
    const code = await command.ended
    return { code, text: command.said(), json: () => JSON.parse(command.stdout()) }
  }
  step(dayMs)
  const daemon = run('run')
  const reported = (event: string) => daemon.stdout().split(`"event":"${event}"`).length - 1
  const seen = { seen: daemon.said }
  await until('it is ready', () => reported('daemon.ready') > 0 || undefined, seen)

  const sides = async () => (await said('positions', '--json')).json().length
  async function agesAreGood() {
    const status = (await said('status', '--json')).json()
    expect(negativeAges(status)).toEqual([])
  }
  const open = () => said('open', eth, 'long', '--size', '100', '--leverage', '2', '--yes')
  /** Opens as soon as the clock is doubted no more, and waits until it is held. */
  async function opened() {
    await until(
      'it opens',
      async () => {
        const { code, text } = await open()
        if (code === 0) return true
        expect(text, daemon.said()).toMatch(/CLOCK_SKEW|SLOT_BUSY/)
        return undefined
      },
      seen,
    )
    await until('it is held', async () => ((await sides()) === 1 ? true : undefined), seen)
    await agesAreGood()
  }
  /** Closes, with a clock that steps while the order is on its way. */
  async function closedAcross(byMs: number) {
    const { code, text } = await said('close', eth, 'long', '--yes', '--no-wait')
    expect([code, text]).toEqual([0, text])
    step(byMs)
    await until('it is closed', async () => ((await sides()) === 0 ? true : undefined), seen)
    await agesAreGood()
  }

  // A day ahead nothing new is made, by the hosts' clocks.
  const refused = await open()
  expect([refused.code === 0, refused.text]).toEqual([false, expect.stringContaining('CLOCK_SKEW')])
  await agesAreGood()
  step(0)
  await until('the step back is reported', () => reported('daemon.clockSetBack') > 0 || undefined, seen)
  await opened()
  // A position closes whatever the clock says, and its order ends by it as it is then.
  step(dayMs)
  await closedAcross(0)
  await opened()
  step(-dayMs)
  await closedAcross(0)
  // Set right by a step forth, it opens again.
  await opened()
  const rows = (await said('orders', '--json')).json() as readonly { readonly standing: string }[]
  expect(rows.map(({ standing }) => standing)).toEqual(Array(5).fill('executed'))
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
})
