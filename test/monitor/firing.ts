/** Whether an alert of `deploy/prometheus` holds over what a daemon really served: promtool evaluates its own expression. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { type Alert, askedSeries, deployFolder, recordings } from './promql.ts'

/** A text of `/metrics`; undefined where nobody answered. */
export type Served = string | undefined

/**
 * Whether the alert's expression holds at the last of some readings that are taken to be a minute apart, oldest first; how long it has
 * to hold (`for:`) is left out. `folder`: where a file may be written.
 *
 * @throws Error when promtool cannot evaluate it
 */
export async function isFiring(
  { alert, expr }: Pick<Alert, 'alert' | 'expr'>,
  readings: readonly Served[],
  folder: string,
): Promise<boolean> {
  const asked = seriesOf(expr)
  const samples = readings.map((served) => samplesOf(served, asked))
  const input_series = [...new Set(samples.flatMap((each) => [...each.keys()]))].map((series) => ({
    series,
    values: samples.map((each) => each.get(series) ?? '_').join(' '),
  }))
  const file = join(folder, 'firing.yaml')
  const holds = {
    expr: `count(${expr}) > bool 0`,
    eval_time: `${readings.length - 1}m`,
    exp_samples: [{ labels: '{}', value: 1 }],
  }
  writeFileSync(
    file,
    stringify({
      rule_files: [join(deployFolder, 'prometheus', 'rules.yaml')],
      evaluation_interval: '1m',
      tests: [{ interval: '1m', input_series, promql_expr_test: [holds] }],
    }),
  )
  const child = spawn('promtool', ['test', 'rules', file], { stdio: ['ignore', 'pipe', 'pipe'] })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      said += text
    })
  const [code] = await once(child, 'close')
  if (code !== 0 && !/got:\s*nil/.test(said)) throw new Error(`${alert}: ${said}`)
  return code === 0
}

/** Series that an expression needs, those of recorded ones in their place. */
function seriesOf(expr: string): ReadonlySet<string> {
  const names = askedSeries(expr).map(({ series }) => series)
  const recorded = recordings.filter(({ record }) => names.includes(record))
  return new Set([...names, ...recorded.flatMap(({ expr: inner }) => [...seriesOf(inner)])])
}

/** Values by series with the labels that a scrape adds; `up` as Prometheus makes it. */
function samplesOf(served: Served, asked: ReadonlySet<string>): ReadonlyMap<string, string> {
  const scraped = 'instance="paper",job="perpd"'
  const lines = [...(served ?? '').matchAll(/^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/gm)]
  return new Map([
    [`up{${scraped}}`, served === undefined ? '0' : '1'],
    ...lines
      .filter(([, name = '']) => asked.has(name))
      .map(([, name = '', labels = '', value = '']): [string, string] => [
        `${name}{${[...(labels === '' ? [] : [labels]), scraped].join()}}`,
        value,
      ]),
  ])
}
