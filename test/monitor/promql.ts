/** What rules, their tests and dashboards of `deploy/` hold, and which series and labels their expressions ask for. */
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'

/** `deploy/` of this checkout. */
export const deployFolder = resolve(import.meta.dirname, '..', '..', 'deploy')

/** One alert of the rules. */
export interface Alert {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook_url: string }
}
/** A series that is computed and kept. */
export interface Recording {
  readonly record: string
  readonly expr: string
}

const rulesFile: { readonly groups: readonly { readonly rules: readonly (Alert | Recording)[] }[] } = parse(
  readFileSync(join(deployFolder, 'prometheus', 'rules.yaml'), 'utf8'),
)
const rules = rulesFile.groups.flatMap((group) => group.rules)

/** The alerts, in their order. */
export const alerts: readonly Alert[] = rules.filter((rule) => 'alert' in rule)
/** The recording rules, in their order. */
export const recordings: readonly Recording[] = rules.filter((rule) => 'record' in rule)

/** What one panel asks, as Grafana would send it for all instances. */
export interface PanelQuery {
  readonly dashboard: string
  readonly panel: string
  readonly expr: string
}

/** Every query of every dashboard. */
export function dashboardQueries(): readonly PanelQuery[] {
  const folder = join(deployFolder, 'grafana', 'dashboards')
  return readdirSync(folder).flatMap((file) => {
    const dashboard: {
      readonly title: string
      readonly panels: readonly {
        readonly title: string
        readonly targets: readonly { readonly expr: string }[]
      }[]
    } = JSON.parse(readFileSync(join(folder, file), 'utf8'))
    return dashboard.panels.flatMap(({ title: panel, targets }) =>
      targets.map(({ expr }) => ({
        dashboard: dashboard.title,
        panel,
        expr: expr.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '5m'),
      })),
    )
  })
}

const words = new Set(['and', 'or', 'unless', 'bool', 'offset', 'inf', 'nan'])
const listOfLabels = /\b(by|without|on|ignoring|group_left|group_right)\s*\(([^)]*)\)/g

/** A series that an expression names, and the labels that it is picked by. */
export interface AskedSeries {
  readonly series: string
  readonly labels: readonly string[]
}

/** The series of an expression in PromQL. */
export function askedSeries(expr: string): readonly AskedSeries[] {
  const bare = expr.replaceAll(listOfLabels, ' ').replaceAll(/\[[^\]]*\]/g, ' ')
  return [...bare.matchAll(/(?<![\w.:])([a-zA-Z_:][\w:]*)\s*(\(|\{[^}]*\})?/g)].flatMap(
    ([, name = '', after = '']) =>
      after === '(' || words.has(name)
        ? []
        : [
            {
              series: name,
              labels: [...after.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].map(([, label = '']) => label),
            },
          ],
  )
}

/** Labels by which an expression groups or matches. */
export function groupedBy(expr: string): readonly string[] {
  return [...expr.matchAll(listOfLabels)].flatMap(([, , list = '']) =>
    list
      .split(',')
      .map((label) => label.trim())
      .filter((label) => label !== ''),
  )
}
