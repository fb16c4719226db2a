/** The real daemon at a host that hides what is held: limits, status and a kill stand on the journal too. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { texts } from '../../src/control/console/page/texts.ts'
import { browserPath, type ConsolePlace, launchBrowser, loggedIn, stopBy, toPage } from './consoleBrowser.ts'
import { hidesHoldings, type Liar, startLiar } from './liar.ts'
import { type Operated, operatedIn } from './operated.ts'
import { killLeftOver, perpd, scratch, startPaper, until, writeOnceStrategy } from './processes.ts'

const ends: (() => unknown)[] = []
afterAll(async () => {
  await killLeftOver()
  for (const end of ends) await end()
})

/** Gives a daemon of its own: most of each test is waiting, so they run beside each other. */
async function placeOf(): Promise<{ readonly own: Operated; readonly path: string }> {
  const { path, remove } = scratch()
  ends.push(remove)
  writeOnceStrategy(path)
  return { own: await operatedIn(path), path }
}

/** A liar in front of a host. */
async function lyingHost(honest: string): Promise<Liar> {
  const liar = await startLiar(honest)
  ends.unshift(liar.close)
  return liar
}

interface Row {
  readonly sizeInUsd: string
}

/** Kills and closes in the console: the dialog shows what no list does, with the reason, and the page says what is left. */
async function killedOnThePage(liar: Liar, place: ConsolePlace): Promise<void> {
  const browser = await launchBrowser()
  let pass: () => void = () => undefined
  liar.until = new Promise((resolve) => {
    pass = resolve
  })
  try {
    const { page, complaints } = await loggedIn(browser, place, 'operate')
    await stopBy(page, 'killClose')
    const shown = page.locator('dialog[open] .outcome')
    await shown.getByText('no list shows it').first().waitFor()
    const lines = (await shown.innerText()).split('\n')
    expect(lines.filter((line) => line.includes('ETH/USD'))).toEqual([
      expect.stringMatching(/long ETH\/USD \[WETH-USDC\] \$500\.00; .*; .*/),
      expect.stringMatching(/short ETH\/USD \[WETH-USDC\] \$50\.00 at \$100,000\.00; .*; .*no list shows it/),
    ])
    await page.fill('dialog[open] input[name=by]', 'ann')
    await page.fill('dialog[open] input[name=typed]', 'close everything')
    await page.click('dialog[open] .tools button:not([type=button])')
    await page.waitForSelector(`dialog[open] .outcome >> text=${texts.dialog.carriedOut}`)
    await page.keyboard.press('Escape')
    await toPage(page, 'risk')
    // No message has reached the venue yet.
    const left = page.locator('#attention >> text=/by ann; left: /')
    expect(await left.innerText()).toMatch(/left: 1 order, 1 position, \d in flight/)
    pass()
    await left.waitFor({ state: 'detached' })
    expect(complaints).toEqual([])
  } finally {
    pass()
    await browser.close()
  }
}

test.concurrent('a host that hides positions makes nothing grow above the limit, is told of, and a kill, which shows what it hides, closes it', {
  timeout: 240_000,
}, async () => {
  const { own, path } = await placeOf()
  const { hosts } = await startPaper()
  const [honest = ''] = hosts.api
  const liar = await lyingHost(honest)
  liar.lie = hidesHoldings
  const lying = { ...hosts, api: [liar.host] }
  writeFileSync(
    join(path, 'perpd.json'),
    JSON.stringify({ risk: { maxPositionSizeUsd: 600, maxOrderSizeUsd: 600 } }),
  )
  const daemon = perpd(['run', `--config=${join(path, 'perpd.json')}`, ...own.flags(lying)])
  const trueSizeUsd = async (account: string): Promise<number> => {
    const rows = (await (await fetch(`${honest}/positions?address=${account}`)).json()) as Row[]
    return rows.reduce((sum, { sizeInUsd }) => sum + Number(BigInt(sizeInUsd) / 10n ** 30n), 0)
  }
  const running = await own.when('it runs', daemon, ({ state }) => state === 'running')
  const { account } = running
  await until('a position is open', async () => ((await trueSizeUsd(account)) > 0 ? true : undefined), {
    seen: daemon.said,
  })
  const rests = [
    'ETH/USD [WETH-USDC]',
    'short',
    '--size',
    '50',
    '--leverage',
    '2',
    '--limit',
    '100000',
    '--far',
  ]
  const resting = await own.command(lying, 'open', ...rests, '--yes', '--no-wait')
  expect(resting.code, resting.said).toBe(0)
  // Lists are believed half a minute after a fill: past it, what is hidden must count all the same.
  const untilMs = performance.now() + 50_000
  await until(
    'half a minute and more passed',
    async () => {
      expect(await trueSizeUsd(account), daemon.said()).toBeLessThanOrEqual(600)
      return performance.now() > untilMs ? true : undefined
    },
    { timeoutMs: 120_000 },
  )
  const status = await own.status()
  expect(BigInt(String((status as unknown as { exposureUsd: string }).exposureUsd))).toBeGreaterThanOrEqual(
    500n * 10n ** 30n,
  )
  expect((status as unknown as { hidden: string[] }).hidden).toEqual([
    expect.stringContaining('a list shows $0.00 of ETH/USD [WETH-USDC] long; the journal has $500.00'),
  ])

  if (browserPath !== undefined)
    await killedOnThePage(liar, { console: `http://127.0.0.1:${own.port}/console/`, tokens: path })
  // It is closed by what the journal and the chain know, and the kill is done by their word.
  const kill = perpd(['kill', '--close', '--by', 'ann', ...own.flags(lying)])
  expect(await kill.ended, kill.said()).toBe(0)
  expect(kill.said().trim().split('\n').at(-1)).toBe('done: nothing is left')
  expect(await trueSizeUsd(account)).toBe(0)
  daemon.child.kill('SIGTERM')
  expect(await daemon.ended, daemon.said()).toBe(0)
})

test.concurrent('a host that takes a signed close and never relays it keeps a position no longer than a minute', {
  timeout: 240_000,
}, async () => {
  const { own, path } = await placeOf()
  const { hosts } = await startPaper()
  const [honest = '', other = ''] = hosts.api
  const liar = await lyingHost(other)
  const lying = { ...hosts, api: [honest, liar.host] }
  writeFileSync(join(path, 'perpd.json'), '{}')
  const daemon = perpd(['run', `--config=${join(path, 'perpd.json')}`, ...own.flags(lying)])
  const { account } = await own.when('it runs', daemon, ({ state }) => state === 'running')
  const isHeld = async () =>
    ((await (await fetch(`${honest}/positions?address=${account}`)).json()) as Row[]).length > 0
  await until('a position is open', async () => ((await isHeld()) ? true : undefined), { seen: daemon.said })
  liar.withholds = true
  const beganMs = performance.now()
  const kill = perpd(['kill', '--close', '--by', 'ann', ...own.flags(lying)])
  await until('it is closed', async () => ((await isHeld()) ? undefined : true), {
    seen: daemon.said,
    timeoutMs: 90_000,
  })
  const seconds = (performance.now() - beganMs) / 1_000
  expect(liar.withheld).toBe(1)
  expect(seconds).toBeLessThan(60)
  kill.child.kill('SIGTERM')
  daemon.child.kill('SIGTERM')
  await daemon.ended
})
