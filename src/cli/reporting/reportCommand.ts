/** `perpd report`: a page of one backtest, of several side by side, or of the configured journal. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { BaseError } from '../../base/errors.ts'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { type Difference, differencesOf } from '../../report/figures/compare.ts'
import type { OrderStory, ReportSubject } from '../../report/figures/reportSubject.ts'
import { statisticsOf } from '../../report/figures/statistics.ts'
import { sentenceOf, statisticTable } from '../../report/figures/statisticTable.ts'
import { listedTrades } from '../../report/html/chartData.ts'
import { comparisonPage, type Reported, readPageCode, reportPage } from '../../report/html/reportPage.ts'
import type { Call } from '../call/command.ts'
import { wrapped } from '../output/screen.ts'
import { columns } from '../output/table.ts'
import { writeImages } from './chartImages.ts'
import { journalSubject } from './journalSubject.ts'
import { orderStories } from './orderStories.ts'
import { comparisonCsv, reportCsv, reportJson } from './reportFiles.ts'
import { runSubject } from './runSubject.ts'

/** Writes the page, and prints the sentence and the figures; `--json` prints all figures instead, `--csv` writes tables. */
export async function report(call: Call): Promise<number> {
  const { flags, positionals, cwd, out } = call
  // A run beside itself would differ in nothing.
  const folders = [...new Set(positionals.map((path) => resolve(cwd, path)))]
  const reports = labelled(await subjectsOf(call, folders)).map(
    (subject): Reported => ({ subject, statistics: statisticsOf(subject) }),
  )
  const differences = differencesOf(reports.map(({ subject }) => subject))
  const [tables, images] = [flags.get('csv'), flags.get('png')]
  if (flags.has('json')) out(reportJson(reports, differences))
  else if (typeof images === 'string') {
    const paths = await writeImages(resolve(cwd, images), reports)
    out(paths.length === 0 ? 'There is no curve to draw: nothing was written.' : paths.join('\n'))
  } else if (typeof tables === 'string') writeTables(resolve(cwd, tables), reports, differences, out)
  else await writePage(call, folders, { reports, differences })
  return exitCodes.ok
}

async function subjectsOf({ loaded }: Call, folders: readonly string[]): Promise<readonly ReportSubject[]> {
  if (folders.length === 0) return [await journalSubject(loaded.config)]
  try {
    const subjects: ReportSubject[] = []
    for (const folder of folders) subjects.push(await runSubject(folder))
    return subjects
  } catch (error) {
    if (!(error instanceof BaseError) || error instanceof CommandError) throw error
    throw new CommandError(error.message, exitCodes.notFound)
  }
}

/** Runs of the same strategies differ by the names of their folders. */
function labelled(subjects: readonly ReportSubject[]): readonly ReportSubject[] {
  const count = (title: string): number => subjects.filter((each) => each.title === title).length
  return subjects.map((subject) => (count(subject.title) > 1 ? { ...subject, title: subject.name } : subject))
}

function writeTables(
  folder: string,
  reports: readonly Reported[],
  differences: readonly Difference[],
  out: (text: string) => void,
): void {
  const [only] = reports
  const tables =
    reports.length === 1 && only !== undefined ? reportCsv(only) : comparisonCsv(reports, differences)
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of tables) writeFileSync(join(folder, name), `${text}\n`)
  out(`${[...tables.keys()].join(', ')} are in ${folder}`)
}

/** Every page of perpd has this; a file without it is not overwritten. */
const pageMark = ' - perpd report</title>'

/** The stories of the orders of the listed trades; none where the journal of a run is gone. */
async function storiesOf({ loaded: { config } }: Call, { subject, statistics }: Reported) {
  const { journalPath, source } = subject
  if (source === 'backtest' && !existsSync(journalPath)) return new Map<string, OrderStory>()
  // A run has a journal of its own, also where the configured one is kept by a server.
  const journal = { ...config.journal, path: journalPath, url: undefined }
  return await orderStories(
    source === 'backtest' ? { ...config, journal } : config,
    listedTrades(statistics).flatMap(({ intentIds }) => intentIds),
  )
}

async function writePage(
  call: Call,
  folders: readonly string[],
  {
    reports,
    differences,
  }: { readonly reports: readonly Reported[]; readonly differences: readonly Difference[] },
): Promise<void> {
  const { flags, cwd, out, width } = call
  const [only] = reports
  const given = flags.get('out')
  const usual = folders.length === 1 ? join(folders[0] ?? '', 'report.html') : resolve(cwd, 'report.html')
  const path = typeof given === 'string' ? resolve(cwd, given) : usual
  if (existsSync(path) && !readFileSync(path, 'utf8').includes(pageMark))
    throw new CommandError(
      `${path} is there, and is no report.\n  Nothing was written. Name another file: --out FILE.`,
      exitCodes.configuration,
    )
  const code = readPageCode()
  const page =
    reports.length === 1 && only !== undefined
      ? reportPage(only, code, await storiesOf(call, only))
      : comparisonPage(reports, differences, code)
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, page)
  const sentences = reports.flatMap(({ subject, statistics }) => [
    ...wrapped(
      '',
      `${reports.length > 1 ? `${subject.title}: ` : ''}${sentenceOf(statistics, subject.isResult)}`,
      Math.min(width, 80),
    ),
    '',
  ])
  const rows = statisticTable.map(({ name, text }) => [
    name,
    ...reports.map(({ statistics }) => text(statistics)),
  ])
  const head = reports.length > 1 ? [['', ...reports.map(({ subject }) => subject.title)]] : []
  out([...sentences, columns([...head, ...rows], '  '), '', `The page is ${path}`].join('\n'))
}
