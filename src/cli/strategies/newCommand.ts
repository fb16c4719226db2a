/** `perpd strategies new`: a commented strategy file to begin with. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, extname, join, relative, resolve } from 'node:path'
import { Decimal } from 'decimal.js'
import { parse } from 'yaml'
import { CommandError, exitCodes } from '../../config/exit.ts'
import { didYouMean } from '../../config/suggest.ts'
import { isSwapOnly } from '../../protocol/catalogue.ts'
import type { Chain } from '../../protocol/chains/index.ts'
import { marketsNamed } from '../../protocol/marketName.ts'
import { fieldsOf, wordsOf } from '../../strategy/files/fieldWords.ts'
import type { Strategy } from '../../strategy/strategy.ts'
import type { Call } from '../call/command.ts'
import { blockLines, type Line, usualExit } from './blockLines.ts'
import { builtInKind, type Example, exampleOf, shippedSchema, typedPath } from './shippedExamples.ts'

const usualMarket = 'ETH/USD [WETH-USDC]'

/**
 * Writes the file; one that is there is replaced with `--force` alone.
 *
 * @throws CommandError for a kind or a market that is none, a name that no instance may have, and a file that is there
 */
export async function writeNew({ positionals, flags, loaded, cwd, out }: Call): Promise<number> {
  const [name = ''] = positionals
  const isOwn = /^(?:\.{1,2}\/|\/)/.test(name)
  const kind = isOwn ? undefined : builtInKind(name)
  const asked = flags.get('market')
  const market =
    typeof asked === 'string'
      ? marketSymbol(loaded.config.venue.chain, asked)
      : kind?.opensPositions === false
        ? undefined
        : usualMarket
  const given = flags.get('out')
  const path = resolve(cwd, typeof given === 'string' ? given : join('strategies', fileName(name, market)))
  const extension = extname(path)
  if (!['.yaml', '.yml'].includes(extension) || !/^[a-z0-9][a-z0-9-]*$/.test(basename(path, extension))) {
    throw new CommandError(
      `${path} cannot be a strategy file: its name names the instance and needs small letters, digits and dashes, as eth-trend.yaml.`,
      exitCodes.error,
    )
  }
  const folder = dirname(path)
  const text = [
    `# yaml-language-server: $schema=${schemaFrom(folder)}`,
    ...(kind === undefined
      ? ownLines(ownKind(cwd, name, folder), market)
      : kindLines(kind, market, offByDefault)),
    '',
  ].join('\n')
  mkdirSync(folder, { recursive: true })
  try {
    writeFileSync(path, text, { flag: flags.has('force') ? 'w' : 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    throw new CommandError(
      `${typedPath(path, cwd)} exists already. Choose another name with --out FILE, or replace it with --force.`,
      exitCodes.error,
    )
  }
  const typed = typedPath(path, cwd)
  out(`wrote ${typed}`)
  out(`Next: check its values, perpd check ${typed}, and perpd strategies test ${typed}`)
  return exitCodes.ok
}

/** `eth-trend.yaml`, of the kind's or its file's name. */
export function fileName(kind: string, market: string | undefined): string {
  const [index = ''] = (market ?? '').split('/')
  const words = [index, basename(kind, extname(kind))].filter((word) => word !== '')
  return `${words
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]/g, '-')}.yaml`
}

/**
 * The whole symbol of a market of the chain that perpd ships.
 *
 * @throws CommandError, code 2, when there is none of that name, or several
 */
export function marketSymbol(chain: Chain, name: string): string {
  const markets = [...chain.facts.markets.values()].filter((market) => !isSwapOnly(market))
  const found = marketsNamed(markets, name)
  const [only] = found
  if (only !== undefined && found.length === 1) return only.symbol
  const symbols = markets.map(({ symbol }) => symbol)
  throw new CommandError(
    only === undefined
      ? `${name} is not a market of ${chain.name} that ships with perpd.${didYouMean(name, symbols)} perpd markets lists them.`
      : `${name} means ${found.length} markets: ${found.map(({ symbol }) => symbol).join(', ')}. Give the whole symbol.`,
    exitCodes.notFound,
  )
}

/** The path of the schema from a folder: the one beside its files or above them, else the shipped one. */
function schemaFrom(folder: string): string {
  const near = ['./strategy.schema.json', '../strategy.schema.json'].find((path) =>
    existsSync(join(folder, path)),
  )
  const path = near ?? relative(folder, shippedSchema)
  return path.startsWith('.') ? path : `./${path}`
}

/** A kind's file as a YAML file names it: a path that begins with `./` or `../`, from its own folder. */
function ownKind(cwd: string, name: string, folder: string): string {
  const path = relative(folder, resolve(cwd, name))
  return path.startsWith('.') ? path : `./${path}`
}

/** Starting values of a new file: whether it runs, and the size of one order, US dollars as decimal text. */
export interface Beginning {
  readonly isEnabled: boolean
  readonly sizeUsd: string
}

const offByDefault: Beginning = { isEnabled: false, sizeUsd: '200' }

const headLines = (
  kind: string,
  market: string | undefined,
  cadenceSeconds: number,
  isEnabled: boolean,
): readonly Line[] => [
  [`kind: ${kind}`, 'what decides; it is one instance, named as this file'],
  isEnabled
    ? ['enabled: true', 'false: the file is checked but not run']
    : ['enabled: false', 'set to true to run it'],
  ...(market === undefined
    ? ([[`# markets: ["${usualMarket}"]`, 'only these; every market with a position when left out']] as const)
    : ([
        [`market: "${market}"`, 'full symbol: index token, then [long token-short token] of the pool'],
      ] as const)),
  [`cadenceSeconds: ${cadenceSeconds}`, 'seconds between two looks at the market'],
]

/** Positions may grow to three orders. */
const sizeLines = (sizeUsd: string): readonly Line[] => [
  ['', ''],
  ['size:', ''],
  [`  usd: ${sizeUsd}`, 'size of one order, US dollars; capacity and limits may cut it'],
  ['  leverage: 2', 'times; the collateral paid in is usd / leverage'],
  ['  collateral: short', 'token of the pool that pays and backs the position: short or long'],
  ['', ''],
  ['limits:', "this instance's own; the account's tighten them further"],
  [
    `  maxPositionSizeUsd: ${new Decimal(sizeUsd).times(3).toFixed()}`,
    'US dollars on one side of the market, open orders included',
  ],
  ['  maxOrdersPerHour: 20', 'orders in any hour; closing may use twice as many'],
  ['  # maxDailyLossUsd: 50', 'US dollars: no increases once it has lost this much since 00:00 UTC'],
]

/** Makes the lines of a built-in kind's file: its defaults, and its example's value for a field without one. */
export function kindLines(
  kind: Strategy,
  market: string | undefined,
  { isEnabled, sizeUsd }: Beginning,
): readonly string[] {
  const example = exampleOf(kind.kind)
  const params = (fieldsOf(kind.params) ?? []).map(([name, field]) => paramLine(name, field, example))
  return [
    `# ${kind.description}${isEnabled ? '' : ' Off until you turn it on.'}`,
    '',
    ...aligned([
      ...headLines(kind.kind, market, example?.cadenceSeconds ?? 10, isEnabled),
      ...(kind.opensPositions ? sizeLines(sizeUsd) : []),
      ...blockLines(example?.exit, example?.protect),
      ['', ''],
      ['params:', `of the kind ${kind.kind}: perpd strategies describe ${kind.kind}`],
      ...params,
    ]),
  ]
}

function paramLine(name: string, field: Parameters<typeof wordsOf>[0], example: Example | undefined): Line {
  const { meaning, expected, initial } = wordsOf(field)
  const value = initial ?? example?.params[name]
  const comment = [meaning, expected].filter((text) => text !== undefined).join('; ')
  return value === undefined ? [`  # ${name}:`, comment] : [`  ${name}: ${yamlText(value)}`, comment]
}

/** A value as YAML; plain words need no quotes. */
function yamlText(value: unknown): string {
  return typeof value === 'string' && /^\w+$/.test(value) && parse(value) === value
    ? value
    : JSON.stringify(value)
}

function ownLines(kind: string, market: string | undefined): readonly string[] {
  return [
    '# An instance of a kind of your own. Off until you turn it on.',
    '',
    ...aligned([
      ...headLines(kind, market, 10, offByDefault.isEnabled),
      ...sizeLines(offByDefault.sizeUsd),
      ...blockLines(usualExit, undefined),
      ['', ''],
      ['params: {}', 'settings of the kind, as its params name them'],
    ]),
  ]
}

/** Lines with their comments below each other. */
function aligned(lines: readonly Line[]): readonly string[] {
  const column = Math.max(...lines.map(([text]) => text.length)) + 2
  return lines.map(([text, comment]) => (comment === '' ? text : `${text.padEnd(column)}# ${comment}`))
}
