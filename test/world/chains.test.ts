/** `perpd paper` for several chains, as a user starts it: what it prints is what answers. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { killLeftOver, perpd, scratch, until, venueOf } from './processes.ts'

afterEach(killLeftOver)

function printed(running: ReturnType<typeof perpd>): Promise<Record<string, never>> {
  return until(
    'the venue prints JSON',
    () => {
      try {
        return JSON.parse(running.stdout()) as Record<string, never>
      } catch {
        return undefined
      }
    },
    { seen: running.said },
  )
}

test('three chains print their hosts and answer on them', { timeout: 60_000 }, async () => {
  const folder = scratch()
  try {
    const running = perpd(
      [
        'paper',
        '--print-hosts',
        '--paper.chains=avalanche,megaeth',
        `--paper.stateFile=${join(folder.path, 'world.json')}`,
      ],
      { env: venueOf([]) },
    )
    const chains = (await printed(running)) as Record<
      string,
      { oracle: string[]; api: string[]; control: string }
    >
    expect(Object.keys(chains)).toEqual(['arbitrum', 'avalanche', 'megaeth'])
    for (const [chain, hosts] of Object.entries(chains)) {
      expect([hosts.oracle.length, hosts.api.length]).toEqual([3, 2])
      for (const base of hosts.api) {
        const answer = await fetch(`${base}/markets/tickers`)
        expect([answer.status, ((await answer.json()) as unknown[]).length > 3], chain).toEqual([200, true])
      }
      expect((await fetch(`${hosts.control}/record`)).status).toBe(200)
    }
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  } finally {
    folder.remove()
  }
})

test('the printed configuration is one that perpd takes', { timeout: 60_000 }, async () => {
  const folder = scratch()
  try {
    const running = perpd(
      [
        'paper',
        '--print-config',
        '--venue.chain=avalanche',
        `--paper.stateFile=${join(folder.path, 'world.json')}`,
      ],
      { env: venueOf([]) },
    )
    const config = (await printed(running)) as unknown as { venue: { apiHosts: string[] } }
    expect(config).toMatchObject({ profile: 'paper', venue: { chain: 'avalanche' } })
    const file = join(folder.path, 'perpd.json')
    writeFileSync(file, JSON.stringify(config))
    const shown = perpd(['config', '--json', '--config', file])
    expect(await shown.ended, shown.said()).toBe(0)
    expect(shown.stdout()).toContain(config.venue.apiHosts[0])
    const both = perpd(['paper', '--print-hosts', '--print-config'])
    expect(await both.ended).toBe(1)
    expect(both.stderr()).toContain('Give --print-hosts or --print-config, not both.')
    running.child.kill('SIGTERM')
    expect(await running.ended).toBe(0)
  } finally {
    folder.remove()
  }
})
