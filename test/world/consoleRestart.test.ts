/** What is pressed on the console's page holds: seen on the page and in the daemon, after a reload, and after a kill -9 and a restart. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { texts } from '../../src/control/console/page/texts.ts'
import {
  ask,
  carriedOut,
  loggedIn,
  logIn,
  type Served,
  sent,
  sentTyped,
  servedIn,
  toPage,
} from './consoleBrowser.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { until } from './processes.ts'

const eth = 'ETH/USD [WETH-USDC]'
const btc = 'BTC/USD [BTC-USDC]'

const here = pageTests()

/** The strategy's file: of a kind that opens nothing by itself. */
function writeStrategy(sizeUsd: number, largestUsd: number): void {
  writeFileSync(
    join(here.folder, 'own.yaml'),
    [
      'kind: signal',
      `market: ${eth}`,
      `size: { usd: ${sizeUsd}, leverage: 2, collateral: short }`,
      `limits: { maxPositionSizeUsd: ${largestUsd} }`,
      '',
    ].join('\n'),
  )
}

function writeSettings(maxTotalExposureUsd: number): void {
  writeFileSync(join(here.folder, 'perpd.json'), JSON.stringify({ risk: { maxTotalExposureUsd } }), {
    mode: 0o600,
  })
}

const served = (port = '0'): Promise<Served> =>
  servedIn(here.folder, [
    `--control.port=${port}`,
    `--strategies.paths=${join(here.folder, 'own.yaml')}`,
    `--control.signalSecretFile=${join(here.folder, 'signal.secret')}`,
    // Files are taken over when the page says so.
    '--strategies.watch=off',
    '--paper.startBalances=USDC=100000,ETH=10,WETH=10',
  ])

/** What the daemon answers to who holds its token. */
async function told<T>(daemon: Served, path: string): Promise<T> {
  const answer = await ask(daemon, path)
  expect(answer.status).toBe(200)
  return (await answer.json()) as T
}

interface Facts {
  readonly tradingState: string
  readonly pausedBy: string | undefined
  readonly exposureLimit: string | undefined
  readonly sizeUsd: string | undefined
  readonly tasks: Readonly<Record<string, string>>
}

/** Of the daemon itself what was pressed. Tasks: each with how it stands. */
async function factsOf(daemon: Served): Promise<Facts> {
  const status = await told<{
    readonly tradingState: string
    readonly strategies: readonly { readonly pausedBy?: { readonly reason: string } }[]
  }>(daemon, '/api/status')
  const limits = await told<readonly { scope: string; limit: string; value: string }[]>(daemon, '/api/limits')
  const file = await told<{ readonly fields: readonly { field: string; value: string }[] }>(
    daemon,
    '/api/strategies/own/file',
  )
  const tasks = await told<readonly { taskId: string; standing: string; outcome?: string }[]>(
    daemon,
    '/api/tasks',
  )
  return {
    tradingState: status.tradingState,
    pausedBy: status.strategies[0]?.pausedBy?.reason,
    exposureLimit: limits.find(({ scope, limit }) => scope === 'account' && limit === 'maxTotalExposureUsd')
      ?.value,
    sizeUsd: file.fields.find(({ field }) => field === 'size.usd')?.value,
    tasks: Object.fromEntries(
      tasks
        .map(({ taskId, standing, outcome }) => [taskId.split(':')[0] ?? '', outcome ?? standing] as const)
        .toSorted(),
    ),
  }
}

/** Presses a button, fills in a form, and sends it: first what it would do where that is shown. */
async function pressed(
  page: Page,
  button: string,
  {
    fields = {},
    sees,
    typed,
  }: { readonly fields?: Record<string, string>; readonly sees?: string; readonly typed?: string },
): Promise<void> {
  await page.click(button)
  for (const [name, value] of Object.entries(fields)) {
    const choice = page.locator(`dialog[open] select[name=${name}]`)
    if ((await choice.count()) > 0) await choice.selectOption(value)
    else await page.fill(`dialog[open] input[name=${name}]`, value)
  }
  if (sees !== undefined) {
    await sent(page, texts.dialog.would)
    expect(await page.locator('dialog[open] .outcome').innerText()).toContain(sees)
  }
  if (typed !== undefined) return await sentTyped(page, typed)
  await carriedOut(page)
}

async function startTask(page: Page, button: string, fields: Record<string, string>): Promise<void> {
  await pressed(page, `#tasks button:has-text("${button}")`, {
    fields: { ...fields, maxFees: '300' },
    sees: '',
  })
}

pageTest(
  'limits, files, tasks, a pause and trading states that the page set are there after a reload, and after a kill -9 and a restart',
  { timeout: 480_000 },
  async () => {
    writeStrategy(500, 600)
    writeSettings(20_000)
    const daemon = await served()
    const { page, complaints } = await loggedIn(here.browser, daemon, 'operate')

    await toPage(page, 'strategies')
    // One field of the file by the row's own button; then files and limits that were changed by hand.
    await pressed(page, '#strategies button[aria-label="Edit the file of own"]', {
      fields: { field: 'size.usd', value: '460' },
      sees: 'size.usd 500 -> 460',
    })
    expect((await factsOf(daemon)).sizeUsd).toBe('460')
    writeStrategy(470, 600)
    await pressed(page, '#strategies button:has-text("Reload files…")', { sees: 'own: ' })
    expect((await factsOf(daemon)).sizeUsd).toBe('470')
    writeStrategy(470, 900)
    await pressed(page, '#strategies button:has-text("Reload, looser limits too…")', {
      sees: 'looser, so they need',
      typed: 'loosen',
    })
    await toPage(page, 'risk')
    await page.waitForSelector('#limits .rows >> text=of $900.00')
    writeSettings(15_000)
    await pressed(page, '#limits button:has-text("Apply limits…")', { sees: 'maxTotalExposureUsd' })
    await page.waitForSelector('#limits .rows >> text=of $15,000.00')
    writeSettings(18_000)
    await pressed(page, '#limits button:has-text("Apply, looser too…")', {
      sees: 'looser, needs your confirmation',
      typed: 'loosen',
    })
    await page.waitForSelector('#limits .rows >> text=of $18,000.00')

    await toPage(page, 'strategies')
    // Entries far from the price rest; what is at the market is held.
    await startTask(page, 'Bracket…', {
      market: eth,
      size: '300',
      stopLoss: '1300',
      takeProfit: '20000',
    })
    await startTask(page, 'Ladder…', { market: btc, direction: 'short', size: '500', rungs: '3' })
    await startTask(page, 'Chase…', { market: eth, direction: 'short', size: '200', price: '1000' })
    await startTask(page, 'Accumulate…', { market: btc, target: '400', price: '1' })
    await startTask(page, 'Rebalance…', { weights: `${eth}=40`, total: '900' })
    await page.waitForSelector('#tasks .rows li:has-text("rebalance") >> text=done')
    const kinds = ['accumulate', 'bracket', 'chase', 'ladder', 'rebalance']
    expect(Object.keys((await factsOf(daemon)).tasks)).toEqual(kinds)
    await page.click('#tasks .rows li:has-text("accumulate") button')
    await carriedOut(page)
    await page.waitForSelector('#tasks .rows li:has-text("accumulate") >> text=stopped')

    // A share of the position by hand, and the order that does it.
    await toPage(page, 'trade')
    const close = page.locator(`#positions button[aria-label^="Close long ${eth}"]`).first()
    await close.click()
    await page.fill('dialog[open] input[name=percent]', '50')
    await sent(page, texts.dialog.would)
    await page.fill('dialog[open] input[name=typed]', 'close')
    await sent(page, texts.dialog.carriedOut)
    await page.click('dialog[open] button:has-text("Follow order")')
    await page.waitForSelector('dialog[open] #story-title')
    await page.waitForSelector('dialog[open] .timeline >> text=Accepted')
    await page.keyboard.press('Escape')

    await toPage(page, 'strategies')
    await page.click('#strategies button[aria-label="Pause… own"]')
    await page.fill('dialog[open] input[name=reason]', 'lunch')
    await carriedOut(page)
    for (const state of ['halted', 'active', 'reducing'] as const) {
      if (state !== 'active') await page.click('button[popovertarget=stop-menu]')
      await pressed(page, `.actions button:has-text("${texts.actions[state]}"):visible`, {
        fields: { reason: 'the night' },
      })
      await page.waitForSelector(`.top >> text=${state.toUpperCase()}`)
      expect((await factsOf(daemon)).tradingState).toBe(state)
      if (state !== 'halted') continue
      await page.reload()
      await page.waitForSelector('.top >> text=HALTED')
      await page.waitForSelector('.top >> text=the night')
    }

    const before = await factsOf(daemon)
    expect(before).toMatchObject({
      ...{ tradingState: 'reducing', pausedBy: 'lunch', sizeUsd: '470' },
      tasks: { accumulate: 'stopped', bracket: 'running', ladder: 'running' },
    })
    const isAsBefore = async (): Promise<void> => {
      await page.waitForSelector('.top >> text=REDUCING')
      await page.waitForSelector('.top >> text=the night')
      await page.waitForSelector('#strategies tbody >> text=lunch')
      await page.waitForSelector('#tasks .rows li:has-text("accumulate") >> text=stopped')
      for (const kind of ['bracket', 'ladder'])
        await page.waitForSelector(`#tasks .rows li:has-text("${kind}") >> text=running`)
      expect(await page.locator('#tasks .rows li').count()).toBe(kinds.length)
      await toPage(page, 'risk')
      await page.waitForSelector('#limits .rows >> text=of $18,000.00')
      await page.waitForSelector('#limits .rows >> text=of $900.00')
      await toPage(page, 'trade')
      await page.waitForSelector('#positions .stop >> text=$')
      await toPage(page, 'strategies')
    }
    await page.reload()
    await isAsBefore()
    expect(complaints).toEqual([])

    daemon.child.kill('SIGKILL')
    await daemon.ended
    await page.waitForSelector('.top >> text=no connection')
    const again = await served(new URL(daemon.console).port)
    await logIn(page, again, 'operate')
    await isAsBefore()
    const after = await until('the tasks stand as they did', async () => {
      const facts = await factsOf(again)
      return facts.tasks.bracket === 'running' ? facts : undefined
    })
    const { tasks, ...rest } = before
    expect(after).toMatchObject(rest)
    expect(Object.keys(after.tasks)).toEqual(kinds)
    expect(after.tasks).toMatchObject({ accumulate: 'stopped', bracket: 'running', ladder: 'running' })
    for (const [kind, standing] of Object.entries(tasks))
      if (standing !== 'running') expect(after.tasks[kind]).toBe(standing)
    // While nothing listened the browser itself said so; the page did not complain.
    expect(complaints.filter((each) => !each.startsWith('Failed to load resource'))).toEqual([])
  },
)
