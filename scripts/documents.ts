/** Prints the documents that are derived from source: `node scripts/documents.ts` writes them, a test holds them up to date. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { z } from 'zod'
import { accountNameText, accountSections, mostAccounts } from '../src/config/accountNames.ts'
import { type NamedSetting, settings, variableOf } from '../src/config/configSchema.ts'
import { settingsSchema } from '../src/config/jsonSchema.ts'
import { deskSetting } from '../src/domain/limits/deskBudgets.ts'
import { deskLimitRows, limitRows, limitSetting } from '../src/domain/limits/limits.ts'
import { commonFieldNames, eventRegister } from '../src/monitor/events/eventRegister.ts'
import { noticeKinds } from '../src/monitor/events/notice.ts'
import { createMetrics } from '../src/monitor/metrics/metrics.ts'
import { everyRow } from '../src/operator/commands/index.ts'
import { flagOf } from '../src/operator/taskForms.ts'
import { strategyFileSchema } from '../src/strategy/files/fileJsonSchema.ts'
import { taskRows } from '../src/tasks/taskRows.ts'
import { apiCoverageDocument } from './apiCoverage.ts'
import { commandLines, commandsDocument } from './commandsDocument.ts'
import { indicatorsDocument } from './indicatorsDocument.ts'
import { strategiesDocument } from './strategiesDocument.ts'

const pathOf = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** Every document by its path in the package. */
export async function documents(): Promise<ReadonlyMap<string, string>> {
  return new Map([
    ['docs/reference/api-coverage.md', await apiCoverageDocument()],
    ['docs/reference/commands.md', commandsDocument()],
    ['src/control/console/page/commandForms.ts', commandForms()],
    ['src/cli/call/commandLines.json', `${JSON.stringify(commandLines(), undefined, 2)}\n`],
    ['docs/reference/configuration.md', configurationDocument()],
    ['docs/reference/control-api.md', withPart('docs/reference/control-api.md', 'commands', commandBodies())],
    ['docs/reference/errors.md', withPart('docs/reference/errors.md', 'limits', limitDenials())],
    ['docs/reference/events.md', eventsDocument()],
    ['docs/reference/indicators.md', indicatorsDocument()],
    ['docs/reference/metrics.md', metricsDocument()],
    [
      'docs/reference/notifications.md',
      withPart('docs/reference/notifications.md', 'events', noticeEvents()),
    ],
    ['docs/reference/strategies.md', strategiesDocument()],
    ['docs/tasks.md', withPart('docs/tasks.md', 'kinds', taskKinds())],
    ['config/schema/settings.json', `${JSON.stringify(settingsSchema(), undefined, 2)}\n`],
    ['strategies/strategy.schema.json', `${JSON.stringify(strategyFileSchema(), undefined, 2)}\n`],
  ])
}

function configurationDocument(): string {
  const sections = new Map<string, NamedSetting[]>()
  for (const entry of settings) {
    const [section = ''] = entry.key.split('.')
    sections.set(section, [...(sections.get(section) ?? []), entry])
  }
  const tables = [...sections].map(([section, entries]) => {
    const rows = entries.map(
      (entry) =>
        `| \`${entry.key}\` | ${cell(entry.doc)} | ${cell(entry.reads.expected)} | ${defaultOf(entry)} | \`${variableOf(entry.key)}\` |`,
    )
    return [
      `## ${section}`,
      '',
      '| setting | meaning | expected | default | variable |',
      '|---|---|---|---|---|',
      ...rows,
    ].join('\n')
  })
  return `${[
    '# Configuration',
    '',
    '<!-- Printed from src/config/sections/ by `npm run docs`. Do not edit. -->',
    '',
    'A value comes from the first of these that gives it:',
    '',
    '1. a flag: `--risk.maxOrderSizeUsd 500` or `--risk.maxOrderSizeUsd=500`; a list repeats its flag',
    '2. an environment variable: `PERPD__RISK__MAX_ORDER_SIZE_USD=500`; a list is separated by commas',
    '3. a file: `--config FILE` (or `PERPD__CONFIG`), else `./perpd.json` when it exists; JSON, nested by section; `//` to the end of a line and `/* */` are comments',
    '4. the profile: `--profile NAME` reads `config/NAME.json`, of the working directory first, else of the package',
    '5. the default',
    '',
    'Short flags: `--port` is `--control.port`; `perpd run --json` is `--log.format json`.',
    '',
    'An unknown name anywhere, a value that does not fit, and a file that another user of the machine owns, or may write or swap',
    '([hardening.md](../hardening.md)), are errors (exit code 4);',
    'all of them are reported at once. `perpd config` shows what is in force and where each value came from; `perpd check`',
    'checks strategy files too. `{profile}` in a path stands for the name of the profile. Relative paths start at the',
    'working directory. Amounts of money are decimal numbers or, to be exact beyond 15 digits, decimal text.',
    '',
    'An editor completes and checks such a file by its JSON Schema: `"$schema": "./config/schema/settings.json"` at its top',
    '(in an installed package `./node_modules/perpd/config/schema/settings.json`).',
    '',
    'The limits under `risk` hold for the whole account; a strategy file may only tighten them.',
    '',
    `**Several accounts** ([scale.md](../scale.md#several-accounts-in-one-process)): \`accounts\` of a file has ${accountNameText}, and below each name the sections ${accountSections.map((section) => `\`${section}\``).join(', ')}`,
    `with its own values over those of all; as a flag \`--accounts.NAME.section.key\`. One process has at most ${mostAccounts}. An account's files have its name: \`journal.db\` of alpha is \`journal.alpha.db\`.`,
    '',
    tables.join('\n\n'),
  ].join('\n')}\n`
}

/** A document of the package with its part of that name printed anew; the rest is written by hand. */
function withPart(path: string, part: string, table: string): string {
  const whole = readFileSync(pathOf(path), 'utf8')
  const [start, end] = [`<!-- ${part} -->`, `<!-- end of ${part} -->`]
  const [before, after] = [whole.indexOf(start), whole.indexOf(end)]
  if (before < 0 || after < before) throw new RangeError(`${path} has no part between ${start} and ${end}`)
  return `${whole.slice(0, before + start.length)}\n\n${table}\n\n${whole.slice(after)}`
}

/** The refusals of limits; limits that share a code share its row. */
function limitDenials(): string {
  const meant = limitRows.filter(([, { denies }]) => denies.meaning !== undefined)
  const rows = meant.map(([, { denies }]) => {
    const limits = limitRows
      .filter(([, row]) => row.denies.code === denies.code)
      .map(([name]) => `\`${limitSetting(name)}\``)
    return `| \`${denies.code}\` | ${limits.join(', ')} | ${cell(denies.meaning ?? '')} |`
  })
  const ofDesk = deskLimitRows.map(
    ([
      name,
      {
        ofDesk: { code, meaning },
      },
    ]) => `| \`${code}\` | \`${deskSetting(name)}\` | ${cell(meaning)} |`,
  )
  return ['| code | limit | meaning, and what to do |', '|---|---|---|', ...rows, ...ofDesk].join('\n')
}

/** The forms of the console, as a module of its page. */
function commandForms(): string {
  const all = everyRow.flatMap(({ route, forms = {} }) =>
    Object.entries(forms).map(
      ([name, form]) =>
        `  ${name}: ${JSON.stringify({ route, ...form }).replaceAll(/(?<!\\)"(\w+)":/g, '$1:')},`,
    ),
  )
  return [
    '/** Forms of commands. Printed from src/operator/commands/ by `npm run docs`. Do not edit. */',
    "import type { CommandForm } from '../../../operator/commandRow.ts'",
    '',
    '// biome-ignore format: printed',
    'const forms = {',
    ...all,
    '} as const',
    '',
    '/** Every form, by its name. */',
    'export const commandForms: Readonly<Record<keyof typeof forms, CommandForm & { readonly route: string }>> =\n  forms',
    '',
  ].join('\n')
}

/** Routes of commands with their bodies. */
function commandBodies(): string {
  const rows = everyRow.map(({ route, body, preview, api: { example, note } }) => {
    const shape = body instanceof z.ZodObject ? Object.keys(body.shape) : []
    const further = [
      ...shape.filter((field) => !(field in example)),
      ...(preview === undefined ? [] : ['preview']),
    ]
    const more = [further.map((field) => `\`${field}\``).join(', '), note ?? ''].filter((each) => each !== '')
    const shown = JSON.stringify({ ...example, by: 'ann' })
    return `| \`POST ${route}\` | \`${shown}\`${more.length === 0 ? '' : `; ${cell(more.join('; '))}`} |`
  })
  return ['| route | body |', '|---|---|', ...rows].join('\n')
}

/** The kinds of tasks, with the flags that each needs. */
function taskKinds(): string {
  const rows = taskRows.map(({ name, does, doneWhen, fields, works, oneOf = [] }) => {
    const needed = Object.entries(fields).filter(([, { given }]) => given === 'needed')
    const flags = needed.map(([field, of]) =>
      of.flagValue === undefined ? field : `\`--${flagOf(field, of)}\``,
    )
    const either = Object.entries(fields).filter(([field]) => oneOf.includes(field))
    if (either.length > 0) flags.push(either.map(([field, of]) => `\`--${flagOf(field, of)}\``).join(' or '))
    const leverage = works === 'either' ? '`--leverage` or `--reduce`' : '`--leverage`'
    return `| \`${name}\` | ${cell(does)} | ${[...flags, leverage].join(', ')} | ${cell(doneWhen)} |`
  })
  return ['| kind | does | needs | is `done` |', '|---|---|---|---|', ...rows].join('\n')
}

/** The events that sinks are told. */
function noticeEvents(): string {
  const rows = Object.entries(noticeKinds).map(([kind, when]) => `| \`${kind}\` | ${cell(when)} |`)
  return ['| event | when |', '|---|---|', ...rows].join('\n')
}

function defaultOf({ default: value }: NamedSetting): string {
  if (Array.isArray(value)) return value.length === 0 ? 'none' : `\`${value.join(', ')}\``
  return value === '' ? 'none' : `\`${String(value)}\``
}

function metricsDocument(): string {
  const metrics = createMetrics({ version: '', profile: '', chain: '' })
  const rows = metrics
    .describe()
    .map(
      ({ name, type, help, labels }) =>
        `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)} |`,
    )
  return `${[
    '# Metrics',
    '',
    '<!-- Printed from src/monitor/events and src/monitor/metrics by `npm run docs`. Do not edit. -->',
    '',
    'Served at `/metrics` of the control port in the Prometheus text format. Units are in the names and in the meanings: seconds, bytes and US dollars.',
    'Labels are bounded; none ever holds an order id. States and ages are read when they are scraped.',
    '',
    '| series | type | labels | meaning |',
    '|---|---|---|---|',
    ...rows,
    '',
    "Besides these, Node's own series under the names that dashboards know (`process_*`, `nodejs_*`): memory, CPU, event loop lag, garbage collection.",
    '',
    'Values of `state` in `perpd_orders` and of `outcome` in `perpd_orders_total` are the labels that `perpd orders` shows:',
    'open orders are `planned`, `pending`, `resting` or `unknown`; ended ones `executed`, `cancelled`, `reverted`, `failed`,',
    '`expired` or `refused`.',
  ].join('\n')}\n`
}

/** Every line of the log. */
function eventsDocument(): string {
  const common = Object.entries(commonFieldNames).map(([name, what]) => `| \`${name}\` | ${cell(what)} |`)
  const names = (fields: readonly string[]) => [...new Set(fields)].map((field) => `\`${field}\``).join(', ')
  const rows = Object.entries(eventRegister).map(
    ([name, { levels, fields, meaning }]) =>
      `| \`${name}\` | ${levels.join(', ')} | ${names(fields)} | ${cell(meaning)} |`,
  )
  return `${[
    '# Events',
    '',
    '<!-- Printed from src/monitor/events by `npm run docs`. Do not edit. -->',
    '',
    'Every line of the log is of one of these events. Names and fields are stable: a rule may count on them. The sentence is for people.',
    'The part of a name before its first dot is its component. A cause that repeats is reported the first time, the tenth time and once an',
    'hour; the lines between have level `debug`. Its end is reported too: at once, and if the cause comes back within the hour, only after it',
    'stayed away for 1 minute, then 2, 4, 8 and 15. Turns that fail because no host answers are one cause for all strategies.',
    '',
    'In a JSON line any event may have:',
    '',
    '| field | meaning |',
    '|---|---|',
    ...common,
    '',
    'A line has at most 8 KiB. A longer text or list is cut and says how long it was.',
    '',
    'A field is there only when the event has it. Beside each exact amount (`_usd`, an integer with 30 decimals) stands the same in',
    'decimal dollars (`_dollars`).',
    '',
    '| event | level | own fields | when |',
    '|---|---|---|---|',
    ...rows,
  ].join('\n')}\n`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

if (import.meta.main) {
  for (const [path, text] of await documents()) {
    mkdirSync(dirname(pathOf(path)), { recursive: true })
    writeFileSync(pathOf(path), text)
  }
}
