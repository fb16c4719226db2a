/** Lists what in a status needs a person, and the age of the figures it shows. Pure. */
import type { LimitLine, Status } from './pageWire.ts'
import { absOf, amountOf, usdText } from './shownAmount.ts'
import { type Halt, isOfOneStrategy, mayBeLifted } from './shownHalts.ts'
import { killLeftText } from './shownKill.ts'
import { spanText, utcText, zonedText } from './shownTimes.ts'
import { texts } from './texts.ts'

/** One thing: how much it matters, what it is, and what is known of it. */
export interface Matter {
  readonly key: string
  readonly tone: 'down' | 'warn'
  readonly title: string
  readonly text: string
  readonly hint?: string
  readonly discrepancy?: Status['discrepancies'][number]
  /** Scope of a halt on one strategy alone that an operator may lift. */
  readonly liftScope?: string
  /** The side of a position that lacks a stop. */
  readonly bareSide?: NonNullable<Status['withoutStop']>[number]
}

type Incident = Status['incidents'][number]

const { attention: words } = texts

function haltMatter(halt: Halt): Matter {
  const { scope, cause, state, reason, by, sinceMs, releasedBy } = halt
  return {
    key: `halt ${scope} ${cause}`,
    tone: state === 'halted' ? 'down' : 'warn',
    title: words.halt(texts.causes[cause], texts.trading[state], scope),
    text: reason,
    hint: `${words.by(by)}, ${texts.since(zonedText(sinceMs))}; ${words.releasedBy[releasedBy]}`,
    ...(isOfOneStrategy(halt) && mayBeLifted(halt) ? { liftScope: scope } : {}),
  }
}

/** Subjects of incidents that the page shows with the figures and buttons of the status: halts, the kill, discrepancies, missing stops. */
const shownByStatus = /^(?:trading:|kill$|discrepancy:|stop:)/

/** `hosts-down` as `Hosts down`. */
function kindTitle(kind: string): string {
  const title = kind.replaceAll('-', ' ')
  return `${title.slice(0, 1).toUpperCase()}${title.slice(1)}`
}

function incidentMatter({ kind, subject, sinceMs, level, reason, action }: Incident): Matter {
  const since = texts.since(zonedText(sinceMs))
  return {
    key: `incident ${subject}`,
    tone: level === 'error' ? 'down' : 'warn',
    title: kindTitle(kind),
    text: reason,
    hint: action === undefined ? since : `${since}. ${action}`,
  }
}

/** Everything of a status that needs attention, the gravest first. */
export function mattersOf(status: Status): readonly Matter[] {
  const sentences = (title: string, tone: Matter['tone'], list: readonly string[]): readonly Matter[] =>
    list.map((text) => ({ key: `${title} ${text}`, tone, title, text }))
  return [
    ...killMatter(status),
    // While it runs and is not ready, what it should do for positions at risk may not be done.
    ...sentences(words.notReady, status.state === 'running' ? 'down' : 'warn', status.notReady),
    ...status.halts.map(haltMatter),
    ...status.discrepancies.map(
      (found): Matter => ({
        key: found.discrepancy.discrepancyId,
        tone: 'warn',
        title: `${words.discrepancy}: ${found.discrepancy.kind}`,
        text: found.discrepancy.statement,
        hint: texts.since(zonedText(found.raisedAtMs)),
        discrepancy: found,
      }),
    ),
    ...status.incidents.filter(({ subject }) => !shownByStatus.test(subject)).map(incidentMatter),
    ...status.openIntents.flatMap(({ intentId, presumedDeadForSeconds }): readonly Matter[] =>
      presumedDeadForSeconds === null
        ? []
        : [
            {
              key: intentId,
              tone: 'down',
              title: `${words.unresolved} ${intentId.slice(0, 8)}`,
              text: texts.orders.presumedDead(spanText(presumedDeadForSeconds * 1_000)),
            },
          ],
    ),
    ...(status.withoutStop ?? []).map((bareSide): Matter => {
      const { marketToken, direction, collateralToken, isStopBehindLiquidation, sinceMs, uncoveredUsd } =
        bareSide
      return {
        bareSide,
        key: `no stop ${marketToken} ${direction} ${collateralToken}`,
        tone: 'warn',
        title: words.noStop,
        text: noStopWords(status, isStopBehindLiquidation === true)(
          `${usdText(uncoveredUsd)} of ${direction}`,
          status.symbols[marketToken.toLowerCase()] ?? marketToken,
          spanText(Math.max(0, status.nowMs - sinceMs)),
        ),
      }
    }),
    ...status.strategies.flatMap(failingMatter),
    ...sentences(words.hidden, 'warn', status.hidden),
    ...sentences(words.unlisted, 'warn', status.unlistedFills),
    ...sentences(words.closed, 'warn', status.closedFills),
    ...status.unwinds
      .filter(({ endedAtMs }) => endedAtMs === undefined)
      .map(
        ({ intentId, by, reason, problem }): Matter => ({
          key: `unwind ${intentId}`,
          tone: 'warn',
          title: `${words.unwinding}: ${intentId.slice(0, 8)}`,
          text: `${reason} (${by})${problem === undefined ? '' : `; ${problem}`}`,
        }),
      ),
    ...status.windDowns.map(
      ({ strategy, by, problem }): Matter => ({
        key: `wind down ${strategy}`,
        tone: 'warn',
        title: `${words.windingDown}: ${strategy}`,
        text: problem ?? words.by(by),
      }),
    ),
  ]
}

/** Says what would protect a position without a stop; while all is halted nothing places one. */
function noStopWords({ tradingState }: Status, isBehind: boolean) {
  if (isBehind) return words.stopBehindText
  return tradingState === 'halted' ? words.noStopHaltedText : words.noStopText
}

/** A strategy that fails. */
function failingMatter({
  name,
  failures,
  failingSinceMs,
  lastError = '',
}: Status['strategies'][number]): readonly Matter[] {
  if (failures === 0) return []
  return [
    {
      key: `failing ${name}`,
      tone: 'warn',
      title: words.failing(name, failures),
      text: lastError,
      ...(failingSinceMs === undefined ? {} : { hint: texts.since(zonedText(failingSinceMs)) }),
    },
  ]
}

function killMatter(status: Status): readonly Matter[] {
  const { kill } = status
  if (kill === undefined || kill.endedAtMs !== undefined) return []
  const { problem, waits, by, sinceMs } = kill
  const told = killLeftText(kill, status)
  return [
    {
      key: 'kill',
      tone: 'down',
      title: words.kill,
      text: [words.killing(by, told), problem, waits?.until].filter((text) => text !== undefined).join('; '),
      hint: texts.since(zonedText(sinceMs)),
    },
  ]
}

/** Oldest prices that an increase may stand on where the limits were not read yet, ms: what `risk.maxDataAgeMs` is when nobody sets it. */
const usualMs = 15_000
/** The worth is read every few seconds: a figure older than this was not read again, ms. */
const equityMs = 20_000

/** Returns the age of the positions and their marks, ms, and whether it exceeds the limit for an increase. Undefined before the first reading. */
export function markAge(
  { feedAgesMs, nowMs: toldAtMs }: Status,
  limits: readonly LimitLine[] | undefined,
  nowMs: number,
): { readonly ageMs: number; readonly isOld: boolean } | undefined {
  const { positions } = feedAgesMs
  if (positions === undefined) return undefined
  const own = limits?.find(({ scope, limit }) => scope === 'account' && limit === 'maxDataAgeMs')
  const ageMs = positions + Math.max(0, nowMs - toldAtMs)
  return { ageMs, isOld: ageMs > Number(own?.value ?? usualMs) }
}

/** Returns the text below the equity: that it settles, its age where that matters, or `usual`. */
export function equityHint(equity: Status['equity'], nowMs: number, usual: string): string {
  const { headline } = texts
  if (equity === undefined) return usual
  if (equity.isEquitySettling) return headline.settling
  if (equity.equityAtMs === undefined) return usual
  const ageMs = nowMs - equity.equityAtMs
  return ageMs < equityMs ? usual : headline.oldEquity(spanText(ageMs))
}

/** A first reading this much after the day began is said to be one, ms. */
const firstReadingMs = 60_000

/** Since when the day's result is counted, and what is none of it. Before a reading of today the figure is one of the day before. */
export function dayHint(equity: Status['equity'], nowMs: number): string {
  if (equity === undefined) return ''
  const { dayStartMs, dayFirstAtMs = dayStartMs, dayTransfersUsd = '0' } = equity
  const { headline } = texts
  const moment = utcText(dayFirstAtMs)
  const day = moment.slice(0, 10) === utcText(nowMs).slice(0, 10) ? '' : `${moment.slice(0, 10)} `
  const since = headline.daySince(
    `${day}${moment.slice(11, 16)}`,
    dayFirstAtMs - dayStartMs >= firstReadingMs,
  )
  const amount = amountOf(dayTransfersUsd)
  return amount === 0n ? since : `${since}, ${headline.dayTransfers(usdText(absOf(amount)), amount > 0n)}`
}
