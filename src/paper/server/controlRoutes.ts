/** The control routes, which are no part of the wire: faults, accounts, reorganisations, and the venue's own record. */
import type { Hono } from 'hono'
import { isObject } from '../../base/isObject.ts'
import { stringify } from '../http/http.ts'
import type { ResponseCache } from '../http/responseCache.ts'
import type { WireFaults } from '../http/wireFaults.ts'
import { holdFailingValues } from '../pools/marketValues.ts'
import { settledRecord } from '../state/submitRecord.ts'
import { changeAccount } from '../state/wallets.ts'
import { advanceVenue } from '../transactions/advance.ts'
import { applyFaults, showsAtOnce } from '../venue/venueFaults.ts'
import type { VenueParts } from '../venue/venueParts.ts'
import { givenTo, refuseControl } from './controlGuard.ts'
import { mountFaultRoutes } from './faultRoutes.ts'
import { reorganiseByControl } from './reorgControl.ts'

/**
 * Puts the check before every control route that is mounted after it, and takes from their answers what would let a page read
 * them.
 */
export function guardControl(app: Hono, answer: (status: number, text: string) => Response): void {
  app.use('/__control/*', async (context, next) => {
    const refusal = refuseControl(context.req.raw)
    if (refusal === undefined) await next()
    else context.res = answer(refusal.status, stringify({ message: refusal.message }))
    const { headers } = context.res
    headers.delete('Access-Control-Allow-Origin')
    headers.delete('Access-Control-Expose-Headers')
    headers.set('Cross-Origin-Resource-Policy', 'same-origin')
    headers.set('X-Content-Type-Options', 'nosniff')
    headers.set('Cache-Control', 'no-store')
  })
  app.options('/__control/*', () =>
    answer(405, stringify({ message: 'The control routes refuse preflight requests' })),
  )
}

/** Mounts `/__control/faults`, `/accounts`, `/reorg`, `/record`, and the wire faults. */
export function mountControl(
  app: Hono,
  parts: {
    readonly state: VenueParts
    readonly wire: WireFaults
    readonly kept: ResponseCache
    readonly answer: (status: number, text: string) => Response
  },
): void {
  const { state, wire, kept, answer } = parts
  const { venueState, faults } = state
  const told = (result: unknown): Response =>
    typeof result === 'string' ? answer(400, stringify({ message: result })) : answer(200, stringify(result))

  app.get('/__control/faults', () => answer(200, stringify(faults)))
  app.post('/__control/faults', async (context) => {
    const change = await givenTo(context)
    const wrong = applyFaults(faults, change)
    if (wrong !== undefined) return told(wrong)
    if (isObject(change)) wire.note(change)
    holdFailingValues(venueState, venueState.clock.now())
    if (showsAtOnce(change)) kept.forget()
    return answer(200, stringify(faults))
  })
  mountFaultRoutes(app, wire, answer)
  app.post('/__control/accounts', async (context) => told(changeAccount(venueState, await givenTo(context))))
  app.post('/__control/reorg', async (context) =>
    told(reorganiseByControl(venueState, await givenTo(context))),
  )
  app.get('/__control/record', () => {
    advanceVenue(venueState)
    return answer(200, stringify(settledRecord(venueState, state.record)))
  })
}
