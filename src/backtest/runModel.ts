/** The assumptions of a run, as figures and as sentences: everything that history does not tell. */
import type { ImpactLevel, RunMode, RunModel, RunRates, RunRecorded, TradingTimes } from './runFiles.ts'
import { timesSentences } from './tradingTimes.ts'

/** The chosen figures of a model; `funding`: `simulated` when absent, and always `recorded` with recorded pools. */
export type ModelChoice = Omit<RunModel, 'funding' | 'sentences'> & { readonly funding?: RunModel['funding'] }

/** The shortest time from decision to execution that a run may assume, ms: nothing executes at once. */
export const LEAST_DELAY_MS = 1_000

/** Assumptions where nothing is chosen. */
export const usualModel: ModelChoice = {
  delayMs: { least: 2_000, most: 5_000 },
  path: 'stop first',
  impact: 'frozen',
  skewBps: 300,
  gasPriceGwei: '0',
}

const modeSentences: Readonly<Record<RunMode, string>> = {
  exact: 'Exact: the daemon takes every turn, with its client, verification, key, order machine and journal.',
  fast: 'Fast: the daemon takes the turns at which anything may be decided or executed, and stands still over the others; a kind is asked at each turn all the same. Fills are those of an exact run.',
}

/** The run that a model is of. */
export interface ModelledRun {
  readonly fromSeconds: number
  readonly inputs: readonly TradingTimes[]
  readonly recorded?: readonly RunRecorded[]
  readonly rates?: readonly RunRates[]
}

/** Puts a model into words. */
export function modelOf(
  choice: ModelChoice,
  turns: readonly { readonly name: string; readonly seconds: number }[],
  mode: RunMode,
  { fromSeconds, inputs, recorded = [], rates = [] }: ModelledRun,
): RunModel {
  const { delayMs, delaysMs, path, impact, skewBps, gasPriceGwei, gasPriceP90Gwei } = choice
  const seconds = (ms: number): string => String(ms / 1000)
  const funding = impact === 'recorded' ? 'recorded' : (choice.funding ?? 'simulated')
  return {
    ...choice,
    funding,
    sentences: [
      modeSentences[mode],
      `Turns: ${turns.map(({ name, seconds: each }) => `${name} every ${each} s, at the close of a candle`).join('; ')}.`,
      `From a signed order to its execution: ${seconds(delayMs.least)} to ${seconds(delayMs.most)} s, ${delaysMs === undefined ? 'evenly spread' : 'as a recorded session had it'}. Resting exits are checked every second.`,
      path === 'stop first'
        ? 'Inside a candle the price goes from open to the extreme that hurts the position at its beginning, then to the other one and close: if stop and target of a position lie in one candle, the stop fills. Without a position the nearer extreme comes first.'
        : 'Inside a candle the price goes from open to the nearer extreme, the farther one and close; if stop and target of a position lie in one candle, this order decides which one fills.',
      impactSentence(impact, skewBps),
      `${fundingSentence(funding, recorded, rates)} Own orders move no price.`,
      `Gas at ${gasPriceGwei === '0' ? "the chain's own walk around its usual price" : `${gasPriceGwei} gwei`}${gasPriceP90Gwei === undefined ? '' : `, and the result also at ${gasPriceP90Gwei} gwei`}; fees of relay and keeper follow it.`,
      'Assets without candles keep one price: stable coins a dollar, others, such as the gas coin, their recorded price.',
      ...timesSentences(inputs, fromSeconds, choice.ignoresListing),
      'A gap in the candles has no price, no turn and no execution; the next price is a jump.',
      'perpd reads the account once a turn. Requests take no time, and no host fails.',
    ],
  }
}

function impactSentence(impact: ImpactLevel, skewBps: number): string {
  if (impact === 'none') return 'Price impact is left out, so the figures are not a result.'
  const formulas = 'Price impact, capacity and fees by the formulas of the contracts, with'
  if (impact === 'recorded')
    return `${formulas} pools, open interest and settings as recorded, followed each minute; own orders come on top of them. Capacity is that of the pools alone, without JIT liquidity.`
  const heavier =
    skewBps === 0
      ? 'as many longs as shorts'
      : `${skewBps > 0 ? 'longs' : 'shorts'} heavier by ${Math.abs(skewBps) / 100} % of it`
  return `${formulas} pools and open interest of the shipped catalogue; nobody else trades, and the open interest begins with ${heavier}.`
}

function fundingSentence(
  funding: RunModel['funding'],
  recorded: readonly RunRecorded[],
  rates: readonly RunRates[],
): string {
  if (funding === 'recorded') return `Funding and borrowing at the recorded rates. ${gapsSentence(recorded)}`
  if (funding === 'history')
    return `Funding and borrowing at daily means of the venue's indexer, each from a day after its time on, so that none is seen before its day is over. Their unit is not documented; rates recorded at the same time tell that they are per ${rates[0]?.unit ?? 'second'}.`
  return 'Funding and borrowing follow those formulas and that open interest, not historical rates.'
}

function gapsSentence(recorded: readonly RunRecorded[]): string {
  const spans = recorded.flatMap(({ market, gaps }) => {
    if (gaps.length === 0) return []
    const minutes = gaps.reduce((sum, gap) => sum + (gap.toSeconds - gap.fromSeconds) / 60, 0)
    return [`${market} ${gaps.length} of together ${Math.round(minutes)} min`]
  })
  const logged = recorded.flatMap(({ market, source }) => (source === 'chain' ? [market] : []))
  const ofChain =
    logged.length === 0
      ? ''
      : ` ${logged.join(', ')}: by the events of the chain, with the catalogue's virtual inventory.`
  if (spans.length === 0)
    return `${logged.length < recorded.length ? 'The recording has no gap.' : ''}${ofChain}`.trim()
  return `Over gaps of the recording the last figures stand: ${spans.join('; ')}.${ofChain}`
}
