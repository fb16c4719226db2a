/** The page of a report as text: nothing in it comes from outside, and no text of a user is anything but text. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { differencesOf } from '../../src/report/figures/compare.ts'
import type { ReportSubject } from '../../src/report/figures/reportSubject.ts'
import { statisticsOf } from '../../src/report/figures/statistics.ts'
import { costTable, statisticTable } from '../../src/report/figures/statisticTable.ts'
import { comparisonPage, readPageCode, reportPage } from '../../src/report/html/reportPage.ts'
import { subject, trade } from './subjects.ts'

const src = resolve(import.meta.dirname, '..', '..', 'src')
const code = readPageCode()
const reported = (more: Partial<ReportSubject> = {}) => {
  const own = subject(more)
  return { subject: own, statistics: statisticsOf(own) }
}

const evil = `</script><script>alert("x")</script><img src=x onerror='alert(1)'>&amp;`
const hostile = {
  title: evil,
  name: evil,
  assumptions: [evil],
  journalPath: `/tmp/${evil}/journal.db`,
  configuration: { [evil]: evil },
  trades: [
    trade(5, { openReason: evil, closeReason: evil, strategy: evil, market: evil, intentIds: [evil] }),
  ],
}

/** The elements that begin in a text of HTML, without what scripts and sheets hold. */
function elementsOf(page: string): readonly string[] {
  const bare = page.replace(/(<(script|style)\b[^>]*>)[\s\S]*?<\/\2>/g, '$1')
  return [...bare.matchAll(/<([a-z!][\w-]*)\b([^>]*)>/gi)].map(([whole]) => whole)
}

test('reasons, names of files and all other texts of users stand in the page as text alone', () => {
  const honest = reportPage(reported({ trades: [trade(5)] }), code)
  const page = reportPage(reported(hostile), code)
  expect(page).not.toContain('<script>alert')
  expect(page).not.toContain('<img')
  // As many elements as without them, and the same ones.
  const names = (text: string) => elementsOf(text).map((each) => /^<([\w!-]+)/.exec(each)?.[1])
  expect(names(page)).toEqual(names(honest))
  const { trades } = JSON.parse(/id="data">(.*?)<\/script>/s.exec(page)?.[1] ?? '')
  expect(trades[0]).toMatchObject({ openReason: evil, closeReason: evil, intentIds: [evil] })
  const both = comparisonPage(
    [reported(hostile), reported()],
    differencesOf([subject(hostile), subject()]),
    code,
  )
  expect(both).not.toContain('<script>alert')
  expect(both).not.toContain('<img')
})

test('the policy lets the two scripts and the sheet of the page run, and nothing else', () => {
  for (const page of [reportPage(reported(), code), comparisonPage([reported(), reported()], [], code)]) {
    const [, policy = ''] = /http-equiv="Content-Security-Policy" content="([^"]*)"/.exec(page) ?? []
    const plain = policy.replaceAll('&#39;', "'")
    const hash = (text = '') => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    const scripts = [...page.matchAll(/<script>([\s\S]*?)<\/script>/g)].map(([, text]) => hash(text))
    const sheets = [...page.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, text]) => hash(text))
    expect([scripts.length, sheets.length]).toEqual([2, 1])
    expect(plain).toBe(
      `default-src 'none'; script-src ${scripts.join(' ')}; style-src ${sheets.join(' ')}; base-uri 'none'; form-action 'none'`,
    )
  }
})

test('a page asks for nothing outside, and has no handler or style in an attribute', () => {
  const page = reportPage(reported({ trades: [trade(5)] }), code)
  const attributes = elementsOf(page).join('\n')
  expect(attributes).not.toMatch(/\s(?:src|href|action|style|on\w+)=/i)
  expect(code.sheet).not.toMatch(/url\(|@import/)
})

test('assumptions come before the sentence, and the sentence before any figure', () => {
  const page = reportPage(reported({ isResult: false }), code)
  const places = ['Own orders move no price.', 'No result, because price impact', '<dl class="figures">'].map(
    (text) => page.indexOf(text),
  )
  expect(places).toEqual(places.toSorted((one, other) => one - other))
  expect(places[0]).toBeGreaterThan(0)
})

test('every statistic and every kind of costs stands in the page with its definition', () => {
  const page = reportPage(reported(), code)
  const text = page.replaceAll('&#39;', "'")
  const missing = [...statisticTable, ...costTable].filter(
    ({ name, definition }) => !text.includes(`>${name}<`) || !text.includes(`>${definition}<`),
  )
  expect(missing.map(({ name }) => name)).toEqual([])
})

test('the page has the colours of the console, in the light and in the dark', () => {
  const colours = readFileSync(resolve(src, 'control/console/page/colours.css'), 'utf8')
  expect(colours.match(/--paper: /g)).toHaveLength(2)
  expect(reportPage(reported(), code)).toContain(colours)
})
