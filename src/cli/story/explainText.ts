/** The story of an order as one screen of text, 80 columns wide. Pure. */
import type { IntentState } from '../../domain/order/intent.ts'
import type { StoredRecord } from '../../domain/records.ts'
import {
  type ExplainContext,
  type ExplainedOrder,
  type ExplainedPart,
  explainedOrder,
} from '../../monitor/explain/explainParts.ts'
import { wrapped } from '../output/screen.ts'

const TITLE_WIDTH = 8
const WHEN_WIDTH = 10

/** The text of `perpd explain`, without a line break at its end. */
export function explainText(
  state: IntentState,
  records: readonly StoredRecord[],
  context: ExplainContext,
): string {
  const { intentId, head, before, steps, after } = explainedOrder(state, records, context)
  const lines = [
    intentId,
    ...head.flatMap((text, at) => wrapped(at === 0 ? '' : '  ', text)),
    '  all times are UTC',
    '',
    ...before.flatMap(section),
    ...storySection(steps),
    ...after.flatMap(section),
  ]
  return lines.join('\n').trimEnd()
}

function section({ title, texts }: ExplainedPart): string[] {
  return texts.flatMap((text, at) => wrapped((at === 0 ? title : '').padEnd(TITLE_WIDTH), text))
}

function storySection(steps: ExplainedOrder['steps']): string[] {
  // `+1 min 0 s` is as wide as the column is by itself.
  const whenWidth = Math.max(WHEN_WIDTH, ...steps.map(({ when }) => when.length + 1))
  return steps.flatMap(({ when, texts }, at) =>
    texts.flatMap((text, line) => {
      const title = (at === 0 && line === 0 ? 'story' : '').padEnd(TITLE_WIDTH)
      return wrapped(`${title}${(line === 0 ? when : '').padEnd(whenWidth)}`, text)
    }),
  )
}
