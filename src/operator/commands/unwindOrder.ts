/** Unwinds an order: what it opens is closed if it lands. */
import { z } from 'zod'
import { reason } from '../../base/bodyFields.ts'
import { namedBy, orderName } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { openOrder, orderNamed } from '../namedOrder.ts'
import { done, refusal } from '../operatorAnswer.ts'

const body = z.strictObject({ reason })

/** The command. `intentId`: whole, or the first characters of one. */
type UnwindCommand = CommandOf<'unwind', typeof body, 'intentId'>

/** Its row. */
export const unwindOrder: CommandRow<UnwindCommand> = {
  type: 'unwind',
  route: '/api/orders/:intentId/unwind',
  body,
  async run({ orderManager, unwinder }, { intentId, reason: why }, { by }) {
    const found = openOrder(orderManager, intentId)
    if ('ok' in found) return found
    const { intent } = found
    const denial = await unwinder.request(intent.intentId, { by, reason: why })
    if (denial !== undefined) return refusal(denial.code, denial.reason)
    return done(`${orderNamed(intent)} will be unwound: if it lands, perpd closes what it opens; by ${by}`)
  },
  api: { example: { reason: '...' } },
  cli: [
    {
      name: 'orders unwind',
      summary: 'Unwind an order: close what it opens if it lands; with or without the daemon.',
      details:
        'For a pending or unknown order, because a signed order cannot be recalled. perpd cancels its resting orders and closes\nwhat it opens; if it never lands, perpd does nothing. The journal records it with your name.',
      positional: orderName,
      flags: [namedBy, { name: 'reason', value: 'TEXT', doc: 'why; shown by perpd explain' }],
      examples: ['perpd orders unwind 7944b4ff --by ann --reason "not wanted any more"'],
    },
  ],
}
