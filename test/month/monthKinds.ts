/** The strategies of a simulated month: the shipped file of each built-in kind, turned on, and for keepers something to keep. */
import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type LoadedStrategy, loadStrategies } from '../../src/strategy/files/load.ts'
import { builtInKinds } from '../../src/strategy/kinds/kinds.ts'
import { shippedStrategies } from '../support/shippedFiles.ts'

/** Every built-in kind, by name. */
export const kindNames: readonly string[] = Object.keys(builtInKinds).sort()

/** The name of what trades beside a keeper. */
const COMPANION = 'companion'

/**
 * What a keeper keeps: a trend follower on ten times leverage whose own exit is far away, so that positions live for hours and come near
 * to their liquidation price. It is written as JSON, which is YAML.
 */
const companion = {
  kind: 'trend',
  size: { usd: 500, leverage: 10, collateral: 'short' },
  limits: { maxPositionSizeUsd: 500, maxLeverage: 12, maxOrdersPerHour: 30 },
  params: {
    period: '5m',
    fastCandles: 12,
    slowCandles: 48,
    entryStrength: 0.3,
    exitStrength: 1,
    stopAtr: 40,
    pyramid: 1,
  },
}

/** The first shipped file of the kind, and its text. Throws RangeError for a kind without one. */
function fileOf(kind: string): { readonly name: string; readonly text: string } {
  for (const path of shippedStrategies) {
    const text = readFileSync(path, 'utf8')
    if (new RegExp(`^kind: ${kind}(\\s|$)`, 'm').test(text)) return { name: basename(path), text }
  }
  throw new RangeError(`no shipped file is of the kind ${kind}`)
}

/** The strategies of a month: the one that is judged, first, and what it needs beside it. */
export interface MonthStrategies {
  readonly loaded: readonly LoadedStrategy[]
  /** Name of the instance that is judged. */
  readonly name: string
  /** Whether it keeps what others opened. */
  readonly isKeeper: boolean
}

/**
 * Writes the files of the kind into `folder` and loads them; `market` (full symbol) stands in for the file's own when it has one market.
 * Throws what is wrong with a file, and RangeError for a kind that has none.
 */
export async function monthStrategies(
  folder: string,
  kind: string,
  { cadenceSeconds, market }: { readonly cadenceSeconds: number; readonly market?: string },
): Promise<MonthStrategies> {
  const file = fileOf(kind)
  let text = file.text
    .replace(/^enabled: false/m, 'enabled: true')
    .replace(/^cadenceSeconds: \d+/m, `cadenceSeconds: ${cadenceSeconds}`)
  if (market !== undefined) text = text.replace(/^market: ".*"/m, `market: "${market}"`)
  const isKeeper = !/^size:/m.test(text)
  const path = join(folder, file.name)
  writeFileSync(path, text)
  const paths = [path]
  if (isKeeper) {
    const beside = join(folder, `${COMPANION}.yaml`)
    const symbol = market ?? 'ETH/USD [WETH-USDC]'
    writeFileSync(beside, JSON.stringify({ ...companion, market: symbol, cadenceSeconds }))
    paths.push(beside)
  }
  const { strategies, problems } = await loadStrategies(paths)
  const [problem] = problems
  if (problem !== undefined) throw problem
  const name = file.name.replace(/\.yaml$/, '')
  return { loaded: strategies, name, isKeeper }
}
