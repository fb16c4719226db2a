/** Events of what is done over time: orders to unwind, and tasks that make orders. */
import type { OrderEvent, UnwindOutcome } from '../../domain/orderEvent.ts'
import type { SeriesMaker } from '../seriesMaker.ts'
import { plain, shortId, termsOf } from '../text.ts'
import type { EventFamily } from './eventRow.ts'
import { orderFields } from './orderWords.ts'

const unwindOutcomes: readonly UnwindOutcome[] = ['nothing-landed', 'flat', 'given-up']

function series({ counter }: SeriesMaker) {
  const unwound = counter(
    'perpd_unwinds_total',
    'Finished unwinds, by outcome: nothing-landed, flat or given-up.',
    ['outcome'],
  )
  for (const outcome of unwindOutcomes) unwound.inc({ outcome }, 0)
  return { unwound }
}

/** Events of unwinds and tasks. */
export const taskFamily: EventFamily<
  Extract<OrderEvent, { type: `unwind.${string}` | `task.${string}` }>,
  ReturnType<typeof series>
> = {
  series,
  rows: {
    'unwind.requested': {
      levels: ['warn'],
      meaning: 'An order is unwound if it lands.',
      word: 'order',
      text: ({ intent, by, reason }) =>
        `${shortId(intent.intentId)} (${termsOf(intent)}) will be unwound: if it lands, perpd closes what it opens. ${by}: ${plain(reason)}`,
      fields: [...orderFields, 'by', 'reason'],
    },
    'unwind.waits': {
      levels: ['warn'],
      meaning: 'Cause that delays an unwind.',
      word: 'order',
      text: ({ intentId, reason }) => `${shortId(intentId)} cannot be unwound yet: ${plain(reason)}`,
      fields: ['intent_id', 'reason'],
    },
    'unwind.ended': {
      levels: ['info', 'error'],
      level: ({ outcome }) => (outcome === 'given-up' ? 'error' : 'info'),
      meaning: 'An order is unwound; at error, it was given up.',
      word: 'order',
      text: ({ intentId, by, outcome, statement }) =>
        `${shortId(intentId)} is unwound for ${by}: ${plain(statement)}${outcome === 'given-up' ? '. Check the position; perpd kill --close closes everything' : ''}`,
      fields: ['intent_id', 'by', 'outcome', 'statement'],
      moves: ({ unwound }, { outcome }) => unwound.inc({ outcome }),
      notice: ({ intentId, outcome }) => ({
        kind: 'unwind-ended',
        cause: `unwind:${intentId}`,
        ...(outcome === 'given-up' && {
          action: 'Check the position; perpd kill --close closes all positions.',
        }),
      }),
    },
    'task.started': {
      levels: ['info'],
      meaning: 'A task that makes orders over time began.',
      word: 'order',
      text: ({ taskId, by, asked }) => `task ${taskId} began for ${by}: ${plain(asked)}`,
      fields: [['task', ({ taskId }) => taskId], 'by', 'asked'],
    },
    'task.waits': {
      levels: ['warn'],
      meaning: 'Cause that delays the next order of a task.',
      word: 'order',
      text: ({ taskId, reason }) => `task ${taskId} waits: ${plain(reason)}`,
      fields: [['task', ({ taskId }) => taskId], 'reason'],
    },
    'task.ended': {
      levels: ['info', 'warn'],
      level: ({ outcome }) => (outcome === 'done' ? 'info' : 'warn'),
      meaning: 'A task ended; at warn, before it was done.',
      word: 'order',
      text: ({ taskId, by, outcome, statement }) =>
        `task ${taskId} of ${by} ended: ${outcome}; ${plain(statement)}`,
      fields: [['task', ({ taskId }) => taskId], 'by', 'outcome', 'statement'],
      notice: ({ taskId }) => ({ kind: 'task-ended', cause: `task:${taskId}` }),
    },
  },
}
