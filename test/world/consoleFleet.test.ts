/** The console of a node of a real fleet over a real PostgreSQL: nodes and accounts, a drain and a move by its buttons, with the keyboard, wide and narrow, in light and in dark. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterEach, beforeEach, expect } from 'vitest'
import { texts } from '../../src/control/console/page/texts.ts'
import { type Cluster, startCluster } from '../support/postgres.ts'
import { foundOf } from './axeFindings.ts'
import { ask, browserPath, carriedOut, consoleOf, loggedIn, sent, toPage } from './consoleBrowser.ts'
import { type SharedDesk, startDesk, trade, writeDesk } from './desks.ts'
import { hastyVenue } from './killPoint.ts'
import { pageTest, pageTests } from './pageTests.ts'
import { startPaper } from './processes.ts'

const { fleet: words } = texts
const here = pageTests()
let cluster: Cluster
beforeEach(async () => {
  if (browserPath !== undefined) cluster = await startCluster()
}, 120_000)
afterEach(() => cluster?.remove())

const nodeRow = (name: string) => `#fleet tr:has(th:text("${name}"))`

/** Waits until the page says who holds an account. */
const heldBy = (page: Page, account: string, node: string) =>
  page.waitForSelector(`${nodeRow(account)} td[data-label="${words.holder}"]:text-is("${node}")`, {
    timeout: 90_000,
  })

pageTest(
  'the page of a node shows nodes and holders, and drains and moves by the command rows; who may read sees no button',
  { timeout: 600_000 },
  async () => {
    const paper = await startPaper(hastyVenue)
    const keys = join(here.folder, 'keys')
    mkdirSync(keys)
    const shared: SharedDesk = { hosts: paper.hosts, url: cluster.url(), names: ['alpha', 'beta'], keys }
    const start = (node: string) => {
      const folder = join(here.folder, node)
      mkdirSync(folder)
      writeDesk(folder, shared)
      const flags = ['--cluster.name=desk', `--cluster.node=${node}`]
      return { folder, desk: startDesk(folder, { ...shared, flags }) }
    }
    const one = start('one')
    const place = { console: await consoleOf(one.desk), tokens: one.folder }
    await trade(one.desk, shared.url, shared.names)
    const { page, complaints } = await loggedIn(here.browser, place, 'operate')
    await toPage(page, 'system')
    await heldBy(page, 'alpha', 'one')
    await heldBy(page, 'beta', 'one')

    // Alpha is wished to where it is, with the keyboard alone, so that the account of this page stays.
    await page.locator(`#fleet button[aria-label="${words.moveLabel('alpha')}"]`).focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open] input[name=node]')
    await page.keyboard.type('three')
    await page.keyboard.press('Tab')
    await page.keyboard.type('ann')
    await page.keyboard.press('Enter')
    await page.waitForSelector('dialog[open] .outcome >> text=FLEET_NODE_UNKNOWN')
    await page.locator('dialog[open] input[name=node]').focus()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('one')
    await page.keyboard.press('Enter')
    await page.waitForSelector(`dialog[open] .outcome >> text=${texts.dialog.would}`)
    await page.locator('dialog[open] input[name=node]').focus()
    await page.keyboard.press('Enter')
    await page.waitForSelector(`dialog[open] .outcome >> text=${texts.dialog.carriedOut}`)
    await page.keyboard.press('Escape')

    start('two')
    await page.waitForSelector(nodeRow('two'))
    await heldBy(page, 'beta', 'two')
    const row = await page.locator(nodeRow('beta')).textContent()
    expect(row).toMatch(/\d\d:\d\d/)
    expect(await page.locator(`${nodeRow('two')} td[data-label="${words.holds}"]`).textContent()).toBe('beta')
    // Each account has an heir on the other node.
    await page.waitForSelector(`${nodeRow('beta')} td[data-label="${words.waiting}"]:text-is("one")`, {
      timeout: 90_000,
    })

    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      for (const width of [1_440, 390]) {
        await page.setViewportSize({ width, height: 844 })
        expect([colorScheme, width, await foundOf(page)]).toEqual([colorScheme, width, []])
        const wide = await page.evaluate<number>(
          'document.documentElement.scrollWidth - document.documentElement.clientWidth',
        )
        expect([colorScheme, width, wide]).toEqual([colorScheme, width, 0])
      }
    }
    // On a phone: what a drain would do is shown, and nothing is done before it was seen and sent.
    await page.click(`#fleet button[aria-label="${words.drainLabel(false, 'two')}"]`)
    await sent(page, texts.dialog.would)
    expect(await foundOf(page)).toEqual([])
    expect(await page.locator('dialog[open] .outcome').textContent()).toContain('beta')
    const nodes = async () =>
      ((await (await ask(place, '/api/fleet')).json()) as { readonly nodes: readonly object[] }).nodes
    expect(await nodes()).toMatchObject([{ node: 'one' }, { node: 'two', isDraining: false }])
    await carriedOut(page)
    await page.waitForSelector(`${nodeRow('two')} >> text=${words.drains}`)
    await heldBy(page, 'beta', 'one')
    await page.setViewportSize({ width: 1_440, height: 900 })
    await page.click(`#fleet button[aria-label="${words.drainLabel(true, 'two')}"]`)
    await sent(page, texts.dialog.would)
    await carriedOut(page)
    await heldBy(page, 'beta', 'two')
    expect(one.desk.stdout()).toMatch(/"event":"fleet.commanded".*ann/)

    const reader = await loggedIn(await here.browser.newContext(), place, 'read')
    await toPage(reader.page, 'system')
    await heldBy(reader.page, 'alpha', 'one')
    expect(await reader.page.locator('#fleet button').count()).toBe(0)
    expect(complaints).toEqual([])
    expect(reader.complaints).toEqual([])
  },
)
