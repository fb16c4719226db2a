/** A report as one page: it asks for nothing outside, and its policy lets nothing in. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packagedFile, withoutTypes } from '../../base/browser/browserCode.ts'
import type { Difference } from '../figures/compare.ts'
import { momentOf } from '../figures/figureText.ts'
import type { OrderStory, ReportSubject } from '../figures/reportSubject.ts'
import type { Statistics } from '../figures/statistics.ts'
import { sentenceOf, statisticTable } from '../figures/statisticTable.ts'
import { chartData, comparisonData } from './chartData.ts'
import { Html, html, jsonBlock } from './markupText.ts'
import {
  assumptions,
  benchmark,
  chart,
  configuration,
  costs,
  curves,
  distributions,
  periods,
  section,
  statisticsSection,
  table,
  trades,
} from './pageSections.ts'

/** Where the page's own files lie: beside this folder, in the source and in what is built. */
const pageFolder = fileURLToPath(new URL('../drawing', import.meta.url))

/** The scripts and the sheet that every page carries. */
export interface PageCode {
  readonly scripts: readonly string[]
  readonly sheet: string
}

/** Reads them: uPlot as it is packaged, and the page's own. Throws where a file is missing. */
export function readPageCode(): PageCode {
  const ofPackage = (file: string): string => {
    const path = packagedFile('uplot', file)
    if (path === undefined) throw new Error(`uplot/${file} is not installed`)
    return readFileSync(path, 'utf8')
  }
  const own = (name: string): string => readFileSync(join(pageFolder, name), 'utf8')
  const colours = readFileSync(
    fileURLToPath(new URL('../../control/console/page/colours.css', import.meta.url)),
    'utf8',
  )
  return {
    scripts: [ofPackage('dist/uPlot.iife.min.js'), withoutTypes(own('drawReport.ts'))],
    sheet: `${ofPackage('dist/uPlot.min.css')}\n${colours}${own('report.css')}`,
  }
}

/** A subject and its figures. */
export interface Reported {
  readonly subject: ReportSubject
  readonly statistics: Statistics
}

/** The page of one report; `stories`: those of its orders, by id. */
export function reportPage(
  { subject, statistics }: Reported,
  code: PageCode,
  stories: ReadonlyMap<string, OrderStory> = new Map(),
): string {
  const { title, source, fromSeconds, toSeconds, isResult } = subject
  const body = html`<header><p class="muted">${source === 'backtest' ? 'Backtest' : 'Journal'}, ${momentOf(fromSeconds)} to ${momentOf(toSeconds)} UTC</p><h1>${title}</h1></header>
<main>
${assumptions(subject)}
<p class="sentence" id="sentence">${sentenceOf(statistics, isResult)}</p>
${statisticsSection(statistics)}
${curves(subject, statistics)}
${periods(statistics)}
${trades(statistics)}
${costs(statistics)}
${distributions(statistics)}
${benchmark(statistics)}
${configuration(subject)}
</main>`
  return pageOf(title, body, chartData(subject, statistics, stories), code)
}

/** The page of several reports side by side. */
export function comparisonPage(
  reports: readonly Reported[],
  differences: readonly Difference[],
  code: PageCode,
): string {
  const titles = reports.map(({ subject }) => subject.title)
  const row = (name: string, cells: readonly string[], style = 'num') =>
    html`<tr><th scope="row">${name}</th>${cells.map((each) => html`<td class="${style}">${each}</td>`)}</tr>`
  const title = titles.join(' and ')
  const body = html`<header><p class="muted">Comparison</p><h1>${title}</h1></header>
<main>
${reports.map(({ subject, statistics }, index) => html`<section aria-label="${subject.title}"><h2>${subject.title}</h2><p class="sentence">${sentenceOf(statistics, subject.isResult)}</p><details><summary>Assumptions</summary><ul id="assumptions-${index}">${subject.assumptions.map((each) => html`<li>${each}</li>`)}</ul></details></section>`)}
${section('curves', 'Returns', chart('curves', 'Return since the beginning, percent'))}
${section(
  'figures',
  'Figures',
  table(
    'Figures',
    ['', ...titles],
    statisticTable.map(({ name, text }) =>
      row(
        name,
        reports.map(({ statistics }) => text(statistics)),
      ),
    ),
  ),
)}
${section(
  'differences',
  'Configuration that differs',
  differences.length === 0
    ? html`<p>Nothing differs.</p>`
    : table(
        'Configuration that differs',
        ['Name', ...titles],
        differences.map(({ name, values }) =>
          row(
            name,
            values.map((each) => each ?? 'not set'),
            'mono',
          ),
        ),
      ),
)}
</main>`
  return pageOf(title, body, comparisonData(reports.map(({ subject }) => subject)), code)
}

function pageOf(title: string, body: Html, data: unknown, { scripts, sheet }: PageCode): string {
  // Nothing in them ends their element: a backslash before the slash is the same text to a script.
  const safe = scripts.map((script) => script.replaceAll('</', '<\\/'))
  const policy = [
    "default-src 'none'",
    `script-src ${safe.map(hashOf).join(' ')}`,
    `style-src ${hashOf(sheet)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ')
  return `${
    html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title} - perpd report</title>
<style>${new Html(sheet)}</style>
</head>
<body>
${body}
<script type="application/json" id="data">${jsonBlock(data)}</script>
${safe.map((script) => html`<script>${new Html(script)}</script>`)}
</body>
</html>
`.text
  }`
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`
}
