/** States how an order ended that no evidence closes. */
import { z } from 'zod'
import { namedBy, orderName } from '../commandLine.ts'
import type { CommandOf, CommandRow } from '../commandRow.ts'
import { openOrder, orderNamed } from '../namedOrder.ts'
import { done, refusal } from '../operatorAnswer.ts'

const body = z.strictObject({ as: z.enum(['dead', 'executed', 'cancelled']) })

/** The command. `intentId`: whole, or the first characters of one. */
type ResolveCommand = CommandOf<'resolve', typeof body, 'intentId'>

/** Its row. */
export const resolveOrder: CommandRow<ResolveCommand> = {
  type: 'resolve',
  route: '/api/orders/:intentId/resolve',
  body,
  async run({ orderManager }, { intentId, as }, { by }) {
    const found = openOrder(orderManager, intentId)
    if ('ok' in found) return found
    const { intent } = found
    if (!(await orderManager.resolve(intent.intentId, as, by))) {
      return refusal(
        'ORDER_NOT_SIGNED',
        `${intent.intentId} was never signed, so it closes without your help`,
      )
    }
    return done(`${orderNamed(intent)} is closed as ${as}, by ${by}`)
  },
  api: { example: { as: 'dead' } },
  cli: [
    {
      name: 'orders resolve',
      summary: 'State how an order ended that no evidence closes; with or without the daemon.',
      details:
        'For an order that stays unknown: check the venue first. Closing it frees its share of the limits; if it lands later, you hold both.\nThe journal records the statement and your name.',
      positional: orderName,
      flags: [{ name: 'as', value: 'OUTCOME', doc: 'dead, executed or cancelled' }, namedBy],
      examples: ['perpd orders resolve 7944b4ff --as dead --by ann'],
    },
  ],
}
