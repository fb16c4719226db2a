/** Events of the decisions of strategies, from the wish to the order that it becomes. */
import type { DaemonEvent } from '../../domain/daemonEvent.ts'
import type { StrategyDecision } from '../../domain/order/decision.ts'
import type { OrderEvent } from '../../domain/orderEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { money, plain, shortId, termsOf } from '../text.ts'
import type { EventFamily, EventOf, Field } from './eventRow.ts'
import { decisionFields, decisionText, orderFields } from './orderWords.ts'

function series({ counter }: SeriesMaker) {
  return {
    decisions: counter('perpd_decisions_total', 'Decisions by result: admitted or denied.', [
      'strategy',
      'result',
    ]),
    denials: counter('perpd_denials_total', 'Decisions denied, by the code of the reason.', ['code']),
  }
}

type Series = ReturnType<typeof series>

type Denied = Extract<DaemonEvent | OrderEvent, { type: 'decision.denied' | 'decision.invalid' }>

function countDenial({ denials, decisions }: Series, { strategy, denial }: Denied): void {
  denials.inc({ code: denial.code })
  decisions.inc({ strategy, result: 'denied' })
}

const wishFields: readonly Field<
  Pick<EventOf<'decision.made'>, 'strategy' | 'decisionKey' | 'decision' | 'symbol'>
>[] = ['strategy', ['market', ({ symbol }) => symbol], 'decision_key', ...decisionFields]

/** Events of decisions. */
export const decisionFamily: EventFamily<
  Extract<DaemonEvent | OrderEvent, { type: `decision.${string}` }>,
  Series
> = {
  series,
  starts({ decisions }, { strategies }) {
    for (const strategy of strategies) {
      for (const result of ['admitted', 'denied']) decisions.inc({ strategy, result }, 0)
    }
  },
  rows: {
    'decision.made': {
      levels: ['info'],
      meaning: 'A strategy made a decision.',
      word: 'decision',
      text: ({ strategy, decision, symbol }) =>
        `${strategy} wants to ${decisionText(decision, symbol)}: ${plain(decision.reason)}`,
      fields: [
        ...wishFields,
        ['reason', ({ decision }) => decision.reason],
        ['facts', ({ decision }) => decision.facts],
      ],
    },
    'decision.denied': {
      levels: ['info'],
      meaning: 'A limit, a rule or a state denies a decision.',
      word: 'denied',
      text({ strategy, decision, symbol, denial: { reason, wanted, allowed } }) {
        const sizes = [
          ...(wanted === undefined ? [] : [`wanted ${wanted}`]),
          ...(allowed === undefined ? [] : [`allowed ${allowed}`]),
        ]
        return `${strategy} may not ${decisionText(decision, symbol)}: ${plain(reason)}${sizes.length === 0 ? '' : ` (${sizes.join(', ')})`}`
      },
      fields: [
        ...wishFields,
        ['code', ({ denial }) => denial.code],
        ['reason', ({ denial }) => denial.reason],
        ['wanted', ({ denial }) => denial.wanted],
        ['allowed', ({ denial }) => denial.allowed],
      ],
      isFromOutside: true,
      moves: countDenial,
    },
    'decision.admitted': {
      levels: ['info'],
      meaning: 'A decision became an order; it is durable.',
      word: 'order',
      text({ intent }) {
        const { sizeDeltaUsd, wantedUsd, cuts } = intent.sizing
        const cut =
          sizeDeltaUsd < wantedUsd
            ? `, cut from ${money(wantedUsd)} by ${cuts.map((each) => each.by).join(', ')}`
            : ''
        return `${shortId(intent.intentId)} admitted: ${termsOf(intent)}${cut}`
      },
      fields: [
        ...orderFields,
        ['decision_key', ({ intent }) => intent.decisionKey],
        ['wanted_usd', ({ intent }) => intent.sizing.wantedUsd],
      ],
      moves: ({ decisions }, { intent: { strategy } }) => decisions.inc({ strategy, result: 'admitted' }),
    },
    'decision.invalid': {
      levels: ['error'],
      meaning: 'A strategy returned an invalid decision; perpd ignored it.',
      word: 'denied',
      text: ({ strategy, denial, place }) =>
        `${strategy}: ${place === undefined ? '' : `${place}: `}${plain(denial.reason)} (${denial.code}); perpd ignored the decision`,
      fields: [
        'strategy',
        ['code', ({ denial }) => denial.code],
        ['reason', ({ denial }) => denial.reason],
        ...(['field', 'place'] as const),
      ],
      isFromOutside: true,
      repeats: ({ strategy, cause }) => [`invalid ${strategy}`, cause],
      moves: countDenial,
    },
  },
}

/** The same for all decisions that want the same of the same strategy, for lines that repeat. */
export function decisionTopic(strategy: string, symbol: string, decision: StrategyDecision): string {
  if (decision.kind === 'unwind') return `wish ${strategy} ${decision.intentId} unwind`
  if ('label' in decision) return `wish ${strategy} ${decision.label} ${decision.kind}`
  if (!('direction' in decision)) return `wish ${strategy} ${decision.kind}`
  return `wish ${strategy} ${symbol} ${decision.direction} ${decision.kind}`
}
