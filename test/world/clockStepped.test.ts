/** A daemon on paper, as `npm start` begins one, whose machine's clock steps by hours, forth and back, while it runs and while it is dead. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { operatedIn } from './operated.ts'
import { folderOfEachTest } from './ownFolder.ts'
import { perpd, type Running, until } from './processes.ts'

const folder = folderOfEachTest()
const hourMs = 3_600_000
const market = 'ETH/USD [WETH-USDC]'
/** How long a position takes to be closed at the most, with a machine that does other things besides. */
const CLOSED_WITHIN_MS = 90_000

/** The commands of one machine, whose clock is the real one and so many ms more. */
async function machine() {
  const steppedBy = join(folder.path, 'steppedBy')
  const { port } = await operatedIn(folder.path)
  const settings = { control: { port }, strategies: { paths: [] } }
  writeFileSync(join(folder.path, 'perpd.json'), JSON.stringify(settings), { mode: 0o600 })
  const env = {
    NODE_OPTIONS: `--import ${join(import.meta.dirname, 'steppedTime.ts')}`,
    STEPPED_BY: steppedBy,
  }
  const run = (...words: readonly string[]) => perpd(words, { cwd: folder.path, env })
  const step = (byMs: number) => writeFileSync(steppedBy, String(byMs))
  step(0)
  async function said(...words: readonly string[]): Promise<string> {
    const command = run(...words)
    expect([words.join(' '), await command.ended], command.said()).toEqual([words.join(' '), 0])
    return command.stdout()
  }
  /** The daemon once it answers: after a step forth its paper venue lives through the hours first. */
  async function answering(daemon: Running): Promise<void> {
    await until(
      'the daemon answers that it is well',
      async () => {
        const answer = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined)
        if (answer !== undefined) expect(answer.status, daemon.said()).toBe(200)
        return answer
      },
      { seen: daemon.said },
    )
  }
  const sizes = async (): Promise<readonly { readonly sizeInUsd: string }[]> =>
    JSON.parse(await said('positions', '--json'))
  return {
    run,
    step,
    answering,
    async start() {
      const daemon = run('run', '--log.format=json')
      await until('it is ready', () => daemon.stdout().includes('"daemon.ready"') || undefined, {
        seen: daemon.said,
      })
      return daemon
    },
    open: () => said('open', market, 'long', '--size', '100', '--leverage', '2', '--yes'),
    held: (daemon: Running) =>
      until('it is held', async () => ((await sizes()).length === 1 ? true : undefined), {
        seen: daemon.said,
      }),
    async close(daemon: Running) {
      await answering(daemon)
      const fromMs = performance.now()
      await said('close', market, 'long', '--yes')
      await until('it is closed', async () => ((await sizes()).length === 0 ? true : undefined), {
        seen: daemon.said,
      })
      expect(performance.now() - fromMs, daemon.said()).toBeLessThan(CLOSED_WITHIN_MS)
      await answering(daemon)
    },
    /** Orders of the last hour, as the limit of an hour counts them. */
    async hourly(): Promise<number> {
      const token = readFileSync(join(folder.path, 'var', 'paper', 'control.token.read'), 'utf8').trim()
      const answer = await fetch(`http://127.0.0.1:${port}/api/limits`, {
        headers: { authorization: `Bearer ${token}` },
      })
      const limits = (await answer.json()) as readonly {
        readonly scope: string
        readonly limit: string
        readonly used?: string
      }[]
      const row = limits.find(({ scope, limit }) => scope === 'account' && limit === 'maxOrdersPerHour')
      return Number(row?.used ?? 0)
    },
  }
}

test('a position is closed in its time after the clock stepped by hours, forth and back, while the daemon ran and while it was dead', {
  timeout: 900_000,
}, async () => {
  const { start, open, held, close, step, hourly, answering } = await machine()
  let daemon = await start()
  const again = async () => {
    daemon.child.kill('SIGKILL')
    await daemon.ended
  }
  await open()
  await held(daemon)
  step(5 * hourMs)
  await close(daemon)
  // Dead and up again while it is ahead; set back while a position is held.
  await again()
  daemon = await start()
  await open()
  await held(daemon)
  step(0)
  await close(daemon)
  // Set back further, and right again while it is dead.
  await open()
  await held(daemon)
  step(-5 * hourMs)
  await answering(daemon)
  await again()
  step(0)
  daemon = await start()
  // The venue lives from its last saved moment on: what filled after that fills again.
  await held(daemon)
  await close(daemon)
  // The venue's time, which this daemon goes by, went forth and never back: the first is five hours old by it, and none of the others is lost.
  expect(await hourly()).toBe(5)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
})
