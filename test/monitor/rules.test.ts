/** Alerts, dashboards and the runbook fit each other and the series that there are. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { commands } from '../../src/cli/commandTable.ts'
import { commandForms } from '../../src/control/console/page/commandForms.ts'
import { texts } from '../../src/control/console/page/texts.ts'
import { createMetrics } from '../../src/monitor/metrics/metrics.ts'
import { releaseOf } from '../../src/risk/breakers/circuitBreakers.ts'
import { machineProgram } from '../support/machineProgram.ts'
import { alerts, askedSeries, dashboardQueries, deployFolder, groupedBy, recordings } from './promql.ts'

const rulesFile = join(deployFolder, 'prometheus', 'rules.yaml')
const testsFile = join(deployFolder, 'prometheus', 'rules.test.yaml')
const page = readFileSync(join(deployFolder, '..', 'docs', 'reference', 'alerts.md'), 'utf8')
const sections = new Map(
  page
    .split(/^## /m)
    .slice(1)
    .map((text) => [text.split('\n')[0] ?? '', text]),
)
const expressions = [
  ...[...alerts, ...recordings].map(({ expr }) => expr),
  ...dashboardQueries().map(({ expr }) => expr),
]

test('an expression names its series, not its functions, labels and words', () => {
  const expr =
    'sum by (host, le) (rate(a_total{host=~"x.*",code!="b_total{"}[5m])) or 0 * c:d:e > ignoring(which) (10 + time())'
  expect(askedSeries(expr.replace('b_total{', 'b'))).toEqual([
    { series: 'a_total', labels: ['host', 'code'] },
    { series: 'c:d:e', labels: [] },
  ])
  expect(groupedBy(expr)).toEqual(['host', 'le', 'which'])
})

test('rules and dashboards ask for series and labels that perpd has', async () => {
  const metrics = createMetrics({ version: '', profile: '', chain: '' })
  const known = new Map<string, readonly string[]>([
    ...recordings.map(({ record, expr }): [string, readonly string[]] => [record, groupedBy(expr)]),
    ['up', []],
  ])
  for (const { name, type, labels } of metrics.describe()) {
    const shown = type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    for (const end of shown) known.set(name + end, [...labels, ...(end === '_bucket' ? ['le'] : [])])
  }
  for (const [, name = ''] of (await metrics.render()).matchAll(/^# TYPE ((?:process|nodejs)_\S+) /gm))
    known.set(name, [])
  expect(expressions.length).toBeGreaterThan(80)
  for (const expr of expressions) {
    const asked = askedSeries(expr)
    expect(asked, expr).not.toEqual([])
    const own = new Set(['instance', 'job', ...asked.flatMap(({ series }) => known.get(series) ?? [])])
    for (const { series, labels } of asked) {
      expect([...known.keys()], expr).toContain(series)
      for (const label of labels)
        expect(['instance', 'job', ...(known.get(series) ?? [])], expr).toContain(label)
    }
    for (const label of groupedBy(expr)) expect([...own], expr).toContain(label)
  }
})

test('every alert is tried for firing and for not firing', () => {
  const { tests } = parse(readFileSync(testsFile, 'utf8'))
  const tried = tests.map(
    ({ name, alert_rule_test: [only] }: { name: string; alert_rule_test: { exp_alerts: unknown[] }[] }) => [
      name,
      only?.exp_alerts.length,
    ],
  )
  expect(tried).toEqual(
    alerts.flatMap(({ alert }) => [
      [`${alert} fires`, 1],
      [`${alert} does not fire`, 0],
    ]),
  )
})

test('every alert has its section in docs/reference/alerts.md and points at it, and no section is of an alert that is gone', () => {
  expect([...sections.keys()].filter((name) => name.startsWith('Perpd'))).toEqual(
    alerts.map(({ alert }) => alert),
  )
  for (const { alert, expr, labels, annotations } of alerts) {
    expect(annotations.runbook_url).toBe(`docs/reference/alerts.md#${alert.toLowerCase()}`)
    expect(['critical', 'warning']).toContain(labels.severity)
    const section = sections.get(alert) ?? ''
    expect(section).toContain(`Severity ${labels.severity}: \`${expr}\``)
    for (const part of ['It means', 'perpd has', 'Check', 'Press'])
      expect(section, alert).toMatch(new RegExp(`^- \\*\\*${part}:\\*\\* \\S`, 'm'))
  }
})

/** Commands that the console has a button for, with its label. */
const buttons: readonly (readonly [string, string])[] = [
  ['trading active', texts.actions.active],
  ['trading reducing', texts.actions.reducing],
  ['trading halted', texts.actions.halted],
  ['kill --close', texts.actions.killClose],
  ['close MARKET', texts.positions.close],
  ['protect MARKET', texts.positions.protect],
  ['strategies pause', texts.strategies.pause],
  ['strategies reload', commandForms.reload.button ?? ''],
  ['discrepancies adopt', texts.attention.adopt],
  ['discrepancies ignore', texts.attention.ignore],
]

test('what is pressed in the console stands beside the command, by labels that the page has', () => {
  const labels = new Set<string>([
    ...buttons.map(([, label]) => label),
    ...Object.values(texts.sections),
    texts.actions.stop,
  ])
  for (const { alert } of alerts) {
    const pressed = /^- \*\*Press:\*\* (.*)$/m.exec(sections.get(alert) ?? '')?.[1] ?? ''
    const [command = '', console = ''] = pressed.split(' In the console: ')
    const named = [...console.matchAll(/“([^”]*)”/g)].map(([, label = '']) => label)
    for (const label of named) expect([...labels], alert).toContain(label)
    for (const [words, label] of buttons)
      if (command.includes(`perpd ${words}`)) expect(named, alert).toContain(label)
  }
  for (const [, label] of buttons) expect(page, label).toContain(`“${label}”`)
})

test('the runbook and docs/control.md name every breaker whose hold ends with its cause, and no other', () => {
  const control = readFileSync(join(deployFolder, '..', 'docs', 'control.md'), 'utf8')
  const lists = [
    /Halts by (.*) end with their cause/.exec(sections.get('PerpdTradingReducing') ?? '')?.[1],
    /A halt whose cause lasts \(([^)]*)\)/.exec(control)?.[1],
  ]
  const ending = Object.entries(releaseOf).flatMap(([name, releasedBy]) =>
    releasedBy === 'itself' ? [name] : [],
  )
  for (const list of lists)
    expect([...(list ?? '').matchAll(/`([^`]*)`/g)].map(([, name]) => name)).toEqual(ending)
})

test('every command of docs/reference/alerts.md is one that perpd has', () => {
  const asked = [...page.matchAll(/`perpd ([a-z][^`]*)`/g)].map(([, command = '']) => command)
  expect(asked.length).toBeGreaterThan(40)
  for (const command of asked) {
    const found = commands
      .filter(({ name }) => `${command} `.startsWith(`${name} `))
      .sort((one, other) => other.name.length - one.name.length)[0]
    expect(found, command).toBeDefined()
    const flags = [...command.matchAll(/--([a-z-]+)/g)].map(([, flag]) => flag)
    const known = found?.flags.map(({ name }) => name)
    for (const flag of flags) expect(known, command).toContain(flag)
  }
})

const promtool = machineProgram(['promtool'], 'prometheus')

test.runIf(promtool !== undefined)('promtool takes the rules, and each of their tests passes', () => {
  for (const args of [
    ['check', 'rules', '--lint-fatal', rulesFile],
    ['check', 'config', '--syntax-only', join(deployFolder, 'prometheus', 'prometheus.yaml')],
    ['test', 'rules', testsFile],
  ]) {
    const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
    expect([status, status === 0 ? '' : stdout + stderr]).toEqual([0, ''])
  }
})
