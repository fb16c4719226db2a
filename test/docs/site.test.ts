/** The documentation as a site: made as a user makes it, and read from disk in a real browser, without a server. */
import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { machineProgram } from '../support/machineProgram.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../..')
const executablePath = machineProgram(['chromium', 'chromium-browser', 'google-chrome'], 'chromium')
const site = mkdtempSync(join(tmpdir(), 'perpd-site-'))
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }

// Faults of links, and pages that no group lists, end it with 1.
beforeAll(() => run('npm', ['run', '-s', 'site', '--', site], { cwd: root }), 240_000)
afterAll(() => rmSync(site, { recursive: true, force: true }))

test('every page is there, in a folder of its version', () => {
  expect(readFileSync(join(site, 'index.html'), 'utf8')).toContain(`href="${version}/index.html"`)
  for (const page of ['Commands', 'Configuration', 'Metrics', 'Codes', 'Glossary', 'The_first_hour'])
    expect([page, existsSync(join(site, version, 'documents', `${page}.html`))]).toEqual([page, true])
})

test.runIf(executablePath !== undefined)(
  'from disk it finds a word, is dark where the reader wants it dark, and nothing fails in it',
  async () => {
    const browser = await chromium.launch({
      ...(executablePath === undefined ? {} : { executablePath }),
      args: ['--no-sandbox'],
    })
    try {
      const page = await browser.newPage({ colorScheme: 'dark' })
      const faults: string[] = []
      page.on('pageerror', (error) => faults.push(String(error)))
      // Icons of their own file are refused from disk, and drawn by a script instead.
      page.on('requestfailed', (request) => {
        if (['script', 'stylesheet'].includes(request.resourceType())) faults.push(request.url())
      })
      await page.goto(pathToFileURL(join(site, version, 'index.html')).href)
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(background).toMatch(/^rgb\((?:[0-5]?\d, ?){2}[0-5]?\d\)$/)
      await page.click('#tsd-search-trigger')
      await page.fill('#tsd-search-input', 'liquidation')
      await page.waitForSelector('#tsd-search-results li a')
      await page.click('#tsd-search-results li a')
      await page.waitForURL(/\/(?:documents|functions|interfaces)\//)
      expect(faults).toEqual([])
    } finally {
      await browser.close()
    }
  },
  120_000,
)
