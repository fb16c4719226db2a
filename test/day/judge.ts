/** What must hold of a day on which nothing but lag happened. */
import { accusingEnds, type Counts, contradictionCodes, type DayReport } from './report.ts'

/** Increases an hour that such a day must execute. */
const LEAST_INCREASES_AN_HOUR = 4
/** Longest that lag alone may keep an increase waiting that goes through in the end, ms. */
const LONGEST_DELAY_MS = 180_000

/** Refusals that lag may bring about: the increase waits for the next look. */
const waitingCodes: ReadonlySet<string> = new Set([
  'NO_HOST',
  'SLOT_BUSY',
  'REDUCE_IN_FLIGHT',
  'DATA_MISSING',
  'DATA_TOO_OLD',
  'CAPACITY_UNKNOWN',
  'CAPACITY_TOO_OLD',
  'ORACLE_PRICE_UNKNOWN',
])

/** Orders of a kind that ended as said, by how. */
export function endsOf({ stories }: DayReport, kind?: string): Counts {
  const counts: Record<string, number> = {}
  for (const { intent, closing } of stories) {
    if (kind !== undefined && intent.kind !== kind) continue
    const name = closing?.code ?? 'open'
    counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

/** Increases whose own order was executed; those whose exits still rest have not ended. */
export function increasesFilled({ stories }: DayReport): number {
  return stories.filter(
    ({ intent, attempts }) =>
      intent.kind === 'increase' &&
      attempts.some(({ children }) =>
        children.some(({ role = 'main', phase }) => role === 'main' && phase === 'EXECUTED'),
      ),
  ).length
}

/** Exits that came with an increase, or stood alone, and were hit. */
export function exitsHit({ stories }: DayReport): number {
  const children = stories.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.children))
  return children.filter(
    ({ role, phase }) => (role === 'take-profit' || role === 'stop-loss') && phase === 'EXECUTED',
  ).length
}

/** The longest wait of an increase that only codes of waiting caused. */
export function longestDelayMs({ delays }: DayReport): number {
  const waits = delays.filter(({ codes }) => codes.every((code) => waitingCodes.has(code)))
  return Math.max(0, ...waits.map(({ forMs }) => forMs))
}

/** What is wrong with a day of lag; nothing when all held. */
export function judge(report: DayReport): readonly string[] {
  const { deniedIncreases, hours, alarms, rests, status, books } = report
  const problems: string[] = []
  const executed = endsOf(report, 'increase').EXECUTED ?? 0
  if (executed < hours * LEAST_INCREASES_AN_HOUR) problems.push(`only ${executed} increases executed`)
  for (const code of contradictionCodes) {
    const times = deniedIncreases[code] ?? 0
    if (times > 0) problems.push(`${times} increases refused with ${code}`)
  }
  const ends = endsOf(report)
  for (const code of accusingEnds)
    if ((ends[code] ?? 0) > 0) problems.push(`${ends[code]} orders ended ${code}`)
  problems.push(...alarms)
  problems.push(...rests.filter((rest) => !isOfFailing(rest)))
  for (const { statement } of status.discrepancies.map(({ discrepancy }) => discrepancy))
    problems.push(`open: ${statement}`)
  problems.push(...status.hidden.map((text) => `hidden: ${text}`))
  problems.push(...status.contradictions.map(({ host }) => `contradicted by ${host}`))
  problems.push(
    ...status.halts.filter(({ by }) => by !== 'day').map(({ cause, reason }) => `held: ${cause} ${reason}`),
  )
  if (longestDelayMs(report) > LONGEST_DELAY_MS)
    problems.push(`an increase waited ${longestDelayMs(report) / 1000} s for lag`)
  const same = (one: readonly string[], other: readonly string[], what: string): void => {
    if (one.join('\n') !== other.join('\n'))
      problems.push(`${what}: [${one.join('; ')}] and [${other.join('; ')}]`)
  }
  same(books.journal, books.venue, 'positions of journal and venue differ')
  same(books.shown, books.venue, 'positions of status and venue differ')
  same(books.restingByJournal, books.restingByVenue, 'resting orders of journal and venue differ')
  return problems
}

/** A host that does not answer rests for that; one that is not believed rests for something else. */
function isOfFailing(rest: string): boolean {
  return / could not be reached for /.test(rest)
}

const line = (counts: Counts): string =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([name, count]) => `${name} ${count}`)
    .join(', ') || 'none'

/** The day in some lines. */
export function textOf(report: DayReport): string {
  const { seed, hours, lane, requests, lateAnswers, refusedConnections, outages, rests, delays } = report
  const kinds = [...new Set(report.stories.map(({ intent }) => intent.kind))].sort()
  const longest = delays.toSorted((one, other) => other.forMs - one.forMs).slice(0, 5)
  return [
    `seed ${seed}: ${hours} h, ${lane}; ${requests} requests, ${lateAnswers} late lists, ${outages} outages, ${refusedConnections} refused connections`,
    ...kinds.map((kind) => `  ${kind.padEnd(15)}${line(endsOf(report, kind))}`),
    `  exits hit    ${exitsHit(report)}`,
    `  increases refused  ${line(report.deniedIncreases)}`,
    `  others refused     ${line(report.deniedOthers)}`,
    `  ticks failed       ${line(report.failedTicks)}`,
    `  rests              ${rests.length}`,
    ...rests.slice(0, 3).map((rest) => `    ${rest}`),
    `  longest delay by lag ${longestDelayMs(report) / 1000} s`,
    ...longest.map(
      ({ strategy, symbol, codes, fromMs, forMs, wentThrough }) =>
        `    ${forMs / 1000} s from ${Math.round(fromMs / 1000)} s: ${strategy} ${symbol} ${codes.join(', ')}${wentThrough ? '' : ', given up'}`,
    ),
    `  events       ${line(report.events)}`,
  ].join('\n')
}
