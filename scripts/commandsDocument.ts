/** docs/reference/commands.md, printed from the table of commands and the table of exit codes. */

import type { AccountMode } from '../src/cli/call/accountModes.ts'
import { flagText, usageOf } from '../src/cli/call/command.ts'
import type { RowLines } from '../src/cli/call/sentCommands.ts'
import { commandsWith } from '../src/cli/commandPlaces.ts'
import { exitMeanings } from '../src/config/exit.ts'
import type { CommandLine } from '../src/operator/commandLine.ts'
import type { CommandRow } from '../src/operator/commandRow.ts'
import { type CommandName, commandRows, fleetRows } from '../src/operator/commands/index.ts'

/** The lines of every row. */
export function commandLines(): readonly RowLines[] {
  const sent = Object.entries<CommandRow>(commandRows).map(([row, { cli }]) => ({
    row: row as CommandName,
    lines: cli,
  }))
  return [...sent, ...Object.values(fleetRows).map(({ cli }) => ({ lines: cli }))]
}

/** The commands with this choice among accounts. */
function named(mode: AccountMode): string {
  return commandsWith(commandLines())
    .filter(({ accounts }) => accounts === mode)
    .map(({ name }) => `\`${name}\``)
    .join(', ')
}

/** The page of all commands. */
export function commandsDocument(): string {
  return `${[
    '# Commands',
    '',
    '<!-- Printed from src/operator/commands/, src/cli/commandPlaces.ts and src/config/exit.ts by `npm run docs`. Do not edit. -->',
    '',
    'In a checkout `npm run -s perpd --` stands for `perpd`. Every command takes `--help`, and all but `init` take settings, as `--section.key value`',
    '([configuration.md](configuration.md)). For a misspelt command perpd names the nearest one.',
    '',
    'With several accounts ([scale.md](../scale.md#several-accounts-in-one-process)) `--account NAMES` names one or several (`alpha,beta`), or `all`. Without it',
    `these are for all accounts, each under its name, or by its name in JSON: ${named('each')}. These ask the first account: ${named('any')}.`,
    `\`trading\` shows all, and needs a name to change something; \`report\` needs one where it is given no folder. These need a name: ${named('named')}.`,
    'All others are about the process.',
    '',
    '## Exit codes',
    '',
    'Equal for every command; scripts may rely on them.',
    '',
    '| code | name | meaning |',
    '|---|---|---|',
    ...exitMeanings.map(({ code, name, meaning }) => `| ${code} | ${name} | ${meaning} |`),
    '',
    '`perpd run --configuration-exit CODE` replaces 4, for service managers.',
    '',
    ...commandsWith(commandLines()).flatMap(section),
  ]
    .join('\n')
    .trimEnd()}\n`
}

function section(command: CommandLine): readonly string[] {
  const { name, summary, details, flags, positional, more = [], examples } = command
  const named = [...(positional === undefined ? [] : [positional]), ...more]
  const rows = [
    ...named.map((each) => [`${each.name}`, each.doc]),
    ...flags.map((flag) => [flagText(flag), flag.doc]),
  ]
  return [
    `## perpd ${name}`,
    '',
    summary,
    '',
    '```',
    usageOf(command).replaceAll('\u00a0', ' '),
    '',
    ...examples,
    '```',
    '',
    ...(details === undefined ? [] : [details.replace(/([^.])\n/g, '$1 '), '']),
    ...(rows.length === 0
      ? []
      : [
          '| argument | meaning |',
          '|---|---|',
          ...rows.map(([what = '', doc = '']) => `| \`${cell(what)}\` | ${cell(doc)} |`),
          '',
        ]),
  ]
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
